// Condition 2: the same message delivered twice, the same request sent twice.
#include "scenarios/conditions/conditions.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultFamily;

const sim::Time kDue = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;

// Three orders at one instant: who works on the first leaves the others to the other node.
Scenario orders() {
    Scenario scenario;
    scenario.condition = 2;
    scenario.handlers = {"consume-order"};
    scenario.trigger = Trigger::Messages;
    scenario.scheduler.mode = model::SchedulerMode::EveryNode;
    for (const char* order : {"order-1", "order-2", "order-3"}) {
        scenario.due.push_back(
            {.tenant = "acme", .job = "consume-order", .scheduled = kDue, .id = order});
    }
    scenario.start = kDue - 2s;
    scenario.parameters = Parameters{{{"visibility_ms", 10'000}}};
    scenario.checkers = {"once", "takeover", "completed-is-not-redone"};
    return scenario;
}

}  // namespace

Scenario message_twice() {
    Scenario scenario = orders();
    scenario.name = "message-twice";
    scenario.title = "the same message delivered twice, redelivered, acknowledged late";
    scenario.claim =
        "However often a message is delivered and however late it is acknowledged, its order is "
        "added once.";
    scenario.servers = {"database", "broker"};
    scenario.families = {FaultFamily::Broker, FaultFamily::Call, FaultFamily::Node,
                         FaultFamily::Network, FaultFamily::Server};
    scenario.probes = {"message delivered again", "message delivered twice at the same time",
                       "message acknowledged too late", "message overtook another",
                       "duplicate recognised"};
    return scenario;
}

Scenario request_twice() {
    Scenario scenario = orders();
    scenario.name = "request-twice";
    scenario.title = "the same request sent to both nodes, or repeated without an answer";
    scenario.claim =
        "A request that reaches both nodes, or is repeated because no answer came, is done once.";
    scenario.servers = {"database"};
    scenario.requests = true;
    scenario.families = {FaultFamily::Call, FaultFamily::Node, FaultFamily::Network,
                         FaultFamily::Server};
    scenario.probes = {"request worked on by both nodes", "request repeated without an answer",
                       "duplicate recognised"};
    return scenario;
}

}  // namespace fencepost::scenarios
