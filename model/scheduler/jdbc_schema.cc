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

}  // namespace

std::string_view scheduler_schema() {
    return R"(
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
}

std::string scheduler_rows(std::span<const ScheduledJob> jobs) {
    std::string script;
    std::set<std::pair<std::string, std::string>> known_jobs;
    std::set<std::pair<std::string, std::string>> known_triggers;
    for (const ScheduledJob& job : jobs) {
        if (known_jobs.emplace(job.tenant, job.job).second) {
            script += fmt::format(
                "INSERT INTO qrtz_job_details"
                " (job_group, job_name, is_nonconcurrent, requests_recovery)"
                " VALUES ({}, {}, {}, {});\n",
                quoted(job.tenant), quoted(job.job), job.disallow_concurrent ? 1 : 0,
                job.requests_recovery ? 1 : 0);
        }
        sim::require(known_triggers.emplace(job.tenant, job.trigger_name()).second,
                     "each trigger of a tenant has its own name");
        const auto first = std::chrono::floor<std::chrono::milliseconds>(job.schedule.first());
        script += fmt::format(
            "INSERT INTO qrtz_triggers (trigger_group, trigger_name, job_group, job_name,"
            " next_fire_time, prev_fire_time, trigger_state, misfire_instr)"
            " VALUES ({}, {}, {}, {}, {}, -1, 'WAITING', {});\n",
            quoted(job.tenant), quoted(job.trigger_name()), quoted(job.tenant), quoted(job.job),
            first.time_since_epoch().count(), misfire_instruction(job.misfire));
    }
    return script;
}

}  // namespace fencepost::model
