// Condition 8: what names a business act, where everything but its planned instant changes.
//
// In same-instant-other-id the instant stays and the fire instance id, the node and the zone's
// notation differ, for two tenants whose jobs and accounts have the same names. In the other two a
// night with a change to or from summer time is gone through, in which both nodes are down over an
// instant: the scheduler's default policy then fires once, and hands over the moment of handling as
// the scheduled time.
#include "model/scheduler/tenant_group.h"
#include "scenarios/conditions/conditions.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultFamily;
using sim::FaultKind;

const std::vector<std::string> kEveryChecker{"once",
                                             "single-claim",
                                             "fencing",
                                             "key-stability",
                                             "tenant-isolation",
                                             "checkpoint",
                                             "takeover",
                                             "completed-is-not-redone",
                                             "single-holder",
                                             "honest-status"};

model::ScheduledJob job_of(const char* tenant, const char* job, model::Schedule schedule) {
    return {.tenant = tenant,
            .job = job,
            .schedule = std::move(schedule),
            .group = model::tenant_group(tenant)};
}

// Every instant that the schedules make due.
std::vector<DueWork> due_of(const std::vector<model::ScheduledJob>& jobs, sim::Time from,
                            sim::Time until) {
    std::vector<DueWork> due;
    for (const model::ScheduledJob& job : jobs) {
        for (const sim::Time instant : job.schedule.instants_between(from, until)) {
            due.push_back({.tenant = job.tenant, .job = job.job, .scheduled = instant});
        }
    }
    return due;
}

sim::Fault stop(const char* node, sim::Time at, sim::Duration restart_after) {
    sim::Fault act;
    act.kind = FaultKind::Stop;
    act.party = node;
    act.at_time = at;
    act.grace = 30s;
    act.restart_after = restart_after;
    return act;
}

// Around a change of the clock in Berlin, at half past each hour: acme's cron expression is in
// Berlin's time, globex's in UTC. Nodes are down for the first instant. Looks of all kinds are
// minutes apart, for little happens in between.
Scenario clock_change(sim::Time first, sim::Duration length) {
    const sim::Time start = first - 2min;
    const sim::Time last = first + length;
    Scenario scenario{
        .condition = 8,
        .handlers = {"daily-backup"},
        .needs = {Ability::Tenants, Ability::Instants},
        .scheduler = {.idle_wait = 20min,
                      .check_in = 20min,
                      .check_in_margin = 1min,
                      .misfire_threshold = 20min},
        .jobs = {job_of("acme", "hourly-backup",
                        model::Schedule::cron("0 30 * * * ?", "Europe/Berlin",
                                              {.from = start, .until = last})),
                 job_of(
                     "globex", "hourly-backup",
                     model::Schedule::cron("0 30 * * * ?", "UTC", {.from = start, .until = last}))},
        .start = start,
        .parameters = Parameters{{{"accounts", 3},
                                  {"lease_ttl_ms", 10'000},
                                  {"recovery_idle_ms", 10'000},
                                  {"recovery_interval_ms", 1'200'000}}},
        .script = {stop("A", first - 1min, 25min), stop("B", first - 1min, 25min)},
        .families = {FaultFamily::Scheduler, FaultFamily::Node, FaultFamily::Call,
                     FaultFamily::Clock},
        .most_faults = 3,
        .checkers = kEveryChecker,
        .healed_after = length + 5min,
        .settle_bound = 90min,
        .check_interval = 5s,
    };
    scenario.due = due_of(scenario.jobs, start, last);
    return scenario;
}

}  // namespace

Scenario same_instant_other_id() {
    // 02:00:45 in Shanghai: a fire that comes late comes in another minute.
    const sim::Time due = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h + 45s;
    Scenario scenario{
        .name = "same-instant-other-id",
        .condition = 8,
        .title = "one instant under two fire ids and in two notations, for two tenants",
        .claim =
            "Whatever id a fire carries and however its instant is written, its tenant's work is "
            "done once, and no other tenant's.",
        .handlers = {"reconcile", "daily-backup"},
        .needs = {Ability::Tenants},
        // An operator may save a schedule meanwhile: in the second of its instant, which then fires
        // once more.
        .scheduler = {.editable = true,
                      .zones = {{"A", "Asia/Shanghai"}, {"B", "America/St_Johns"}}},
        .jobs = {job_of("acme", "daily-reconcile", model::Schedule::at({due})),
                 job_of("globex", "daily-reconcile", model::Schedule::at({due}))},
        .due = {},
        .start = due - 2s,
        .parameters = Parameters{{{"accounts", 3},
                                  {"batch", 2},
                                  {"lease_ttl_ms", 10'000},
                                  {"recovery_idle_ms", 10'000}}},
        .families = {FaultFamily::Scheduler, FaultFamily::Node, FaultFamily::Call,
                     FaultFamily::Operator},
        .probes = {"one instant under two fire ids", "one instant in two notations",
                   "fire recovered", "second execution gave way"},
        .checkers = kEveryChecker,
    };
    for (model::ScheduledJob& job : scenario.jobs) {
        // Reconcile goes by the scheduled time as it is handed over, which no other policy keeps.
        job.misfire = model::MisfirePolicy::Ignore;
    }
    scenario.due = due_of(scenario.jobs, due, due);
    return scenario;
}

Scenario clock_set_back() {
    // From 01:30 in Berlin, over 02:30 and 02:30 again. Quartz passes over the first of the two for
    // a schedule in Berlin's time.
    Scenario scenario =
        clock_change(std::chrono::sys_days{std::chrono::year{2026} / 10 / 24} + 23h + 30min, 2h);
    scenario.name = "clock-set-back";
    scenario.title = "an hour that comes twice in autumn, both nodes down before it";
    scenario.claim =
        "Every planned instant is done once when local time comes twice, and a missed one under "
        "its own name.";
    scenario.scheduler.zones = {{"A", "Europe/Berlin"}, {"B", "Europe/Berlin"}};
    scenario.probes = {"misfire handled", "offset changed between two fires",
                       "one local time, two instants", "one instant under two fire ids"};
    return scenario;
}

Scenario clock_set_forward() {
    // From 01:30 in Berlin, which half an hour later goes from 02:00 to 03:00, to 03:30.
    Scenario scenario =
        clock_change(std::chrono::sys_days{std::chrono::year{2026} / 3 / 29} + 30min, 1h);
    scenario.name = "clock-set-forward";
    scenario.title = "an hour that is left out in spring, both nodes down before it";
    scenario.claim =
        "Every planned instant is done once when an hour of local time is left out, and a missed "
        "one under its own name.";
    scenario.scheduler.zones = {{"A", "Europe/Berlin"}, {"B", "UTC"}};
    scenario.probes = {"misfire handled", "offset changed between two fires",
                       "one instant in two notations", "one instant under two fire ids"};
    return scenario;
}

}  // namespace fencepost::scenarios
