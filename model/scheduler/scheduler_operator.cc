#include "model/scheduler/scheduler_operator.h"

#include <stdexcept>
#include <utility>

#include "model/scheduler/jdbc_definitions.h"
#include "model/scheduler/jdbc_schema.h"
#include "model/scheduler/jdbc_statements.h"
#include "model/scheduler/jdbc_time.h"
#include "model/scheduler/scheduler_node.h"
#include "sim/require.h"

namespace fencepost::model {

using jobs::sql::Result;
using sim::Time;
using namespace jdbc;

SchedulerOperator::SchedulerOperator(const jobs::Ports& ports, SchedulerCluster& cluster,
                                     SchedulerNode* through)
    : clock_(&ports.clock),
      sessions_(ports.database, ports.clock),
      cluster_(&cluster),
      through_(through) {
    sim::require(cluster.options().mode == SchedulerMode::Clustered,
                 "an operator works on the shared job store");
}

template <typename Body>
auto SchedulerOperator::in_lock(Body body) {
    PooledConnection connection{sessions_};
    return connection.transaction([&] {
        connection.execute(kLock, kTriggerAccess);
        return body(connection);
    });
}

void SchedulerOperator::tell(Time when) {
    if (through_ != nullptr) through_->schedule_changed(when);
}

std::vector<TriggerKey> SchedulerOperator::triggers_of(PooledConnection& connection,
                                                       const JobKey& job) {
    std::vector<TriggerKey> triggers;
    const Result rows = connection.execute(kTriggersOfJob, job.group, job.name);
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        triggers.push_back({rows.text(row, 0), rows.text(row, 1)});
    }
    return triggers;
}

bool SchedulerOperator::is_blocked(PooledConnection& connection, const JobKey& job) {
    return !connection.execute(kBlockingFires, job.group, job.name).empty();
}

// --- pause and resume

void SchedulerOperator::pause(const TriggerKey& trigger) {
    in_lock([&](PooledConnection& connection) {
        return connection.execute(kPause, trigger.group, trigger.name);
    });
}

void SchedulerOperator::pause(const JobKey& job) {
    in_lock([&](PooledConnection& connection) {
        for (const TriggerKey& trigger : triggers_of(connection, job)) {
            connection.execute(kPause, trigger.group, trigger.name);
        }
        return true;
    });
}

void SchedulerOperator::resume(const TriggerKey& trigger) {
    in_lock([&](PooledConnection& connection) {
        resume_one(connection, trigger);
        return true;
    });
    tell(Time{});
}

void SchedulerOperator::resume(const JobKey& job) {
    in_lock([&](PooledConnection& connection) {
        for (const TriggerKey& trigger : triggers_of(connection, job)) {
            resume_one(connection, trigger);
        }
        return true;
    });
    tell(Time{});
}

void SchedulerOperator::resume_one(PooledConnection& connection, const TriggerKey& trigger) {
    const Result found = connection.execute(kTriggerToResume, trigger.group, trigger.name);
    if (found.empty()) return;
    const std::string& state = found.text(0, 0);
    if (state != "PAUSED" && state != "PAUSED_BLOCKED") return;
    const MisfiredTrigger paused{.group = trigger.group,
                                 .name = trigger.name,
                                 .job_group = found.text(0, 2),
                                 .job_name = found.text(0, 3),
                                 .missed = from_milliseconds(found.integer(0, 1))};
    const SchedulerOptions& options = cluster_->options();
    const bool ignores_misfires = found.integer(0, 4) == misfire_instruction(MisfirePolicy::Ignore);
    const Time now = clock_->wall_now();
    if (!ignores_misfires && *paused.missed < now - options.misfire_threshold) {
        reschedule_misfired(connection, options, cluster_->definitions(), paused, now);
        return;
    }
    const bool blocked = is_blocked(connection, {paused.job_group, paused.job_name});
    connection.execute(kSetState, trigger.group, trigger.name,
                       std::string_view{blocked ? "BLOCKED" : "WAITING"});
}

void SchedulerOperator::reset_from_error(const TriggerKey& trigger) {
    in_lock([&](PooledConnection& connection) {
        const Result found = connection.execute(kTriggerToResume, trigger.group, trigger.name);
        if (found.empty() || found.text(0, 0) != "ERROR") return true;
        const bool blocked = is_blocked(connection, {found.text(0, 2), found.text(0, 3)});
        connection.execute(kSetState, trigger.group, trigger.name,
                           std::string_view{blocked ? "BLOCKED" : "WAITING"});
        return true;
    });
    tell(Time{});
}

// --- delete and replace

bool SchedulerOperator::remove(const JobKey& job) {
    const bool editable = cluster_->options().editable;
    const bool removed = in_lock([&](PooledConnection& connection) {
        for (const TriggerKey& trigger : triggers_of(connection, job)) {
            connection.execute(kDeleteTrigger, trigger.group, trigger.name);
            if (editable) connection.execute(kDeleteDefinition, trigger.group, trigger.name);
        }
        if (editable) connection.execute(kDeleteJobDefinition, job.group, job.name);
        return connection.execute(kDeleteJob, job.group, job.name).affected() > 0;
    });
    tell(Time{});
    return removed;
}

void SchedulerOperator::replace(ScheduledJob revised) {
    sim::require(cluster_->options().editable, "a schedule is replaced in an editable store");
    const Time start = std::chrono::floor<std::chrono::seconds>(clock_->wall_now());
    const auto first = revised.schedule.next_after(start - sim::Duration{1});
    if (!first) throw std::invalid_argument("a replaced schedule is due at least once");
    const std::int64_t number = cluster_->definitions().add(std::move(revised));
    const ScheduledJob& job = cluster_->definitions().at(number);
    const JobKey key{job.group_name(), job.job};
    in_lock([&](PooledConnection& connection) {
        connection.execute(kStoreJob, key.group, key.name, job.disallow_concurrent,
                           job.requests_recovery);
        connection.execute(kStoreJobDefinition, key.group, key.name, number, job.parameters);
        const bool blocked = job.disallow_concurrent && is_blocked(connection, key);
        connection.execute(kStoreTrigger, key.group, job.trigger_name(), key.group, key.name,
                           milliseconds(first), std::string_view{blocked ? "BLOCKED" : "WAITING"},
                           misfire_instruction(job.misfire));
        connection.execute(kStoreTriggerDefinition, key.group, job.trigger_name(), number,
                           job.priority, job.schedule.text());
        return true;
    });
    tell(*first);
}

}  // namespace fencepost::model
