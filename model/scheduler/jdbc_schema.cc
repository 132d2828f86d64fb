#include "model/scheduler/jdbc_schema.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "sim/require.h"

namespace fencepost::model {
namespace {

std::string quoted(std::string_view text) {
    std::string literal = "'";
    for (const char c : text) {
        if (c == '\'') literal += '\'';
        literal += c;
    }
    return literal + "'";
}

}  // namespace

int misfire_instruction(MisfirePolicy policy) {
    switch (policy) {
        case MisfirePolicy::Ignore:
            return -1;
        case MisfirePolicy::Smart:
            return 0;
        case MisfirePolicy::DoNothing:
            return 2;
    }
    return 0;
}

std::string scheduler_schema(const SchedulerOptions& options) {
    std::string script = R"(
CREATE TABLE qrtz_job_details (
    job_group TEXT NOT NULL,
    job_name TEXT NOT NULL,
    is_nonconcurrent BIGINT NOT NULL,
    requests_recovery BIGINT NOT NULL,
    PRIMARY KEY (job_group, job_name));
CREATE TABLE qrtz_triggers (
    trigger_group TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    job_group TEXT NOT NULL,
    job_name TEXT NOT NULL,
    next_fire_time BIGINT NOT NULL,
    prev_fire_time BIGINT NOT NULL,
    trigger_state TEXT NOT NULL,
    misfire_instr BIGINT NOT NULL,
    PRIMARY KEY (trigger_group, trigger_name));
CREATE TABLE qrtz_fired_triggers (
    entry_id TEXT NOT NULL PRIMARY KEY,
    trigger_group TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    instance_name TEXT NOT NULL,
    fired_time BIGINT NOT NULL,
    sched_time BIGINT NOT NULL,
    state TEXT NOT NULL,
    job_group TEXT,
    job_name TEXT,
    is_nonconcurrent BIGINT NOT NULL,
    requests_recovery BIGINT NOT NULL);
CREATE TABLE qrtz_scheduler_state (
    instance_name TEXT NOT NULL PRIMARY KEY,
    last_checkin_time BIGINT NOT NULL,
    checkin_interval BIGINT NOT NULL);
CREATE TABLE qrtz_locks (
    lock_name TEXT NOT NULL PRIMARY KEY);
INSERT INTO qrtz_locks (lock_name) VALUES ('STATE_ACCESS');
INSERT INTO qrtz_locks (lock_name) VALUES ('TRIGGER_ACCESS');
)";
    if (options.editable) {
        script += R"(
CREATE TABLE qrtz_job_definitions (
    job_group TEXT NOT NULL,
    job_name TEXT NOT NULL,
    definition BIGINT NOT NULL,
    parameters TEXT NOT NULL,
    PRIMARY KEY (job_group, job_name));
CREATE TABLE qrtz_trigger_definitions (
    trigger_group TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    definition BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    schedule TEXT NOT NULL,
    recovery_data TEXT NOT NULL,
    PRIMARY KEY (trigger_group, trigger_name));
)";
    }
    return script;
}

std::string scheduler_rows(std::span<const ScheduledJob> jobs, const SchedulerOptions& options) {
    std::string script;
    std::set<std::pair<std::string, std::string>> known_jobs;
    std::set<std::pair<std::string, std::string>> known_triggers;
    for (std::size_t number = 0; number < jobs.size(); ++number) {
        const ScheduledJob& job = jobs[number];
        sim::require(options.editable || (job.priority == 5 && job.parameters.empty()),
                     "priorities and parameters are kept in an editable store only");
        if (known_jobs.emplace(job.group_name(), job.job).second) {
            if (options.editable) {
                script += fmt::format(
                    "INSERT INTO qrtz_job_definitions (job_group, job_name, definition, parameters)"
                    " VALUES ({}, {}, {}, {});\n",
                    quoted(job.group_name()), quoted(job.job), number, quoted(job.parameters));
            }
            script += fmt::format(
                "INSERT INTO qrtz_job_details"
                " (job_group, job_name, is_nonconcurrent, requests_recovery)"
                " VALUES ({}, {}, {}, {});\n",
                quoted(job.group_name()), quoted(job.job), job.disallow_concurrent ? 1 : 0,
                job.requests_recovery ? 1 : 0);
        }
        sim::require(known_triggers.emplace(job.group_name(), job.trigger_name()).second,
                     "each trigger of a group has its own name");
        const auto first = std::chrono::floor<std::chrono::milliseconds>(job.schedule.first());
        script += fmt::format(
            "INSERT INTO qrtz_triggers (trigger_group, trigger_name, job_group, job_name,"
            " next_fire_time, prev_fire_time, trigger_state, misfire_instr)"
            " VALUES ({}, {}, {}, {}, {}, -1, 'WAITING', {});\n",
            quoted(job.group_name()), quoted(job.trigger_name()), quoted(job.group_name()),
            quoted(job.job), first.time_since_epoch().count(), misfire_instruction(job.misfire));
        if (options.editable) {
            script += fmt::format(
                "INSERT INTO qrtz_trigger_definitions"
                " (trigger_group, trigger_name, definition, priority, schedule, recovery_data)"
                " VALUES ({}, {}, {}, {}, {}, '');\n",
                quoted(job.group_name()), quoted(job.trigger_name()), number, job.priority,
                quoted(job.schedule.text()));
        }
    }
    return script;
}

}  // namespace fencepost::model
