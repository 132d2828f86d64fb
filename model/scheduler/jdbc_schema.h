// The tables of a clustered Quartz job store, with the columns that its decisions need, and the
// rows that they start with. Instants are milliseconds since the epoch; a next_fire_time of -1 is
// none; flags are 0 or 1.
//
// An editable store has two more, which hold what Quartz keeps in further columns and in the tables
// of trigger types: of jobs and of triggers, the number of their definition.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/scheduler/scheduled_job.h"

namespace fencepost::model {

// CREATE TABLE statements and the rows of the locks.
std::string scheduler_schema(const SchedulerOptions& options = {});

// INSERT statements for these jobs and their triggers, each trigger at its first instant.
std::string scheduler_rows(std::span<const ScheduledJob> jobs,
                           const SchedulerOptions& options = {});

// As the tables have it: 0, or -1 to ignore misfires, or 2 to do nothing about them.
int misfire_instruction(MisfirePolicy policy);

// The group of the triggers that recovery makes.
inline constexpr std::string_view kRecoveryGroup = "RECOVERING_JOBS";

}  // namespace fencepost::model
