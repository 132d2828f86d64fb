// The SQL of the clustered job store, in PostgreSQL's dialect.
//
// Quartz sends more and smaller statements within the same transactions; where several read or
// change the same rows under one lock, they are one here.
#pragma once

#include <string_view>

namespace fencepost::model::jdbc {

inline constexpr std::string_view kLock =
    "SELECT lock_name FROM qrtz_locks WHERE lock_name = $1 FOR UPDATE";
inline constexpr std::string_view kTriggerAccess = "TRIGGER_ACCESS";
inline constexpr std::string_view kStateAccess = "STATE_ACCESS";

// --- acquire and release
inline constexpr std::string_view kFindDue =
    "SELECT t.trigger_group, t.trigger_name, t.job_group, t.job_name, t.next_fire_time,"
    " j.is_nonconcurrent, j.requests_recovery"
    " FROM qrtz_triggers t"
    " JOIN qrtz_job_details j ON j.job_group = t.job_group AND j.job_name = t.job_name"
    " WHERE t.trigger_state = 'WAITING' AND t.next_fire_time <= $1"
    " AND (t.misfire_instr = -1 OR t.next_fire_time >= $2)"
    " ORDER BY t.next_fire_time, t.trigger_group, t.trigger_name LIMIT $3";
// In an editable store.
inline constexpr std::string_view kFindDueByPriority =
    "SELECT t.trigger_group, t.trigger_name, t.job_group, t.job_name, t.next_fire_time,"
    " j.is_nonconcurrent, j.requests_recovery, d.definition, d.recovery_data"
    " FROM qrtz_triggers t"
    " JOIN qrtz_job_details j ON j.job_group = t.job_group AND j.job_name = t.job_name"
    " JOIN qrtz_trigger_definitions d"
    " ON d.trigger_group = t.trigger_group AND d.trigger_name = t.trigger_name"
    " WHERE t.trigger_state = 'WAITING' AND t.next_fire_time <= $1"
    " AND (t.misfire_instr = -1 OR t.next_fire_time >= $2)"
    " ORDER BY t.next_fire_time, d.priority DESC, t.trigger_group, t.trigger_name LIMIT $3";
inline constexpr std::string_view kTakeTrigger =
    "UPDATE qrtz_triggers SET trigger_state = 'ACQUIRED'"
    " WHERE trigger_group = $1 AND trigger_name = $2 AND trigger_state = 'WAITING'";
inline constexpr std::string_view kSetError =
    "UPDATE qrtz_triggers SET trigger_state = 'ERROR'"
    " WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kInsertFired =
    "INSERT INTO qrtz_fired_triggers (entry_id, trigger_group, trigger_name, instance_name,"
    " fired_time, sched_time, state, is_nonconcurrent, requests_recovery)"
    " VALUES ($1, $2, $3, $4, $5, $6, 'ACQUIRED', 0, 0)";
inline constexpr std::string_view kGiveBackTrigger =
    "UPDATE qrtz_triggers SET trigger_state = 'WAITING'"
    " WHERE trigger_group = $1 AND trigger_name = $2"
    " AND trigger_state IN ('ACQUIRED', 'BLOCKED')";
inline constexpr std::string_view kDeleteFired =
    "DELETE FROM qrtz_fired_triggers WHERE entry_id = $1";
inline constexpr std::string_view kAwaitTrigger =
    "SELECT trigger_state FROM qrtz_triggers"
    " WHERE trigger_group = $1 AND trigger_name = $2 FOR UPDATE";
inline constexpr std::string_view kFiredState =
    "SELECT state FROM qrtz_fired_triggers WHERE entry_id = $1";

// --- fire and complete
inline constexpr std::string_view kTriggerState =
    "SELECT trigger_state FROM qrtz_triggers WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kJobAtFire =
    "SELECT j.is_nonconcurrent, j.requests_recovery, d.parameters FROM qrtz_job_details j"
    " JOIN qrtz_job_definitions d ON d.job_group = j.job_group AND d.job_name = j.job_name"
    " WHERE j.job_group = $1 AND j.job_name = $2";
inline constexpr std::string_view kSetDefinition =
    "UPDATE qrtz_trigger_definitions SET definition = $3, schedule = $4, priority = $5"
    " WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kDeleteDefinition =
    "DELETE FROM qrtz_trigger_definitions WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kMarkExecuting =
    "UPDATE qrtz_fired_triggers SET state = 'EXECUTING', fired_time = $2, job_group = $3,"
    " job_name = $4, is_nonconcurrent = $5, requests_recovery = $6 WHERE entry_id = $1";
inline constexpr std::string_view kAdvance =
    "UPDATE qrtz_triggers SET trigger_state = $3, next_fire_time = $4, prev_fire_time = $5"
    " WHERE trigger_group = $1 AND trigger_name = $2";
// Of the fired trigger and, because its job may not run concurrently, of that job's others.
inline constexpr std::string_view kAdvanceAndBlock =
    "UPDATE qrtz_triggers SET"
    " next_fire_time = CASE WHEN trigger_group = $1 AND trigger_name = $2 THEN $4"
    " ELSE next_fire_time END,"
    " prev_fire_time = CASE WHEN trigger_group = $1 AND trigger_name = $2 THEN $5"
    " ELSE prev_fire_time END,"
    " trigger_state = CASE WHEN trigger_group = $1 AND trigger_name = $2 THEN $3"
    " WHEN trigger_state = 'PAUSED' THEN 'PAUSED_BLOCKED' ELSE 'BLOCKED' END"
    " WHERE job_group = $6 AND job_name = $7"
    " AND trigger_state IN ('WAITING', 'ACQUIRED', 'PAUSED')";
inline constexpr std::string_view kDeleteIfOver =
    "DELETE FROM qrtz_triggers"
    " WHERE trigger_group = $1 AND trigger_name = $2 AND next_fire_time = -1";
inline constexpr std::string_view kUnblockJob =
    "UPDATE qrtz_triggers SET trigger_state ="
    " CASE WHEN trigger_state = 'BLOCKED' THEN 'WAITING' ELSE 'PAUSED' END"
    " WHERE job_group = $1 AND job_name = $2 AND trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED')";

// --- check-in and recovery
inline constexpr std::string_view kSchedulerStates =
    "SELECT instance_name, last_checkin_time, checkin_interval"
    " FROM qrtz_scheduler_state ORDER BY instance_name";
inline constexpr std::string_view kFiringInstances =
    "SELECT DISTINCT instance_name FROM qrtz_fired_triggers ORDER BY instance_name";
inline constexpr std::string_view kCheckIn =
    "INSERT INTO qrtz_scheduler_state (instance_name, last_checkin_time, checkin_interval)"
    " VALUES ($1, $2, $3)"
    " ON CONFLICT (instance_name) DO UPDATE SET last_checkin_time = excluded.last_checkin_time";
inline constexpr std::string_view kFiredOf =
    "SELECT trigger_group, trigger_name, state, sched_time, job_group, job_name,"
    " is_nonconcurrent, requests_recovery"
    " FROM qrtz_fired_triggers WHERE instance_name = $1 ORDER BY entry_id";
inline constexpr std::string_view kFiredOfEditable =
    "SELECT trigger_group, trigger_name, state, sched_time, job_group, job_name,"
    " is_nonconcurrent, requests_recovery, fired_time"
    " FROM qrtz_fired_triggers WHERE instance_name = $1 ORDER BY entry_id";
inline constexpr std::string_view kFreeAcquired =
    "UPDATE qrtz_triggers SET trigger_state = 'WAITING'"
    " WHERE trigger_group = $1 AND trigger_name = $2 AND trigger_state = 'ACQUIRED'";
inline constexpr std::string_view kJobExists =
    "SELECT job_name FROM qrtz_job_details WHERE job_group = $1 AND job_name = $2";
inline constexpr std::string_view kInsertRecovery =
    "INSERT INTO qrtz_triggers (trigger_group, trigger_name, job_group, job_name,"
    " next_fire_time, prev_fire_time, trigger_state, misfire_instr)"
    " VALUES ($1, $2, $3, $4, $5, -1, 'WAITING', -1)";
inline constexpr std::string_view kDefinitionToRecover =
    "SELECT definition, priority FROM qrtz_trigger_definitions"
    " WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kDefinitionOfJob =
    "SELECT definition, 5 FROM qrtz_job_definitions WHERE job_group = $1 AND job_name = $2";
inline constexpr std::string_view kInsertRecoveryDefinition =
    "INSERT INTO qrtz_trigger_definitions"
    " (trigger_group, trigger_name, definition, priority, schedule, recovery_data)"
    " VALUES ($1, $2, $3, $4, $5, $6)";
inline constexpr std::string_view kDeleteFiredOf =
    "DELETE FROM qrtz_fired_triggers WHERE instance_name = $1";
inline constexpr std::string_view kFiredOfTrigger =
    "SELECT entry_id FROM qrtz_fired_triggers WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kDeleteIfComplete =
    "DELETE FROM qrtz_triggers"
    " WHERE trigger_group = $1 AND trigger_name = $2 AND trigger_state = 'COMPLETE'";
inline constexpr std::string_view kDeleteState =
    "DELETE FROM qrtz_scheduler_state WHERE instance_name = $1";

// --- misfires
inline constexpr std::string_view kCountMisfired =
    "SELECT COUNT(*) FROM qrtz_triggers"
    " WHERE trigger_state = 'WAITING' AND misfire_instr <> -1 AND next_fire_time < $1";
inline constexpr std::string_view kFindMisfired =
    "SELECT trigger_group, trigger_name, job_group, job_name FROM qrtz_triggers"
    " WHERE trigger_state = 'WAITING' AND misfire_instr <> -1 AND next_fire_time < $1"
    " ORDER BY next_fire_time, trigger_group, trigger_name LIMIT $2";
inline constexpr std::string_view kFindMisfiredEditable =
    "SELECT trigger_group, trigger_name, job_group, job_name, next_fire_time FROM qrtz_triggers"
    " WHERE trigger_state = 'WAITING' AND misfire_instr <> -1 AND next_fire_time < $1"
    " ORDER BY next_fire_time, trigger_group, trigger_name LIMIT $2";
inline constexpr std::string_view kBlockingFires =
    "SELECT entry_id FROM qrtz_fired_triggers"
    " WHERE job_group = $1 AND job_name = $2 AND is_nonconcurrent = 1";
inline constexpr std::string_view kDefinitionOfTrigger =
    "SELECT definition FROM qrtz_trigger_definitions"
    " WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kReschedule =
    "UPDATE qrtz_triggers SET trigger_state = $3, next_fire_time = $4"
    " WHERE trigger_group = $1 AND trigger_name = $2";

// --- what an operator does
inline constexpr std::string_view kTriggersOfJob =
    "SELECT trigger_group, trigger_name FROM qrtz_triggers"
    " WHERE job_group = $1 AND job_name = $2 ORDER BY trigger_group, trigger_name";
inline constexpr std::string_view kPause =
    "UPDATE qrtz_triggers SET trigger_state ="
    " CASE WHEN trigger_state = 'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE 'PAUSED' END"
    " WHERE trigger_group = $1 AND trigger_name = $2"
    " AND trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED')";
inline constexpr std::string_view kTriggerToResume =
    "SELECT trigger_state, next_fire_time, job_group, job_name, misfire_instr FROM qrtz_triggers"
    " WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kSetState =
    "UPDATE qrtz_triggers SET trigger_state = $3 WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kDeleteTrigger =
    "DELETE FROM qrtz_triggers WHERE trigger_group = $1 AND trigger_name = $2";
inline constexpr std::string_view kDeleteJob =
    "DELETE FROM qrtz_job_details WHERE job_group = $1 AND job_name = $2";
inline constexpr std::string_view kDeleteJobDefinition =
    "DELETE FROM qrtz_job_definitions WHERE job_group = $1 AND job_name = $2";
inline constexpr std::string_view kStoreJob =
    "INSERT INTO qrtz_job_details (job_group, job_name, is_nonconcurrent, requests_recovery)"
    " VALUES ($1, $2, $3, $4) ON CONFLICT (job_group, job_name) DO UPDATE"
    " SET is_nonconcurrent = excluded.is_nonconcurrent,"
    " requests_recovery = excluded.requests_recovery";
inline constexpr std::string_view kStoreJobDefinition =
    "INSERT INTO qrtz_job_definitions (job_group, job_name, definition, parameters)"
    " VALUES ($1, $2, $3, $4) ON CONFLICT (job_group, job_name) DO UPDATE"
    " SET definition = excluded.definition, parameters = excluded.parameters";
inline constexpr std::string_view kStoreTrigger =
    "INSERT INTO qrtz_triggers (trigger_group, trigger_name, job_group, job_name,"
    " next_fire_time, prev_fire_time, trigger_state, misfire_instr)"
    " VALUES ($1, $2, $3, $4, $5, -1, $6, $7) ON CONFLICT (trigger_group, trigger_name) DO UPDATE"
    " SET job_group = excluded.job_group, job_name = excluded.job_name,"
    " next_fire_time = excluded.next_fire_time, prev_fire_time = excluded.prev_fire_time,"
    " trigger_state = excluded.trigger_state, misfire_instr = excluded.misfire_instr";
inline constexpr std::string_view kStoreTriggerDefinition =
    "INSERT INTO qrtz_trigger_definitions"
    " (trigger_group, trigger_name, definition, priority, schedule, recovery_data)"
    " VALUES ($1, $2, $3, $4, $5, '') ON CONFLICT (trigger_group, trigger_name) DO UPDATE"
    " SET definition = excluded.definition, priority = excluded.priority,"
    " schedule = excluded.schedule, recovery_data = excluded.recovery_data";

// --- for who looks at the store from outside
inline constexpr std::string_view kAllTriggers =
    "SELECT trigger_group, trigger_name, job_group, job_name, next_fire_time, trigger_state"
    " FROM qrtz_triggers ORDER BY trigger_group, trigger_name";
inline constexpr std::string_view kExecuting =
    "SELECT entry_id, job_group, job_name, sched_time, instance_name FROM qrtz_fired_triggers"
    " WHERE state = 'EXECUTING' ORDER BY entry_id";

}  // namespace fencepost::model::jdbc
