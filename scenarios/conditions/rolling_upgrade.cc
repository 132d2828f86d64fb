// Condition 6: version 1 and 2 side by side, nodes drained and replaced in turn, with a rollback
// half-way.
//
// What happens in every run, in seconds after the first instant:
//     0  work that both versions know falls due; it lasts for half a minute, in batches
//     8  node A is drained and comes back with version 2, which adds to the schema as it starts
//    20  work that only version 2 knows falls due, while B still runs version 1
//    32  the rollback: A comes back with version 1, on the schema of version 2
//    40  more such work falls due, with version 1 on both nodes
//    55  A comes back with version 2, and at 72 so does B
#include "scenarios/conditions/conditions.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultFamily;

const sim::Time kDue = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;

DueWork due(const char* job, sim::Duration after, std::int64_t version) {
    return {.tenant = "acme", .job = job, .scheduled = kDue + after, .version = version};
}

model::ScheduledJob once(const DueWork& work) {
    return {.tenant = work.tenant,
            .job = work.job,
            .schedule = model::Schedule::at({work.scheduled}),
            .misfire = model::MisfirePolicy::Ignore};
}

sim::Fault deploy(const char* node, std::int64_t version, sim::Duration after) {
    sim::Fault act;
    act.kind = sim::FaultKind::Deploy;
    act.party = node;
    act.version = version;
    act.at_time = kDue + after;
    act.grace = 30s;
    act.restart_after = 2s;
    return act;
}

}  // namespace

Scenario rolling_upgrade() {
    const DueWork known = due("daily-reconcile", 0s, 1);
    const DueWork beside = due("daily-interest", 20s, 2);
    const DueWork after_rollback = due("daily-fees", 40s, 2);
    return {
        .name = "rolling-upgrade",
        .condition = 6,
        .title = "rolling upgrade: two versions of handler and schema, rollback half-way",
        .claim =
            "While nodes change versions in turn, forth and back, all work is done once, by a "
            "version that knows it.",
        .handlers = {"reconcile", "batch-import"},
        .needs = {Ability::TwoVersions},
        // A node comes back so soon that its own name would hide what its former process left.
        .scheduler = {.instance_ids = model::InstanceIds::PerIncarnation, .check_in = 15s},
        .jobs = {once(known), once(beside), once(after_rollback)},
        .due = {known, beside, after_rollback},
        .start = kDue - 2s,
        .parameters = Parameters{{{"accounts", 3},
                                  {"batch", 1},
                                  {"batch_delay_ms", 10'000},
                                  {"lease_ttl_ms", 10'000},
                                  {"recovery_idle_ms", 10'000}}},
        .script = {deploy("A", 2, 8s), deploy("A", 1, 32s), deploy("A", 2, 55s),
                   deploy("B", 2, 72s)},
        .last_version = 2,
        .families = {FaultFamily::Node, FaultFamily::Call, FaultFamily::Network,
                     FaultFamily::Operator},
        .most_faults = 3,
        .probes = {"both versions at work", "version rolled back",
                   "begun by one version, finished by the other", "continued on the other node"},
        .checkers = {"once", "single-claim", "fencing", "checkpoint", "takeover",
                     "completed-is-not-redone", "single-holder", "drain", "honest-status"},
        .healed_after = 120s,
        .settle_bound = 5min,
    };
}

}  // namespace fencepost::scenarios
