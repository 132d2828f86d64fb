// The tables of a clustered Quartz job store, with the columns that its decisions need, and the
// rows that they start with. Instants are milliseconds since the epoch; a next_fire_time of -1 is
// none; flags are 0 or 1. Job and trigger groups are tenants.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/scheduler/scheduled_job.h"

namespace fencepost::model {

// CREATE TABLE statements and the rows of the locks.
std::string_view scheduler_schema();

// INSERT statements for these jobs and their triggers, each trigger at its first instant.
std::string scheduler_rows(std::span<const ScheduledJob> jobs);

// The group of the triggers that recovery makes.
inline constexpr std::string_view kRecoveryGroup = "RECOVERING_JOBS";

}  // namespace fencepost::model
