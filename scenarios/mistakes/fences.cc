// Mistakes about whose write counts.
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::JobContext;
using jobs::Outcome;

namespace {

// The day's summary so far.
struct Summary {
    std::string tenant;
    std::string day;
    std::int64_t lines = 0;
    std::int64_t total = 0;
};

using Write = void (*)(JobContext&, const Summary&);

// Writes line after line, and the summary with each, as the mistake has it.
Outcome keep_summary(JobContext& job, jobs::Clock& clock, jobs::Duration delay, Write write) {
    Summary summary{.tenant = job.fire().tenant,
                    .day = jobs::utc_day(job.fire().scheduled_fire_time)};
    job.unguarded().execute(
        "INSERT INTO ledger_summary (tenant, business_day, lines, total, fencing_token) "
        "VALUES ($1, $2, 0, 0, 0) ON CONFLICT (tenant, business_day) DO NOTHING",
        summary.tenant, summary.day);
    for (const auto& account : all_accounts(job.db(), job.fire())) {
        insert_line(job.unguarded(), kInsertOrSkip, job.effect_key(account.id), job.fire(), account,
                    job.token().value);
        ++summary.lines;
        summary.total += account.balance;
        write(job, summary);
        clock.sleep_for(delay);
    }
    return Outcome::succeeded();
}

HandlerSpec fence_mistake(std::string name, std::string lesson, Write write,
                          std::source_location source = std::source_location::current()) {
    return job_mistake(
        std::move(name), std::move(lesson), {"fencing"}, {.fence = true},
        [write](JobContext& job, const ProgramSetting& setting) {
            return keep_summary(job, setting.ports.clock, batches_of(setting.parameters).delay,
                                write);
        },
        source);
}

}  // namespace

HandlerSpec fence_in_memory() {
    return fence_mistake(
        "fence-in-memory",
        "A token compared in memory is stale by the time the bare update arrives: compare it in "
        "the write.",
        [](JobContext& job, const Summary& summary) {
            const auto newest = job.db().execute(
                "SELECT fencing_token FROM ledger_summary WHERE tenant = $1 AND business_day = $2",
                summary.tenant, summary.day);
            if (newest.integer(0, 0) > job.token().value) return;
            job.unguarded().execute(
                "UPDATE ledger_summary SET lines = $3, total = $4, fencing_token = $5 "
                "WHERE tenant = $1 AND business_day = $2",
                summary.tenant, summary.day, summary.lines, summary.total, job.token().value);
        });
}

HandlerSpec fence_not_stored() {
    return fence_mistake(
        "fence-not-stored",
        "A token that is compared and never stored is compared with nothing: the row must keep the "
        "highest that it accepted.",
        [](JobContext& job, const Summary& summary) {
            job.unguarded().execute(
                "UPDATE ledger_summary SET lines = $3, total = $4 "
                "WHERE tenant = $1 AND business_day = $2 AND fencing_token <= $5",
                summary.tenant, summary.day, summary.lines, summary.total, job.token().value);
        });
}

HandlerSpec fence_not_equal() {
    return fence_mistake(
        "fence-not-equal",
        "A fence that lets any other token pass lets the older one pass: tokens are compared by "
        "their order.",
        [](JobContext& job, const Summary& summary) {
            job.unguarded().execute(
                "UPDATE ledger_summary SET lines = $3, total = $4, fencing_token = $5 "
                "WHERE tenant = $1 AND business_day = $2 AND fencing_token <> $5",
                summary.tenant, summary.day, summary.lines, summary.total, job.token().value);
        });
}

HandlerSpec fence_from_redis_counter() {
    HandlerSpec spec = fence_mistake(
        "fence-from-redis-counter",
        "A token counted in Redis goes back when Redis loses data, and the new holder's is no "
        "higher than the old one's.",
        [](JobContext& job, const Summary& summary) {
            // The owner is the lease's value, "version:owner".
            const std::int64_t version = std::stoll(job.claim().owner);
            const auto written = job.unguarded().execute(
                "UPDATE ledger_summary SET lines = $3, total = $4, fencing_token = $5 "
                "WHERE tenant = $1 AND business_day = $2 AND fencing_token <= $5",
                summary.tenant, summary.day, summary.lines, summary.total, version);
            if (written.affected() != 1) throw jobs::Fenced("a newer version wrote the summary");
        });
    spec.breaks = {"fencing", "takeover"};
    return spec;
}

}  // namespace fencepost::scenarios
