#include "scenarios/handlers/reconcile_versions.h"

#include <algorithm>

#include "scenarios/handlers/expand.h"
#include "scenarios/handlers/ledger.h"
#include "scenarios/handlers/reconcile.h"

namespace fencepost::scenarios {

using jobs::Checkpoint;
using jobs::JobContext;
using jobs::Outcome;

namespace {

constexpr std::string_view kAddSource = "ALTER TABLE ledger ADD COLUMN IF NOT EXISTS source TEXT";
constexpr std::string_view kMakePosting =
    "CREATE TABLE IF NOT EXISTS posting (business_key TEXT PRIMARY KEY, tenant TEXT NOT NULL, "
    "job TEXT NOT NULL, account BIGINT NOT NULL, business_day TEXT NOT NULL, "
    "amount BIGINT NOT NULL, fencing_token BIGINT NOT NULL)";
constexpr std::string_view kInsertPosting =
    "INSERT INTO posting (business_key, tenant, job, account, business_day, amount, "
    "fencing_token) VALUES ($1, $2, $3, $4, $5, $6, $7)";

// The work that version 2 brought with it.
Outcome post(JobContext& job, const Batches& batches) {
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
    const auto accounts = ledger::accounts_after(job.db(), job.fire().tenant, last, batches.size);
    if (accounts.empty()) return Outcome::succeeded();
    const std::string day = jobs::utc_day(job.fire().scheduled_fire_time);
    job.progress(static_cast<std::int64_t>(accounts.size()));
    job.commit(Checkpoint::at(accounts.back().id), [&](jobs::sql::Transaction& tx) {
        for (const ledger::Account& account : accounts) {
            tx.execute(kInsertPosting, job.effect_key(account.id), job.fire().tenant,
                       job.fire().job, account.id, day, account.balance / 100, job.token().value);
        }
    });
    const bool more = static_cast<std::int64_t>(accounts.size()) == batches.size;
    return more ? Outcome::more(batches.delay) : Outcome::succeeded();
}

}  // namespace

std::vector<std::string> jobs_known_to(std::int64_t version, const std::vector<DueWork>& due) {
    std::vector<std::string> known;
    for (const DueWork& work : due) {
        if (work.version <= version) known.push_back(work.job);
    }
    return known;
}

jobs::Handler reconcile_of(const ProgramSetting& setting) {
    const ReconcileStyle style{.with_source = setting.version >= 2};
    return [batches = batches_of(setting.parameters), style,
            old = jobs_known_to(1, setting.due)](JobContext& job) {
        const bool is_old = std::ranges::find(old, job.fire().job) != old.end();
        return is_old ? reconcile(job, batches, style) : post(job, batches);
    };
}

checkers::EffectTable expected_postings(const Parameters& parameters,
                                        const std::vector<DueWork>& due) {
    checkers::EffectTable table{.table = "posting",
                                .identity = {"tenant", "job", "account", "business_day"},
                                .expected = {}};
    for (const DueWork& work : due) {
        if (work.version < 2) continue;
        for (std::int64_t account = 1; account <= parameters.at("accounts"); ++account) {
            table.expected.push_back({.unit = work.unit(),
                                      .identity = {work.tenant, work.job, std::to_string(account),
                                                   jobs::utc_day(work.scheduled)},
                                      .position = account});
        }
    }
    return table;
}

namespace {

// Where everything is known, nothing needs to be said.
jobs::WorkerOptions options_of(const ProgramSetting& setting) {
    jobs::WorkerOptions options = worker_options(setting.parameters);
    options.known_jobs = jobs_known_to(setting.version, setting.due);
    if (options.known_jobs.size() == setting.due.size()) options.known_jobs.clear();
    return options;
}

}  // namespace

ReconcileProgram::ReconcileProgram(const ProgramSetting& setting)
    : WorkerProgram(setting, setting.ports, reconcile_of(setting), options_of(setting)),
      ports_(setting.ports),
      version_(setting.version) {}

void ReconcileProgram::start() {
    if (version_ >= 2) expand_schema(ports_, {kAddSource, kMakePosting});
    WorkerProgram::start();
}

}  // namespace fencepost::scenarios
