// The acceptance checklist, one scenario a condition (and one more where a condition has two
// forms).
#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>

#include "scenarios/built_in.h"
#include "scenarios/conditions/conditions.h"
#include "scenarios/reduced.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultFamily;

// 02:00 in Shanghai on the third of March, and two seconds before.
const sim::Time kDue = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;
const sim::Time kStart = kDue - 2s;

Scenario daily_reconciliation() {
    return {
        .handlers = {"reconcile", "transfer"},
        .nodes = {"A", "B"},
        .scheduler = {},
        .jobs = {{.tenant = "acme",
                  .job = "daily-reconcile",
                  .schedule = model::Schedule::at({kDue}),
                  // A missed instant keeps its own scheduled time, however late it fires.
                  .misfire = model::MisfirePolicy::Ignore}},
        .due = {{.tenant = "acme", .job = "daily-reconcile", .scheduled = kDue}},
        .start = kStart,
        .parameters = Parameters{{{"accounts", 5},
                                  {"batch", 2},
                                  {"batch_delay_ms", 0},
                                  {"lease_ttl_ms", 10'000},
                                  {"recovery_idle_ms", 10'000}}},
        .checkers = {"once", "single-claim", "fencing", "conserved", "checkpoint", "takeover",
                     "completed-is-not-redone", "single-holder", "honest-status"},
    };
}

Scenario same_instant() {
    Scenario scenario = daily_reconciliation();
    scenario.name = "same-instant";
    scenario.condition = 1;
    scenario.title = "same job due on both nodes at once, every node fires";
    scenario.claim = "Two nodes that are both asked to run the same instant do its work once.";
    scenario.scheduler.mode = model::SchedulerMode::EveryNode;
    scenario.families = {FaultFamily::Call, FaultFamily::Network, FaultFamily::Server,
                         FaultFamily::Clock, FaultFamily::Node};
    scenario.probes = {"both nodes were asked", "executions overlapped",
                       "second execution gave way"};
    return scenario;
}

Scenario same_instant_clustered() {
    Scenario scenario = daily_reconciliation();
    scenario.name = "same-instant-clustered";
    scenario.condition = 1;
    scenario.title = "same job due on both nodes at once, clustered scheduler";
    scenario.claim = "However often the cluster hands one instant out, its work is done once.";
    scenario.families = {FaultFamily::Scheduler, FaultFamily::Call,  FaultFamily::Network,
                         FaultFamily::Server,    FaultFamily::Clock, FaultFamily::Node};
    scenario.probes = {"both nodes were asked", "fire recovered", "second execution gave way"};
    return scenario;
}

Scenario holder_leaves() {
    Scenario scenario = daily_reconciliation();
    scenario.name = "holder-leaves";
    scenario.condition = 3;
    scenario.title = "the lease holder leaves midway: killed, paused or cut off";
    scenario.claim =
        "A holder that was killed, paused or cut off is replaced, and changes nothing when it "
        "comes back.";
    scenario.families = {FaultFamily::Node, FaultFamily::Network, FaultFamily::Call};
    scenario.probes = {"lease expired under a live holder", "claim taken over",
                       "node declared failed", "fire recovered", "stale write refused"};
    return scenario;
}

Scenario crash_before_response() {
    Scenario scenario = daily_reconciliation();
    scenario.name = "crash-before-response";
    scenario.condition = 5;
    scenario.title = "the write is done and the node restarts before the answer";
    scenario.claim =
        "What was committed before the answer was lost is found, and neither lost nor done again.";
    scenario.families = {FaultFamily::Node, FaultFamily::Call};
    scenario.probes = {"crash before response", "commit outcome unknown", "fire recovered",
                       "second execution found the work done"};
    return scenario;
}

// The work outlasts the lease's time to live, and who was sent away knocks again and again: so
// Redis fails under a holder that needs it, and somebody is there to take what it loses.
Scenario redis_fails() {
    Scenario scenario = daily_reconciliation();
    scenario.name = "redis-fails";
    scenario.condition = 4;
    scenario.title = "Redis fails for a while, both nodes asked";
    scenario.claim =
        "While Redis is away or has forgotten its leases, nothing is done twice; once it is back, "
        "the work goes on.";
    scenario.scheduler.mode = model::SchedulerMode::EveryNode;
    scenario.parameters = Parameters{{{"accounts", 5},
                                      {"batch", 1},
                                      {"batch_delay_ms", 3'000},
                                      {"lease_ttl_ms", 10'000},
                                      {"recovery_idle_ms", 2'000}}};
    scenario.families = {FaultFamily::Server, FaultFamily::Network, FaultFamily::Call,
                         FaultFamily::Node};
    scenario.probes = {"Redis unreachable when a lease was wanted",
                       "renewal went unanswered",
                       "lease lost with Redis's data",
                       "lease evicted under its holder",
                       "Redis failed over under a holder",
                       "claim taken over",
                       "stale write refused"};
    return scenario;
}

std::vector<Scenario> with_reducing_parameters(std::vector<Scenario> scenarios) {
    for (Scenario& scenario : scenarios) add_reducing_parameters(scenario);
    return scenarios;
}

std::vector<Scenario>& known_scenarios() {
    static std::vector<Scenario> known = with_reducing_parameters(
        {same_instant(), same_instant_clustered(), message_twice(), request_twice(),
         holder_leaves(), redis_fails(), crash_before_response(), rolling_upgrade(),
         start_up_twice(), same_instant_other_id(), clock_set_back(), clock_set_forward(),
         long_job(), outcome_unknown()});
    return known;
}

std::set<std::string, std::less<>>& put_names() {
    static std::set<std::string, std::less<>> names;
    return names;
}

}  // namespace

const std::vector<Scenario>& all_scenarios() {
    return known_scenarios();
}

void put_scenario(Scenario scenario) {
    add_reducing_parameters(scenario);
    put_names().insert(scenario.name);
    auto& known = known_scenarios();
    const auto same = std::ranges::find(known, scenario.name, &Scenario::name);
    if (same == known.end()) {
        known.push_back(std::move(scenario));
    } else {
        *same = std::move(scenario);
    }
}

bool is_built_in_scenario(std::string_view name) {
    return find_scenario(name) != nullptr && !put_names().contains(name);
}

std::string_view condition_title(int condition) {
    static constexpr std::array<std::string_view, 10> kTitles{
        "the same scheduled job due on both nodes at once",
        "the same request or message delivered twice",
        "the lease holder leaves midway",
        "Redis fails for a while",
        "the write is done and the node restarts before the answer",
        "old and new version side by side during a rolling upgrade",
        "both nodes initialise at once",
        "the same instant under another fire id or in another time zone",
        "a long job in batches: interrupted, resumed, cancelled",
        "an outside call whose outcome is unknown"};
    return kTitles.at(static_cast<std::size_t>(condition - 1));
}

const Scenario* find_scenario(std::string_view name) {
    const auto& all = all_scenarios();
    const auto found = std::ranges::find(all, name, &Scenario::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace fencepost::scenarios
