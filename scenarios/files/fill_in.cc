#include "scenarios/files/fill_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "scenarios/files/scenario_forms.h"

namespace fencepost::scenarios {
namespace {

using model::Schedule;
using sim::Duration;
using sim::FaultFamily;
using sim::Time;
using namespace std::chrono_literals;

// The world begins a little before what falls due first.
constexpr Duration kLead = 2s;
constexpr Duration kUsualSpan = 30s;
// Faults go on for so long after what falls due last, at least.
constexpr Duration kFaultsAfterDue = 60s;
// A night like any other. Cron expressions are first due after it begins.
constexpr Time kUsualDay = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2};
constexpr Time kUsualDue = kUsualDay + 18h;
// What every handler of batches under a lease takes.
const Parameters kUsualParameters{{{"accounts", 5},
                                   {"batch", 2},
                                   {"batch_delay_ms", 0},
                                   {"lease_ttl_ms", 10'000},
                                   {"recovery_idle_ms", 10'000}}};
constexpr std::size_t kMostDue = 1000;

// The first instant of a schedule that may leave open when it begins; nothing when it was over
// before that day.
std::optional<Time> first_of(const Schedule& schedule) {
    const Schedule::Parts parts = schedule.parts();
    if (const auto* cron = std::get_if<Schedule::CronText>(&parts)) {
        if (cron->span.from == Time{}) return schedule.next_after(kUsualDay);
    }
    if (const auto* every = std::get_if<Schedule::Interval>(&parts)) {
        if (every->start == Time{}) return kUsualDue;
    }
    return schedule.first();
}

Time usual_start(const Scenario& scenario) {
    Time first = Time::max();
    for (const model::ScheduledJob& job : scenario.jobs) {
        first = std::min(first, first_of(job.schedule).value_or(first));
    }
    for (const DueWork& work : scenario.due) first = std::min(first, Time{work.scheduled});
    return (first == Time::max() ? kUsualDue : first) - kLead;
}

// The schedule within the run: it begins with the run where nothing else is said, and ends after
// the span.
Schedule within(const Schedule& schedule, Time start, Duration span) {
    const Schedule::Parts parts = schedule.parts();
    if (const auto* cron = std::get_if<Schedule::CronText>(&parts)) {
        const Time from = cron->span.from == Time{} ? start : cron->span.from;
        return Schedule::cron(cron->expression, cron->time_zone,
                              {.from = from, .until = cron->span.until.value_or(start + span)});
    }
    if (const auto* every = std::get_if<Schedule::Interval>(&parts)) {
        const Time from = every->start == Time{} ? start + kLead : every->start;
        if (every->count != Schedule::kForEver) {
            return Schedule::every(from, every->step, every->count);
        }
        const Duration left = std::max(Duration::zero(), start + span - from);
        return Schedule::every(from, every->step,
                               static_cast<std::uint32_t>(
                                   std::min<std::int64_t>(1 + left / every->step, kMostDue + 1)));
    }
    return schedule;
}

void end_schedules(const FileValue& file, Duration span, Scenario& scenario) {
    for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
        Schedule& schedule = scenario.jobs[i].schedule;
        try {
            schedule = within(schedule, scenario.start, span);
        } catch (const std::invalid_argument& error) {
            file.fail_at_place(
                fmt::format("jobs[{}].schedule.cron", i),
                fmt::format("{}, which begins with the run at {} unless \"from\" "
                            "says otherwise and ends at \"until\", else after \"{}\"",
                            error.what(), sim::to_text(scenario.start), kSpanKey));
        }
    }
}

// Every instant of the schedules from the start of the run on, job by job.
std::vector<DueWork> due_by_schedule(const FileValue& file, const Scenario& scenario) {
    std::vector<DueWork> due;
    for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
        const model::ScheduledJob& job = scenario.jobs[i];
        for (auto at = job.schedule.next_after(scenario.start - Duration{1}); at;
             at = job.schedule.next_after(*at)) {
            if (due.size() == kMostDue) {
                file.fail_at_place(
                    fmt::format("jobs[{}].schedule", i),
                    fmt::format("more than {} instants are due in the run", kMostDue));
            }
            due.push_back({.tenant = job.tenant, .job = job.job, .scheduled = *at});
        }
    }
    // Two triggers of a job at one instant are one act.
    std::vector<DueWork> acts;
    for (DueWork& work : due) {
        if (std::ranges::find(acts, work) == acts.end()) acts.push_back(std::move(work));
    }
    return acts;
}

// Whatever can happen to such a scenario.
std::vector<FaultFamily> usual_families(const Scenario& scenario) {
    std::vector<FaultFamily> families{FaultFamily::Node, FaultFamily::Call, FaultFamily::Network,
                                      FaultFamily::Server, FaultFamily::Clock};
    if (scenario.scheduler.mode == model::SchedulerMode::Clustered && !scenario.jobs.empty()) {
        families.push_back(FaultFamily::Scheduler);
    }
    if (scenario.has_server("broker")) families.push_back(FaultFamily::Broker);
    return families;
}

// The first of the reference handlers that can take part, if any can.
std::vector<std::string> usual_handlers(const Scenario& scenario) {
    for (const HandlerSpec& handler : all_handlers()) {
        if (!handler.is_mistake() && !obstacle(scenario, handler)) return {handler.name};
    }
    return scenario.handlers;
}

std::vector<std::string> usual_checkers(const Scenario& scenario) {
    std::vector<std::string> checkers{"once",
                                      "single-claim",
                                      "fencing",
                                      "conserved",
                                      "checkpoint",
                                      "takeover",
                                      "completed-is-not-redone",
                                      "single-holder",
                                      "honest-status"};
    if (scenario.trigger == Trigger::StartUp) checkers = {"start-up-convergence", "takeover"};
    if (!scenario.always.empty() || !scenario.finally.empty()) checkers.emplace_back("invariants");
    return checkers;
}

Duration usual_healed_after(const Scenario& scenario) {
    Duration after = scenario.healed_after;
    for (const DueWork& work : scenario.due) {
        after = std::max(after, Time{work.scheduled} - scenario.start + kFaultsAfterDue);
    }
    return after;
}

}  // namespace

void fill_in(const FileValue& file, Scenario& scenario) {
    const auto absent = [&](std::string_view key) { return !file.find(key); };
    const auto span = file.find(kSpanKey);
    if (absent("title")) scenario.title = scenario.name;
    if (absent("handlers")) scenario.handlers = usual_handlers(scenario);
    if (absent("start")) scenario.start = usual_start(scenario);
    end_schedules(file, span ? Form<Duration>::read(*span) : kUsualSpan, scenario);
    if (absent("due")) scenario.due = due_by_schedule(file, scenario);
    if (absent("parameters")) scenario.parameters = kUsualParameters;
    if (absent("families")) scenario.families = usual_families(scenario);
    if (absent("checkers")) scenario.checkers = usual_checkers(scenario);
    if (absent("healed_after")) scenario.healed_after = usual_healed_after(scenario);
}

}  // namespace fencepost::scenarios
