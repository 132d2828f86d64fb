// What a scheduler runs and how it is set: jobs with their triggers, and options.
// Names and defaults are those of Quartz 2.3.2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/scheduler/schedule.h"

namespace fencepost::model {

// What becomes of instants that were missed by more than the misfire threshold.
enum class MisfirePolicy : std::uint8_t {
    Smart,      // mostly one fire for all, now: its scheduled time is the moment of handling
    DoNothing,  // they are dropped; the next instant is the first in the future
    Ignore,     // each of them fires in turn, late, with its own scheduled time
};

// A job and one trigger of it. A further entry with the same tenant and job gives that job another
// trigger; it needs a trigger name of its own.
struct ScheduledJob {
    std::string tenant;
    std::string job;
    Schedule schedule;
    bool requests_recovery = true;
    bool disallow_concurrent = true;
    MisfirePolicy misfire = MisfirePolicy::Smart;
    std::string trigger;  // empty: named as the job
    std::string group;    // of the job and of the trigger; empty: the tenant (tenant_group.h)

    // These need a store that is editable.
    std::int32_t priority = 5;  // of triggers due at the same instant the highest goes first
    std::string parameters;     // handed to the job with each fire

    [[nodiscard]] const std::string& trigger_name() const {
        return trigger.empty() ? job : trigger;
    }
    [[nodiscard]] const std::string& group_name() const { return group.empty() ? tenant : group; }
    bool operator==(const ScheduledJob&) const = default;
};

enum class SchedulerMode : std::uint8_t {
    Clustered,  // one job store in the shared database: a due trigger goes to one node
    EveryNode,  // no cluster: every node fires each instant, from a store in its own memory
};

enum class InstanceIds : std::uint8_t {
    NodeName,        // configured: a process that starts again finds its own old rows
    PerIncarnation,  // made up at each start: old rows wait until a peer finds them
};

// The zone in which a node's scheduler writes instants for its jobs.
struct NodeZone {
    std::string node;
    std::string zone;  // "Asia/Shanghai"
    bool operator==(const NodeZone&) const = default;
};

struct SchedulerOptions {
    SchedulerMode mode = SchedulerMode::Clustered;
    InstanceIds instance_ids = InstanceIds::NodeName;
    sim::Duration idle_wait = std::chrono::seconds{30};
    sim::Duration check_in = std::chrono::milliseconds{7500};
    sim::Duration check_in_margin = std::chrono::milliseconds{7500};
    sim::Duration misfire_threshold = std::chrono::seconds{60};
    sim::Duration db_retry = std::chrono::seconds{15};
    // How long the connection pool waits for a server that refuses (HikariCP: 30 s).
    sim::Duration connection_patience = std::chrono::seconds{0};
    std::uint32_t batch = 1;
    sim::Duration batch_window = std::chrono::seconds{0};
    bool acquire_within_lock = false;
    std::uint32_t worker_threads = 10;
    // Schedules, priorities and parameters are kept in the shared database, where an operator can
    // replace them. Otherwise every node has them from its program, with fewer statements.
    bool editable = false;
    // Nodes that are not named here hand over no text (jobs::Fire::scheduled_text).
    std::vector<NodeZone> zones{};
    bool operator==(const SchedulerOptions&) const = default;
};

inline const ScheduledJob* find_job(std::span<const ScheduledJob> jobs, std::string_view group,
                                    std::string_view job) {
    const auto found = std::ranges::find_if(jobs, [&](const ScheduledJob& each) {
        return each.group_name() == group && each.job == job;
    });
    return found == jobs.end() ? nullptr : &*found;
}

inline const ScheduledJob* find_trigger(std::span<const ScheduledJob> jobs, std::string_view group,
                                        std::string_view name) {
    const auto found = std::ranges::find_if(jobs, [&](const ScheduledJob& each) {
        return each.group_name() == group && each.trigger_name() == name;
    });
    return found == jobs.end() ? nullptr : &*found;
}

// What becomes of a trigger that misfired. Not for Ignore.
struct MisfireOutcome {
    std::optional<sim::Time> next;     // nothing: it is over
    std::optional<Schedule> schedule;  // it goes by another one from now on
};

// Quartz's smart policy: a cron trigger, a list and a single instant fire once, now; an interval
// without an end goes on with its next instant; one with a count starts anew, now, with what is
// left of its count, if it is known which instant was missed.
inline MisfireOutcome after_misfire(MisfirePolicy policy, const Schedule& schedule,
                                    std::optional<sim::Time> missed, sim::Time now) {
    if (policy == MisfirePolicy::DoNothing || schedule.is_endless_interval()) {
        return {schedule.next_after(now), {}};
    }
    const sim::Time next = std::chrono::floor<std::chrono::milliseconds>(now);
    return {next, missed ? schedule.rest_moved(*missed, next) : std::nullopt};
}

}  // namespace fencepost::model
