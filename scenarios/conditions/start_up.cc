// Condition 7: both nodes initialise at once.
#include "scenarios/conditions/conditions.h"

namespace fencepost::scenarios {

using namespace std::chrono_literals;
using sim::FaultFamily;

Scenario start_up_twice() {
    Scenario scenario;
    scenario.name = "start-up-twice";
    scenario.condition = 7;
    scenario.title = "both nodes start at once, and three times over";
    scenario.claim =
        "However many nodes start at once, are killed midway and start again, they leave what one "
        "undisturbed start leaves.";
    scenario.handlers = {"initialise"};
    scenario.trigger = Trigger::StartUp;
    scenario.scheduler.mode = model::SchedulerMode::EveryNode;
    scenario.start = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h - 2s;
    for (const char* step : {"schema", "seeds", "upgrade-1", "upgrade-2", "cache"}) {
        scenario.due.push_back(
            {.tenant = "acme", .job = "initialise", .scheduled = scenario.start, .id = step});
    }
    scenario.parameters = Parameters{{{"start_ups", 3}}};
    scenario.families = {FaultFamily::Node, FaultFamily::Call, FaultFamily::Network,
                         FaultFamily::Server};
    scenario.probes = {"start-ups overlapped", "start-up killed midway", "waited for a lock",
                       "commit outcome unknown"};
    scenario.checkers = {"start-up-convergence", "takeover"};
    // A dead process's lock is free after half a minute at most, when its connection is given up.
    scenario.settle_bound = 2min;
    return scenario;
}

}  // namespace fencepost::scenarios
