#include "model/scheduler/ram_job_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/require.h"

namespace fencepost::model {
namespace {

using sim::Time;

bool same_job(const ScheduledJob& left, const ScheduledJob& right) {
    return left.group_name() == right.group_name() && left.job == right.job;
}

}  // namespace

RamJobStore::RamJobStore(jobs::Clock& clock, std::string node, const SchedulerOptions& options,
                         std::span<const ScheduledJob> jobs)
    : clock_(&clock), options_(&options), ids_(std::move(node), clock.wall_now()) {
    const Time before = clock.wall_now() - sim::Duration{1};
    for (const ScheduledJob& job : jobs) {
        const auto next = job.schedule.next_after(before);
        triggers_.push_back({&job, job.schedule, next, next ? State::Waiting : State::Over});
    }
}

std::vector<HeldTrigger> RamJobStore::acquire(Time no_later_than, std::uint32_t count) {
    std::vector<HeldTrigger> held;
    for (Trigger& trigger : triggers_) {
        if (trigger.state == State::Waiting) apply_misfire(trigger);
    }
    Time batch_end = no_later_than + options_->batch_window;
    while (held.size() < count) {
        Trigger* const trigger = first_due(batch_end, held);
        if (trigger == nullptr) break;
        trigger->state = State::Acquired;
        held.push_back({.group = trigger->job->group_name(),
                        .name = trigger->job->trigger_name(),
                        .job = trigger->job,
                        .fire_instance_id = ids_.next(),
                        .scheduled = *trigger->next,
                        .next = {},
                        .disallow_concurrent = trigger->job->disallow_concurrent,
                        .requests_recovery = false,
                        .recovering = false,
                        .parameters = trigger->job->parameters});
        if (held.size() == 1) {
            batch_end = std::max(*trigger->next, clock_->wall_now()) + options_->batch_window;
        }
    }
    return held;
}

RamJobStore::Trigger* RamJobStore::first_due(Time by, std::span<const HeldTrigger> held) {
    Trigger* first = nullptr;
    for (Trigger& trigger : triggers_) {
        if (trigger.state != State::Waiting || *trigger.next > by) continue;
        const auto excluded = [&](const HeldTrigger& other) {
            return other.disallow_concurrent && same_job(*other.job, *trigger.job);
        };
        if (std::ranges::any_of(held, excluded)) continue;
        if (first == nullptr || *trigger.next < *first->next) first = &trigger;
    }
    return first;
}

void RamJobStore::apply_misfire(Trigger& trigger) {
    const Time now = clock_->wall_now();
    if (trigger.job->misfire == MisfirePolicy::Ignore) return;
    if (*trigger.next >= now - options_->misfire_threshold) return;
    MisfireOutcome outcome =
        after_misfire(trigger.job->misfire, trigger.schedule, *trigger.next, now);
    trigger.next = outcome.next;
    if (outcome.schedule) trigger.schedule = *std::move(outcome.schedule);
    if (!trigger.next) trigger.state = State::Over;
}

FireResult RamJobStore::fire(std::vector<HeldTrigger> held) {
    FireResult result;
    for (HeldTrigger& fire : held) {
        Trigger& trigger = trigger_of(fire);
        if (trigger.state != State::Acquired) {
            result.refused.push_back(std::move(fire));
            continue;
        }
        trigger.next = fire.next = trigger.schedule.next_after(fire.scheduled);
        trigger.state = trigger.next ? State::Waiting : State::Over;
        if (fire.disallow_concurrent) {
            for (Trigger& other : triggers_) {
                if (!same_job(*other.job, *fire.job) || other.state == State::Over) continue;
                other.state = State::Blocked;
            }
        }
        result.fired.push_back(std::move(fire));
    }
    return result;
}

void RamJobStore::release(const HeldTrigger& held) {
    Trigger& trigger = trigger_of(held);
    if (trigger.state == State::Acquired) trigger.state = State::Waiting;
}

void RamJobStore::complete(const HeldTrigger& fired) {
    if (!fired.disallow_concurrent) return;
    for (Trigger& trigger : triggers_) {
        if (same_job(*trigger.job, *fired.job) && trigger.state == State::Blocked) {
            trigger.state = State::Waiting;
        }
    }
}

RamJobStore::Trigger& RamJobStore::trigger_of(const HeldTrigger& held) {
    const auto found = std::ranges::find_if(triggers_, [&](const Trigger& each) {
        return each.job->group_name() == held.group && each.job->trigger_name() == held.name;
    });
    sim::require(found != triggers_.end(), "a held trigger is one of the store's");
    return *found;
}

std::vector<std::string> RamJobStore::due_by(Time until) const {
    std::vector<std::string> lines;
    for (const Trigger& trigger : triggers_) {
        if (trigger.state == State::Over || *trigger.next > until) continue;
        lines.push_back(
            fmt::format("{} is due at {}", trigger.job->job, sim::to_text(*trigger.next)));
    }
    return lines;
}

}  // namespace fencepost::model
