#include "model/scheduler/jdbc_definitions.h"

#include <fmt/format.h>

#include <string_view>

#include "model/scheduler/jdbc_schema.h"
#include "model/scheduler/jdbc_statements.h"
#include "model/scheduler/jdbc_time.h"

namespace fencepost::model {

using jobs::sql::Result;
using namespace jdbc;

namespace {

const ScheduledJob* definition_of(PooledConnection& connection, const SchedulerOptions& options,
                                  const Definitions& definitions, const MisfiredTrigger& trigger) {
    if (!options.editable) return find_trigger(definitions.jobs(), trigger.group, trigger.name);
    const Result stored = connection.execute(kDefinitionOfTrigger, trigger.group, trigger.name);
    return stored.empty() ? nullptr : &definitions.at(stored.integer(0, 0));
}

}  // namespace

void reschedule_misfired(PooledConnection& connection, const SchedulerOptions& options,
                         Definitions& definitions, const MisfiredTrigger& trigger, sim::Time now) {
    const ScheduledJob* job = definition_of(connection, options, definitions, trigger);
    if (job == nullptr) {
        connection.execute(kSetError, trigger.group, trigger.name);
        return;
    }
    const MisfireOutcome outcome = after_misfire(job->misfire, job->schedule, trigger.missed, now);
    std::string_view state = outcome.next ? "WAITING" : "COMPLETE";
    if (outcome.next && job->disallow_concurrent) {
        const Result fires =
            connection.execute(kBlockingFires, trigger.job_group, trigger.job_name);
        if (!fires.empty()) state = "BLOCKED";
    }
    connection.execute(kReschedule, trigger.group, trigger.name, state, milliseconds(outcome.next));
    // Only an editable store can keep that an interval began anew; else its grid stays.
    if (options.editable && outcome.schedule) {
        ScheduledJob moved = *job;
        moved.schedule = *outcome.schedule;
        const std::int64_t number = definitions.add(moved);
        connection.execute(kSetDefinition, trigger.group, trigger.name, number,
                           moved.schedule.text(), moved.priority);
    }
}

std::string recovery_data(const FailedFire& fire) {
    return fmt::format(
        "QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME={}\n"
        "QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP={}\n"
        "QRTZ_FAILED_JOB_ORIG_TRIGGER_FIRETIME_IN_MILLISECONDS_AS_STRING={}\n"
        "QRTZ_FAILED_JOB_ORIG_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS_AS_STRING={}\n",
        fire.trigger_name, fire.trigger_group, fire.fired_ms, fire.scheduled_ms);
}

void store_recovery_definition(PooledConnection& connection, const std::string& recovery_trigger,
                               const FailedFire& fire) {
    Result stored = connection.execute(kDefinitionToRecover, fire.trigger_group, fire.trigger_name);
    // The trigger is gone meanwhile: the job still knows what it is.
    if (stored.empty()) {
        stored = connection.execute(kDefinitionOfJob, fire.job_group, fire.job_name);
    }
    if (stored.empty()) return;
    connection.execute(kInsertRecoveryDefinition, kRecoveryGroup, recovery_trigger,
                       stored.integer(0, 0), stored.integer(0, 1), std::string_view{"once"},
                       recovery_data(fire));
}

}  // namespace fencepost::model
