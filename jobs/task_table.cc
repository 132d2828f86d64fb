#include "jobs/task_table.h"

#include <algorithm>

#include "jobs/ports/errors.h"

namespace fencepost::jobs {

std::string_view task_schema() {
    return R"(
CREATE TABLE background_task (
    tenant TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    job TEXT NOT NULL,
    version BIGINT NOT NULL,
    status TEXT NOT NULL,
    owner TEXT,
    lease_until_us BIGINT,
    fencing_token BIGINT NOT NULL DEFAULT 0,
    attempts BIGINT NOT NULL DEFAULT 0,
    most_attempts BIGINT NOT NULL,
    executions BIGINT NOT NULL DEFAULT 0,
    created_us BIGINT NOT NULL,
    next_run_us BIGINT NOT NULL,
    checkpoint TEXT,
    concurrency_key TEXT NOT NULL,
    current_count BIGINT NOT NULL DEFAULT 0,
    total_count BIGINT,
    percent BIGINT,
    cancel_requested BIGINT NOT NULL DEFAULT 0,
    needs_person BIGINT NOT NULL DEFAULT 0,
    last_error TEXT,
    PRIMARY KEY (tenant, idempotency_key)
);
)";
}

namespace tasks {
namespace {

std::int64_t microseconds(Duration duration) {
    return std::chrono::floor<std::chrono::microseconds>(duration).count();
}

// The whole percentage, short of 100: that is for success alone.
std::optional<std::int64_t> percent_of(const Progress& progress) {
    if (!progress.total || *progress.total <= 0) return std::nullopt;
    constexpr std::int64_t kMost = 99;
    return std::clamp<std::int64_t>(progress.current * 100 / *progress.total, 0, kMost);
}

void require_held(const sql::Result& written, const HeldTask& task) {
    if (written.affected() != 1)
        throw Fenced("the task " + task.id.key + " has a newer holder or none");
}

}  // namespace

bool enqueue(sql::Session& session, const NewTask& task) {
    const sql::Result inserted = session.execute(
        "INSERT INTO background_task (tenant, idempotency_key, job, version, status, "
        "most_attempts, created_us, next_run_us, concurrency_key) "
        "VALUES ($1, $2, $3, $4, 'Pending', $5, db_now_us(), db_now_us(), $6) "
        "ON CONFLICT (tenant, idempotency_key) DO NOTHING",
        task.id.tenant, task.id.key, task.job, task.version, task.most_attempts, task.concurrency);
    return inserted.affected() == 1;
}

bool has_ended(sql::Session& session, const TaskId& id) {
    const sql::Result ended = session.execute(
        "SELECT status FROM background_task WHERE tenant = $1 AND idempotency_key = $2 "
        "AND status IN ('Succeeded', 'Failed', 'Canceled')",
        id.tenant, id.key);
    return ended.rows() > 0;
}

std::optional<FoundTask> look(sql::Session& session, std::int64_t version) {
    const sql::Result rows = session.execute(
        "SELECT tenant, idempotency_key, fencing_token, "
        "CASE WHEN status <> 'Running' THEN 0 WHEN cancel_requested = 1 THEN 1 "
        "WHEN attempts + 1 >= most_attempts THEN 2 ELSE 0 END "
        "FROM background_task WHERE version <= $1 AND "
        "((status IN ('Pending', 'Retrying') AND next_run_us <= db_now_us()) "
        "OR (status = 'Running' AND lease_until_us <= db_now_us())) "
        "ORDER BY created_us, tenant, idempotency_key LIMIT 1",
        version);
    if (rows.rows() == 0) return std::nullopt;
    return FoundTask{{rows.text(0, 0), rows.text(0, 1)},
                     FencingToken{rows.integer(0, 2)},
                     static_cast<FoundTask::Need>(rows.integer(0, 3))};
}

// The token that was seen stands for the whole row: whoever claimed it since has raised it.
std::optional<HeldTask> claim(sql::Session& session, const FoundTask& found,
                              const std::string& owner, Duration lease) {
    const sql::Result taken = session.execute(
        "UPDATE background_task SET status = 'Running', owner = $4, "
        "lease_until_us = db_now_us() + $5, fencing_token = fencing_token + 1, "
        "executions = executions + 1, "
        "attempts = attempts + CASE WHEN status = 'Running' THEN 1 ELSE 0 END "
        "WHERE tenant = $1 AND idempotency_key = $2 AND fencing_token = $3 AND "
        "((status IN ('Pending', 'Retrying') AND next_run_us <= db_now_us()) "
        "OR (status = 'Running' AND lease_until_us <= db_now_us() AND cancel_requested = 0)) "
        "RETURNING job, concurrency_key, fencing_token, checkpoint, current_count, attempts, "
        "executions",
        found.id.tenant, found.id.key, found.seen.value, owner, microseconds(lease));
    if (taken.rows() == 0) return std::nullopt;
    HeldTask task{.id = found.id,
                  .job = taken.text(0, 0),
                  .concurrency = taken.text(0, 1),
                  .owner = owner,
                  .token = FencingToken{taken.integer(0, 2)},
                  .checkpoint = std::nullopt,
                  .current = taken.integer(0, 4),
                  .attempts = taken.integer(0, 5),
                  .executions = taken.integer(0, 6)};
    if (!taken.is_null(0, 3)) task.checkpoint = Checkpoint{taken.text(0, 3)};
    return task;
}

void settle(sql::Session& session, const FoundTask& found) {
    if (found.need == FoundTask::Need::Cancel) {
        session.execute(
            "UPDATE background_task SET status = 'Canceled' "
            "WHERE tenant = $1 AND idempotency_key = $2 AND fencing_token = $3 "
            "AND status = 'Running' AND lease_until_us <= db_now_us() AND cancel_requested = 1",
            found.id.tenant, found.id.key, found.seen.value);
    } else if (found.need == FoundTask::Need::GiveUp) {
        session.execute(
            "UPDATE background_task SET status = 'Failed', attempts = attempts + 1, "
            "needs_person = 1, last_error = 'its last holder left it behind' "
            "WHERE tenant = $1 AND idempotency_key = $2 AND fencing_token = $3 "
            "AND status = 'Running' AND lease_until_us <= db_now_us() "
            "AND attempts + 1 >= most_attempts",
            found.id.tenant, found.id.key, found.seen.value);
    }
}

// A lease that has run out and that nobody has taken is still the holder's to renew.
Renewal renew(sql::Session& session, const HeldTask& task, Duration lease) {
    const sql::Result renewed = session.execute(
        "UPDATE background_task SET lease_until_us = db_now_us() + $5 "
        "WHERE tenant = $1 AND idempotency_key = $2 AND owner = $3 AND fencing_token = $4 "
        "AND status = 'Running' RETURNING cancel_requested",
        task.id.tenant, task.id.key, task.owner, task.token.value, microseconds(lease));
    if (renewed.rows() == 0) return Renewal::Lost;
    return renewed.integer(0, 0) == 1 ? Renewal::CancelRequested : Renewal::Held;
}

void end_batch(sql::Transaction& transaction, const HeldTask& task, const BatchEnd& end) {
    if (!end.has_more) {
        require_held(transaction.execute(
                         "UPDATE background_task SET status = 'Succeeded', checkpoint = $5, "
                         "current_count = $6, total_count = $7, percent = 100, last_error = NULL "
                         "WHERE tenant = $1 AND idempotency_key = $2 AND owner = $3 "
                         "AND fencing_token = $4 AND status = 'Running'",
                         task.id.tenant, task.id.key, task.owner, task.token.value,
                         end.checkpoint.position, end.progress.current, end.progress.total),
                     task);
        return;
    }
    const Duration delay = std::max<Duration>(end.next_delay, std::chrono::seconds{1});
    require_held(
        transaction.execute(
            "UPDATE background_task SET checkpoint = $5, current_count = $6, total_count = $7, "
            "percent = $8, next_run_us = db_now_us() + $9, owner = NULL, lease_until_us = NULL, "
            "status = CASE WHEN cancel_requested = 1 THEN 'Canceled' ELSE 'Pending' END "
            "WHERE tenant = $1 AND idempotency_key = $2 AND owner = $3 "
            "AND fencing_token = $4 AND status = 'Running'",
            task.id.tenant, task.id.key, task.owner, task.token.value, end.checkpoint.position,
            end.progress.current, end.progress.total, percent_of(end.progress),
            microseconds(delay)),
        task);
}

void defer(sql::Session& session, const HeldTask& task, Duration delay) {
    require_held(
        session.execute(
            "UPDATE background_task SET owner = NULL, lease_until_us = NULL, "
            "next_run_us = db_now_us() + $5, "
            "status = CASE WHEN cancel_requested = 1 THEN 'Canceled' ELSE 'Pending' END "
            "WHERE tenant = $1 AND idempotency_key = $2 AND owner = $3 AND fencing_token = $4 "
            "AND status = 'Running'",
            task.id.tenant, task.id.key, task.owner, task.token.value, microseconds(delay)),
        task);
}

void retry(sql::Session& session, const HeldTask& task, Duration delay, std::string_view error) {
    require_held(
        session.execute(
            "UPDATE background_task SET owner = NULL, lease_until_us = NULL, "
            "attempts = attempts + 1, next_run_us = db_now_us() + $5, last_error = $6, "
            "status = CASE WHEN cancel_requested = 1 THEN 'Canceled' "
            "WHEN attempts + 1 >= most_attempts THEN 'Failed' ELSE 'Retrying' END, "
            "needs_person = CASE WHEN cancel_requested = 0 AND attempts + 1 >= most_attempts "
            "THEN 1 ELSE 0 END "
            "WHERE tenant = $1 AND idempotency_key = $2 AND owner = $3 AND fencing_token = $4 "
            "AND status = 'Running'",
            task.id.tenant, task.id.key, task.owner, task.token.value, microseconds(delay), error),
        task);
}

void fail(sql::Session& session, const HeldTask& task, std::string_view error) {
    require_held(
        session.execute(
            "UPDATE background_task SET status = 'Failed', owner = NULL, lease_until_us = NULL, "
            "attempts = attempts + 1, needs_person = 1, last_error = $5 "
            "WHERE tenant = $1 AND idempotency_key = $2 AND owner = $3 AND fencing_token = $4 "
            "AND status = 'Running'",
            task.id.tenant, task.id.key, task.owner, task.token.value, error),
        task);
}

void cancel(sql::Session& session, const HeldTask& task) {
    require_held(
        session.execute(
            "UPDATE background_task SET status = 'Canceled', owner = NULL, lease_until_us = NULL "
            "WHERE tenant = $1 AND idempotency_key = $2 AND owner = $3 AND fencing_token = $4 "
            "AND status = 'Running' AND cancel_requested = 1",
            task.id.tenant, task.id.key, task.owner, task.token.value),
        task);
}

CancelAnswer request_cancel(sql::Session& session, const TaskId& id) {
    const sql::Result asked = session.execute(
        "UPDATE background_task SET cancel_requested = 1, "
        "status = CASE WHEN status = 'Running' AND lease_until_us > db_now_us() THEN 'Running' "
        "ELSE 'Canceled' END "
        "WHERE tenant = $1 AND idempotency_key = $2 "
        "AND status IN ('Pending', 'Retrying', 'Running') RETURNING status",
        id.tenant, id.key);
    if (asked.rows() == 0) return CancelAnswer::TooLate;
    return asked.text(0, 0) == "Canceled" ? CancelAnswer::Canceled : CancelAnswer::Requested;
}

std::vector<FailedTask> for_a_person(sql::Session& session, std::int64_t limit) {
    const sql::Result rows = session.execute(
        "SELECT tenant, idempotency_key, job, last_error FROM background_task "
        "WHERE status = 'Failed' AND needs_person = 1 "
        "ORDER BY created_us, tenant, idempotency_key LIMIT $1",
        limit);
    std::vector<FailedTask> failed;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        failed.push_back({{rows.text(row, 0), rows.text(row, 1)},
                          rows.text(row, 2),
                          rows.is_null(row, 3) ? std::string{} : rows.text(row, 3)});
    }
    return failed;
}

bool try_again(sql::Session& session, const TaskId& id) {
    const sql::Result written = session.execute(
        "UPDATE background_task SET status = 'Pending', attempts = 0, needs_person = 0, "
        "next_run_us = db_now_us() "
        "WHERE tenant = $1 AND idempotency_key = $2 AND status = 'Failed' AND needs_person = 1",
        id.tenant, id.key);
    return written.affected() == 1;
}

}  // namespace tasks
}  // namespace fencepost::jobs
