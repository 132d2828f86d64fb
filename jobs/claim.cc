#include "jobs/claim.h"

#include "jobs/ports/errors.h"

namespace fencepost::jobs {

std::string_view claim_schema() {
    return R"(
CREATE TABLE job_claim (
    business_key TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    job TEXT NOT NULL,
    scheduled_us BIGINT NOT NULL,
    status TEXT NOT NULL,
    owner TEXT,
    fencing_token BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    checkpoint TEXT,
    current_count BIGINT NOT NULL,
    total_count BIGINT,
    last_error TEXT,
    updated_us BIGINT NOT NULL
);
CREATE TABLE job_fence (
    scope TEXT PRIMARY KEY,
    fencing_token BIGINT NOT NULL
);
)";
}

namespace claims {
namespace {

std::int64_t microseconds(WallTime time) {
    return std::chrono::floor<std::chrono::microseconds>(time).time_since_epoch().count();
}

// Tokens are counted for a tenant's job: the rows that it writes are shared by all its days.
std::string scope_of(const Fire& fire) {
    return fire.tenant + "/" + fire.job;
}

FencingToken next_token(sql::Transaction& transaction, const std::string& scope) {
    static constexpr std::string_view kRaise =
        "INSERT INTO job_fence (scope, fencing_token) VALUES ($1, 1) "
        "ON CONFLICT (scope) DO UPDATE SET fencing_token = job_fence.fencing_token + 1 "
        "RETURNING fencing_token";
    return FencingToken{transaction.execute(kRaise, scope).integer(0, 0)};
}

}  // namespace

void record(sql::Session& session, const BusinessKey& key, const Fire& fire) {
    session.execute(
        "INSERT INTO job_claim (business_key, tenant, job, scheduled_us, status, fencing_token, "
        "attempts, current_count, updated_us) "
        "VALUES ($1, $2, $3, $4, 'pending', 0, 0, 0, db_now_us()) "
        "ON CONFLICT (business_key) DO NOTHING",
        key.text(), fire.tenant, fire.job, microseconds(fire.scheduled_fire_time));
}

std::optional<Claim> take(sql::Session& session, const BusinessKey& key, const Fire& fire,
                          const std::string& owner) {
    sql::Transaction transaction{session};
    const FencingToken token = next_token(transaction, scope_of(fire));
    const sql::Result taken = transaction.execute(
        "UPDATE job_claim SET status = 'running', owner = $2, fencing_token = $3, "
        "attempts = attempts + 1, updated_us = db_now_us() "
        "WHERE business_key = $1 AND status IN ('pending', 'running') "
        "RETURNING checkpoint, current_count, attempts",
        key.text(), owner, token.value);
    if (taken.rows() == 0) return std::nullopt;
    Claim claim{key, owner, token, std::nullopt, taken.integer(0, 1), taken.integer(0, 2)};
    if (!taken.is_null(0, 0)) claim.checkpoint = Checkpoint{taken.text(0, 0)};
    transaction.commit();
    return claim;
}

void advance(sql::Transaction& transaction, const Claim& claim, const Checkpoint& next,
             const Progress& progress) {
    const sql::Value known =
        claim.checkpoint ? sql::Value{claim.checkpoint->position} : sql::Value{};
    const sql::Value total = progress.total ? sql::Value{*progress.total} : sql::Value{};
    const sql::Result moved = transaction.execute(
        "UPDATE job_claim SET checkpoint = $4, current_count = $5, total_count = $6, "
        "updated_us = db_now_us() "
        "WHERE business_key = $1 AND owner = $2 AND fencing_token = $3 AND status = 'running' "
        "AND checkpoint IS NOT DISTINCT FROM $7",
        claim.key.text(), claim.owner, claim.token.value, next.position, progress.current,
        progress.total, known);
    if (moved.affected() != 1)
        throw Fenced("the claim " + claim.key.text() + " has a newer holder");
}

void finish(sql::Session& session, const Claim& claim, std::string_view status,
            std::string_view error) {
    const sql::Result finished = session.execute(
        "UPDATE job_claim SET status = $4, last_error = $5, updated_us = db_now_us() "
        "WHERE business_key = $1 AND owner = $2 AND fencing_token = $3 AND status = 'running'",
        claim.key.text(), claim.owner, claim.token.value, status,
        error.empty() ? std::nullopt : std::optional{error});
    if (finished.affected() != 1)
        throw Fenced("the claim " + claim.key.text() + " has a newer holder");
}

WallTime database_now(sql::Session& session) {
    const sql::Result now = session.execute("SELECT db_now_us()");
    return WallTime{std::chrono::microseconds{now.integer(0, 0)}};
}

std::vector<Fire> unfinished(sql::Session& session, Duration idle,
                             const std::vector<std::string>& jobs, std::int64_t limit) {
    std::vector<sql::Value> values{std::chrono::floor<std::chrono::microseconds>(idle).count(),
                                   limit};
    std::string of_jobs;
    for (const std::string& job : jobs) {
        values.emplace_back(job);
        of_jobs += (of_jobs.empty() ? "AND job IN ($" : ", $") + std::to_string(values.size());
    }
    if (!of_jobs.empty()) of_jobs += ") ";
    const sql::Result rows = session.run(
        "SELECT tenant, job, scheduled_us FROM job_claim "
        "WHERE status IN ('pending', 'running') AND updated_us <= db_now_us() - $1 " +
            of_jobs + "ORDER BY scheduled_us, business_key LIMIT $2",
        values);
    std::vector<Fire> fires;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const WallTime scheduled{std::chrono::microseconds{rows.integer(row, 2)}};
        fires.push_back({.tenant = rows.text(row, 0),
                         .job = rows.text(row, 1),
                         .fire_instance_id = {},
                         .scheduled_fire_time = scheduled,
                         .recovering = true});
    }
    return fires;
}

std::vector<FailedClaim> for_a_person(sql::Session& session, std::int64_t limit) {
    const sql::Result rows = session.execute(
        "SELECT business_key, last_error FROM job_claim WHERE status = 'failed' "
        "ORDER BY scheduled_us, business_key LIMIT $1",
        limit);
    std::vector<FailedClaim> failed;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        failed.push_back(
            {rows.text(row, 0), rows.is_null(row, 1) ? std::string{} : rows.text(row, 1)});
    }
    return failed;
}

}  // namespace claims
}  // namespace fencepost::jobs
