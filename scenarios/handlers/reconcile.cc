#include "scenarios/handlers/reconcile.h"

#include "scenarios/handlers/ledger.h"
#include "scenarios/handlers/reconcile_versions.h"

namespace fencepost::scenarios {

using jobs::Checkpoint;
using jobs::Fenced;
using jobs::JobContext;
using jobs::Outcome;

Outcome reconcile(JobContext& job, const Batches& batches, const ReconcileStyle& style) {
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
    const auto accounts = ledger::accounts_after(job.db(), job.fire().tenant, last, batches.size);
    if (accounts.empty()) return Outcome::succeeded();

    const std::string_view insert =
        style.with_source ? ledger::kInsertLineWithSource : ledger::kInsertLine;
    const std::string day = jobs::utc_day(job.fire().scheduled_fire_time);
    job.progress(static_cast<std::int64_t>(accounts.size()));
    job.commit(Checkpoint::at(accounts.back().id), [&](jobs::sql::Transaction& tx) {
        std::int64_t total = 0;
        for (const ledger::Account& account : accounts) {
            tx.execute(insert, job.effect_key(account.id), job.fire().tenant, account.id, day,
                       account.balance, job.token().value);
            total += account.balance;
        }
        const auto added = tx.execute(ledger::kAddToSummary, job.fire().tenant, day,
                                      accounts.size(), total, job.token().value);
        if (added.affected() != 1) throw Fenced("the summary of " + day + " has a newer holder");
    });
    const bool more = static_cast<std::int64_t>(accounts.size()) == batches.size;
    return more ? Outcome::more(batches.delay) : Outcome::succeeded();
}

HandlerSpec reconcile_handler() {
    return {
        .name = "reconcile",
        .lesson = "Writes one ledger line an account and business day, in fenced batches.",
        .source = std::source_location::current(),
        .abilities = {Ability::TwoVersions, Ability::Tenants},
        .schema = [](const Parameters& parameters) -> std::vector<std::string> {
            return {std::string(jobs::claim_schema()), ledger::schema(ledger::Keys::Unique),
                    ledger::seed_rows(parameters)};
        },
        .expectations =
            [](const Parameters& parameters, const std::vector<DueWork>& due) {
                return checkers::Expectations{.effects = {ledger::expected_lines(parameters, due),
                                                          expected_postings(parameters, due)},
                                              .fenced = {ledger::fenced_summary()},
                                              .claims = worker_claims(),
                                              .lease_prefix = "lease:"};
            },
        .program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<ReconcileProgram>(setting);
        },
        .open_work = open_claims,
    };
}

}  // namespace fencepost::scenarios
