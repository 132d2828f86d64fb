// Condition 10: an outside call whose outcome is unknown.
#include "scenarios/conditions/conditions.h"
#include "scenarios/handlers/bills.h"

namespace fencepost::scenarios {

using namespace std::chrono_literals;
using sim::FaultFamily;

Scenario outcome_unknown() {
    const sim::Time due = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;
    Scenario scenario;
    scenario.name = "outcome-unknown";
    scenario.condition = 10;
    scenario.title = "an outside call whose outcome is unknown, and one that is declined";
    scenario.claim =
        "A payment whose answer is lost is looked up and charged once; one that is declined leaves "
        "nothing behind.";
    scenario.handlers = {"pay"};
    scenario.needs = {Ability::Outside};
    scenario.servers = {"redis", "database", "gateway"};
    scenario.gateway_limit = bills::kGatewayLimit;
    scenario.scheduler.mode = model::SchedulerMode::EveryNode;
    scenario.jobs = {{.tenant = "acme",
                      .job = "pay-bills",
                      .schedule = model::Schedule::at({due}),
                      // A missed instant keeps its own scheduled time, however late it fires.
                      .misfire = model::MisfirePolicy::Ignore}};
    scenario.due = {{.tenant = "acme", .job = "pay-bills", .scheduled = due}};
    scenario.start = due - 2s;
    scenario.parameters =
        Parameters{{{"invoices", 2}, {"lease_ttl_ms", 10'000}, {"recovery_idle_ms", 10'000}}};
    scenario.families = {FaultFamily::Call, FaultFamily::Server, FaultFamily::Network,
                         FaultFamily::Node};
    scenario.probes = {"outside outcome unknown", "look-up found the charge",
                       "look-up found nothing and the request was repeated",
                       "charge declined and nothing of it left", "claim taken over"};
    scenario.checkers = {"once",          "single-claim", "fencing",
                         "checkpoint",    "takeover",     "completed-is-not-redone",
                         "single-holder", "honest-status"};
    return scenario;
}

}  // namespace fencepost::scenarios
