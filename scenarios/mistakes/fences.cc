// Mistakes about whose write counts.
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::JobContext;
using jobs::Outcome;

namespace {

// Compares the token with the newest in the row, in memory, and then writes without a condition.
Outcome write_after_looking(JobContext& job) {
    const std::string& tenant = job.fire().tenant;
    const std::string day = jobs::utc_day(job.fire().scheduled_fire_time);
    const auto accounts = all_accounts(job.db(), job.fire());
    std::int64_t total = 0;
    for (const auto& account : accounts) {
        insert_line(job.db(), kInsertOrSkip, job.effect_key(account.id), job.fire(), account,
                    job.token().value);
        total += account.balance;
    }
    job.db().execute(
        "INSERT INTO ledger_summary (tenant, business_day, lines, total, fencing_token) "
        "VALUES ($1, $2, 0, 0, 0) ON CONFLICT (tenant, business_day) DO NOTHING",
        tenant, day);
    const auto newest = job.db().execute(
        "SELECT fencing_token FROM ledger_summary WHERE tenant = $1 AND business_day = $2", tenant,
        day);
    if (newest.integer(0, 0) <= job.token().value) {
        job.db().execute(
            "UPDATE ledger_summary SET lines = $3, total = $4, fencing_token = $5 "
            "WHERE tenant = $1 AND business_day = $2",
            tenant, day, accounts.size(), total, job.token().value);
    }
    return Outcome::succeeded();
}

}  // namespace

HandlerSpec fence_in_memory() {
    HandlerSpec spec =
        ledger_mistake("fence-in-memory",
                       "A token compared in memory is stale by the time the bare update arrives: "
                       "compare it in the write.",
                       {"fencing"}, {.claims = true, .fence = true, .lease = true}, nullptr);
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<WorkerProgram>(setting, write_after_looking);
    };
    return spec;
}

}  // namespace fencepost::scenarios
