// What the clustered job store does by the definitions of its triggers, besides firing them.
#pragma once

#include <optional>
#include <string>

#include "model/scheduler/definitions.h"
#include "model/scheduler/session_pool.h"

namespace fencepost::model {

struct MisfiredTrigger {
    std::string group;
    std::string name;
    std::string job_group;
    std::string job_name;
    std::optional<sim::Time> missed;  // in an editable store
};

// Gives a trigger that misfired its next instant, by its policy, and its state: BLOCKED while a job
// that may not run concurrently does run. Within a transaction under TRIGGER_ACCESS.
void reschedule_misfired(PooledConnection& connection, const SchedulerOptions& options,
                         Definitions& definitions, const MisfiredTrigger& trigger, sim::Time now);

// A fire that is run again.
struct FailedFire {
    std::string trigger_group;
    std::string trigger_name;
    std::string job_group;
    std::string job_name;
    std::int64_t fired_ms = 0;
    std::int64_t scheduled_ms = 0;
};

// What the job is told of the fire that it repeats: "QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME=…" and the
// trigger's group, the time of its fire and its scheduled time, a line each. Of a recovery run that
// failed itself, the trigger is the one that recovery made; the scheduled time is the first one's.
std::string recovery_data(const FailedFire& fire);

// In an editable store, the definition of the trigger that recovery has made.
void store_recovery_definition(PooledConnection& connection, const std::string& recovery_trigger,
                               const FailedFire& fire);

}  // namespace fencepost::model
