// What a scheduler runs and how it is set: jobs with their triggers, and options.
// Names and defaults are those of Quartz 2.3.2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/scheduler/schedule.h"

namespace fencepost::model {

// What becomes of instants that were missed by more than the misfire threshold.
enum class MisfirePolicy : std::uint8_t {
    Smart,      // one fire for all of them, now: its scheduled time is the moment of handling
    DoNothing,  // they are dropped; the next instant is the first in the future
    Ignore,     // each of them fires in turn, late, with its own scheduled time
};

// A job and one trigger of it. A further entry with the same tenant and job gives that job another
// trigger; it needs a trigger name of its own.
struct ScheduledJob {
    std::string tenant;  // the group of the job and of the trigger
    std::string job;
    Schedule schedule;
    bool requests_recovery = true;
    bool disallow_concurrent = true;
    MisfirePolicy misfire = MisfirePolicy::Smart;
    std::string trigger;  // empty: named as the job

    [[nodiscard]] const std::string& trigger_name() const {
        return trigger.empty() ? job : trigger;
    }
};

enum class SchedulerMode : std::uint8_t {
    Clustered,  // one job store in the shared database: a due trigger goes to one node
    EveryNode,  // no cluster: every node fires each instant, from a store in its own memory
};

enum class InstanceIds : std::uint8_t {
    NodeName,        // configured: a process that starts again finds its own old rows
    PerIncarnation,  // made up at each start: old rows wait until a peer finds them
};

struct SchedulerOptions {
    SchedulerMode mode = SchedulerMode::Clustered;
    InstanceIds instance_ids = InstanceIds::NodeName;
    sim::Duration idle_wait = std::chrono::seconds{30};
    sim::Duration check_in = std::chrono::milliseconds{7500};
    sim::Duration check_in_margin = std::chrono::milliseconds{7500};
    sim::Duration misfire_threshold = std::chrono::seconds{60};
    sim::Duration db_retry = std::chrono::seconds{15};
    std::uint32_t batch = 1;
    sim::Duration batch_window = std::chrono::seconds{0};
    bool acquire_within_lock = false;
    std::uint32_t worker_threads = 10;
};

inline const ScheduledJob* find_job(std::span<const ScheduledJob> jobs, std::string_view tenant,
                                    std::string_view job) {
    const auto found = std::ranges::find_if(
        jobs, [&](const ScheduledJob& each) { return each.tenant == tenant && each.job == job; });
    return found == jobs.end() ? nullptr : &*found;
}

inline const ScheduledJob* find_trigger(std::span<const ScheduledJob> jobs, std::string_view group,
                                        std::string_view name) {
    const auto found = std::ranges::find_if(jobs, [&](const ScheduledJob& each) {
        return each.tenant == group && each.trigger_name() == name;
    });
    return found == jobs.end() ? nullptr : &*found;
}

// When a trigger that misfired is due instead; nothing when it is over. Not for Ignore.
inline std::optional<sim::Time> due_after_misfire(const ScheduledJob& job, sim::Time now) {
    if (job.misfire == MisfirePolicy::DoNothing) return job.schedule.next_after(now);
    return std::chrono::floor<std::chrono::milliseconds>(now);
}

}  // namespace fencepost::model
