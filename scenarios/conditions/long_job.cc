// Condition 9: a long job in batches, interrupted, continued on the other node, cancelled.
//
// Two files fall due at once, each eleven minutes of work in batches of two. One of them says how
// many rows it has; the other is a feed whose end nobody knows. In every run the first node is
// asked to stop in the midst of a batch and comes back later, and an operator cancels the feed
// half-way.
//
// Without faults: nodes look every 30 s, so both tasks are claimed at 28 s; batches end at 158 s,
// 289 s, …
#include "scenarios/conditions/conditions.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultFamily;
using sim::FaultKind;

const sim::Time kDue = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;

sim::Fault stop(const char* node, sim::Time at) {
    sim::Fault act;
    act.kind = FaultKind::Stop;
    act.party = node;
    act.at_time = at;
    act.grace = 4min;
    act.restart_after = 30s;
    return act;
}

sim::Fault cancel(const DueWork& work, sim::Time at) {
    sim::Fault act;
    act.kind = FaultKind::Cancel;
    act.unit = work.unit();
    act.at_time = at;
    return act;
}

model::ScheduledJob once(const DueWork& work) {
    return {.tenant = work.tenant,
            .job = work.job,
            .schedule = model::Schedule::at({work.scheduled}),
            .misfire = model::MisfirePolicy::Ignore};
}

}  // namespace

Scenario long_job() {
    const DueWork file{.tenant = "acme", .job = "file-import", .scheduled = kDue};
    const DueWork feed{.tenant = "acme", .job = "feed-import", .scheduled = kDue};
    return {
        .name = "long-job",
        .condition = 9,
        .title = "a long job in batches: interrupted, continued elsewhere, cancelled",
        .claim =
            "Work in batches goes on where it was interrupted, ends when it is cancelled, and "
            "says honestly how far it is.",
        .handlers = {"batch-import"},
        .needs = {Ability::Batches},
        // Nothing of the scheduler matters here: every node enqueues, and one task comes of it.
        .scheduler = {.mode = model::SchedulerMode::EveryNode},
        .jobs = {once(file), once(feed)},
        .due = {file, feed},
        .start = kDue - 2s,
        .parameters = Parameters{{{"accounts", 10},
                                  {"batch", 2},
                                  {"row_ms", 65'000},
                                  {"lease_ttl_ms", 90'000},
                                  {"poll_ms", 30'000},
                                  {"drain_ms", 150'000}}},
        .script = {stop("A", kDue + 175s), cancel(feed, kDue + 330s)},
        .families = {FaultFamily::Node, FaultFamily::Call, FaultFamily::Network,
                     FaultFamily::Server, FaultFamily::Operator},
        .most_faults = 3,
        .probes = {"batch ended while its node drained", "continued on the other node",
                   "cancelled while it ran", "cancelled while nobody ran it",
                   "task claimed after its lease ran out"},
        .checkers = {"once", "single-claim", "fencing", "checkpoint", "takeover",
                     "completed-is-not-redone", "single-holder", "drain", "honest-status"},
        .healed_after = 15min,
        .settle_bound = 40min,
        .check_interval = 5s,
    };
}

}  // namespace fencepost::scenarios
