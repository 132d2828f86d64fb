#include "model/scheduler/jdbc_job_store.h"

#include <algorithm>
#include <utility>

#include "model/scheduler/jdbc_definitions.h"
#include "model/scheduler/jdbc_schema.h"
#include "model/scheduler/jdbc_statements.h"
#include "model/scheduler/jdbc_time.h"

namespace fencepost::model {
namespace {

using jobs::sql::Result;
using sim::Time;
using namespace jdbc;

constexpr int kMaxAcquireLoops = 3;

}  // namespace

JdbcJobStore::JdbcJobStore(const jobs::Ports& ports, std::string instance,
                           const SchedulerOptions& options, Definitions& definitions)
    : clock_(&ports.clock),
      sessions_(ports.database, ports.clock, options.connection_patience),
      instance_(std::move(instance)),
      options_(&options),
      definitions_(&definitions),
      ids_(instance_, ports.clock.wall_now()),
      last_check_in_(ports.clock.wall_now()) {}

void JdbcJobStore::lock(PooledConnection& connection, std::string_view name) {
    connection.execute(kLock, name);
}

// --- acquire

std::vector<HeldTrigger> JdbcJobStore::acquire(Time no_later_than, std::uint32_t count) {
    PooledConnection connection{sessions_};
    std::vector<HeldTrigger> acquired;
    bool in_transaction = false;
    try {
        if (options_->acquire_within_lock || options_->batch > 1) {
            connection.begin();
            in_transaction = true;
            lock(connection, kTriggerAccess);
        }
        for (int loop = 0; loop < kMaxAcquireLoops && acquired.empty(); ++loop) {
            const Result due =
                connection.execute(options_->editable ? kFindDueByPriority : kFindDue,
                                   milliseconds(no_later_than + options_->batch_window),
                                   milliseconds(now() - options_->misfire_threshold), count);
            if (due.empty()) break;
            acquire_from(due, no_later_than, connection, in_transaction, acquired);
        }
        if (in_transaction) connection.commit();
    } catch (const jobs::CommitOutcomeUnknown&) {
        if (!any_recorded(acquired, "ACQUIRED")) throw;
    } catch (const jobs::sql::ServerError&) {
        if (in_transaction) connection.roll_back();
        throw;
    }
    return acquired;
}

// What was read may be out of date by now: only the trigger's state is looked at again. The
// transaction begins here unless a lock began it, since nothing before needs one.
void JdbcJobStore::acquire_from(const Result& due, Time no_later_than, PooledConnection& connection,
                                bool& in_transaction, std::vector<HeldTrigger>& acquired) {
    if (!in_transaction) connection.begin();
    in_transaction = true;
    Time batch_end = no_later_than;
    std::vector<const ScheduledJob*> non_concurrent;
    for (std::size_t row = 0; row < due.rows(); ++row) {
        HeldTrigger trigger{.group = due.text(row, 0),
                            .name = due.text(row, 1),
                            .job = nullptr,
                            .fire_instance_id = {},
                            .scheduled = from_milliseconds(due.integer(row, 4)),
                            .next = {},
                            .disallow_concurrent = due.integer(row, 5) != 0,
                            .requests_recovery = due.integer(row, 6) != 0,
                            .recovering = due.text(row, 0) == kRecoveryGroup};
        trigger.job = definition_of(due, row, trigger);
        if (trigger.job == nullptr) {
            connection.execute(kSetError, trigger.group, trigger.name);
            continue;
        }
        if (trigger.disallow_concurrent) {
            const auto same_job = [&](const ScheduledJob* other) {
                return other->group_name() == trigger.job->group_name() &&
                       other->job == trigger.job->job;
            };
            if (std::ranges::any_of(non_concurrent, same_job)) continue;
            non_concurrent.push_back(trigger.job);
        }
        if (trigger.scheduled > batch_end) break;
        const Result taken = connection.execute(kTakeTrigger, trigger.group, trigger.name);
        if (taken.affected() == 0) continue;
        trigger.fire_instance_id = ids_.next();
        connection.execute(kInsertFired, trigger.fire_instance_id, trigger.group, trigger.name,
                           instance_, milliseconds(now()), milliseconds(trigger.scheduled));
        if (acquired.empty()) {
            batch_end = std::max(trigger.scheduled, now()) + options_->batch_window;
        }
        acquired.push_back(std::move(trigger));
    }
}

const ScheduledJob* JdbcJobStore::definition_of(const Result& due, std::size_t row,
                                                HeldTrigger& trigger) const {
    if (options_->editable) {
        trigger.definition = due.integer(row, 7);
        trigger.recovery_data = due.text(row, 8);
        return &definitions_->at(trigger.definition);
    }
    const auto& jobs = definitions_->jobs();
    if (trigger.recovering) return find_job(jobs, due.text(row, 2), due.text(row, 3));
    return find_trigger(jobs, trigger.group, trigger.name);
}

bool JdbcJobStore::any_recorded(std::span<const HeldTrigger> held, std::string_view state) {
    bool found = false;
    until_it_works([&] {
        found = false;
        PooledConnection connection{sessions_};
        connection.transaction([&] {
            for (const HeldTrigger& trigger : held) {
                // The server may still be at work on that COMMIT. Its row locks tell when it is
                // done; Quartz looks at once and can leave a trigger acquired by nobody.
                connection.execute(kAwaitTrigger, trigger.group, trigger.name);
                const Result row = connection.execute(kFiredState, trigger.fire_instance_id);
                if (!row.empty() && row.text(0, 0) == state) found = true;
            }
            return found;
        });
    });
    return found;
}

// --- fire, release, complete

FireResult JdbcJobStore::fire(std::vector<HeldTrigger> held) {
    FireResult result;
    PooledConnection connection{sessions_};
    try {
        connection.transaction([&] {
            lock(connection, kTriggerAccess);
            for (HeldTrigger& trigger : held) {
                auto& list = fire_one(connection, trigger) ? result.fired : result.refused;
                list.push_back(std::move(trigger));
            }
            return true;
        });
    } catch (const jobs::CommitOutcomeUnknown&) {
        if (!any_recorded(result.fired, "EXECUTING")) throw;
    }
    return result;
}

bool JdbcJobStore::fire_one(PooledConnection& connection, HeldTrigger& held) {
    const Result state = connection.execute(kTriggerState, held.group, held.name);
    if (state.empty() || state.text(0, 0) != "ACQUIRED") return false;
    const ScheduledJob& job = *held.job;
    if (options_->editable && !load_job(connection, held)) return false;
    connection.execute(kMarkExecuting, held.fire_instance_id, milliseconds(now()), job.group_name(),
                       job.job, held.disallow_concurrent, held.requests_recovery);
    // From memory: a trigger that others have fired meanwhile is set back.
    if (!held.recovering) held.next = job.schedule.next_after(held.scheduled);
    std::string_view next_state = "WAITING";
    if (held.disallow_concurrent) next_state = "BLOCKED";
    if (!held.next) next_state = "COMPLETE";
    if (held.disallow_concurrent) {
        connection.execute(kAdvanceAndBlock, held.group, held.name, next_state,
                           milliseconds(held.next), milliseconds(held.scheduled), job.group_name(),
                           job.job);
    } else {
        connection.execute(kAdvance, held.group, held.name, next_state, milliseconds(held.next),
                           milliseconds(held.scheduled));
    }
    // The whole trigger is written back: an edit since it was acquired is undone.
    if (options_->editable) {
        connection.execute(kSetDefinition, held.group, held.name, held.definition,
                           job.schedule.text(), job.priority);
    }
    return true;
}

bool JdbcJobStore::load_job(PooledConnection& connection, HeldTrigger& held) {
    const Result job = connection.execute(kJobAtFire, held.job->group_name(), held.job->job);
    if (job.empty()) return false;
    held.disallow_concurrent = job.integer(0, 0) != 0;
    held.requests_recovery = job.integer(0, 1) != 0;
    held.parameters = job.text(0, 2);
    return true;
}

void JdbcJobStore::release(const HeldTrigger& held) {
    until_it_works([&] {
        PooledConnection connection{sessions_};
        connection.transaction([&] {
            lock(connection, kTriggerAccess);
            connection.execute(kGiveBackTrigger, held.group, held.name);
            return connection.execute(kDeleteFired, held.fire_instance_id);
        });
    });
}

void JdbcJobStore::complete(const HeldTrigger& fired) {
    until_it_works([&] {
        PooledConnection connection{sessions_};
        connection.transaction([&] {
            lock(connection, kTriggerAccess);
            if (!fired.next) {
                const Result over = connection.execute(kDeleteIfOver, fired.group, fired.name);
                if (options_->editable && over.affected() > 0) {
                    connection.execute(kDeleteDefinition, fired.group, fired.name);
                }
            }
            if (fired.disallow_concurrent) {
                connection.execute(kUnblockJob, fired.job->group_name(), fired.job->job);
            }
            return connection.execute(kDeleteFired, fired.fire_instance_id);
        });
    });
}

// --- misfires

JdbcJobStore::Misfires JdbcJobStore::handle_misfires() {
    constexpr std::size_t kAtATime = 20;
    PooledConnection connection{sessions_};
    // Most of the time there are none, which needs no lock to be seen.
    const Result count =
        connection.execute(kCountMisfired, milliseconds(now() - options_->misfire_threshold));
    if (count.integer(0, 0) == 0) return {};
    return connection.transaction([&] {
        lock(connection, kTriggerAccess);
        const Result misfired =
            connection.execute(options_->editable ? kFindMisfiredEditable : kFindMisfired,
                               milliseconds(now() - options_->misfire_threshold), kAtATime + 1);
        const std::size_t handled = std::min(misfired.rows(), kAtATime);
        for (std::size_t row = 0; row < handled; ++row) {
            MisfiredTrigger trigger{.group = misfired.text(row, 0),
                                    .name = misfired.text(row, 1),
                                    .job_group = misfired.text(row, 2),
                                    .job_name = misfired.text(row, 3),
                                    .missed = {}};
            if (options_->editable) trigger.missed = from_milliseconds(misfired.integer(row, 4));
            reschedule_misfired(connection, *options_, *definitions_, trigger, now());
        }
        return Misfires{.handled = static_cast<std::uint32_t>(handled),
                        .more = misfired.rows() > kAtATime};
    });
}

}  // namespace fencepost::model
