#include "scenarios/handlers/transfer.h"

#include <fmt/format.h>

#include "scenarios/handlers/ledger.h"

namespace fencepost::scenarios {

namespace money {

constexpr std::int64_t kFloor = 100;

std::string schema() {
    return R"(
CREATE TABLE balance (
    account BIGINT PRIMARY KEY,
    amount BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
CREATE TABLE transfer (
    business_key TEXT PRIMARY KEY,
    account BIGINT NOT NULL,
    business_day TEXT NOT NULL,
    amount BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
)";
}

std::string seed_rows(const Parameters& parameters) {
    std::string rows = fmt::format("INSERT INTO balance VALUES ({}, 0, 0);\n", kSettlement);
    for (std::int64_t account = 1; account <= parameters.at("accounts"); ++account) {
        rows +=
            fmt::format("INSERT INTO balance VALUES ({}, {}, 0);\n", account, kFloor + 7 * account);
    }
    return rows;
}

checkers::Expectations expectations(const Parameters& parameters, const std::vector<DueWork>& due) {
    checkers::EffectTable transfers{
        .table = "transfer", .identity = {"account", "business_day"}, .expected = {}};
    for (const DueWork& work : due) {
        for (std::int64_t account = 1; account <= parameters.at("accounts"); ++account) {
            transfers.expected.push_back(
                {.unit = work.unit(),
                 .identity = {std::to_string(account), jobs::utc_day(work.scheduled)},
                 .position = account});
        }
    }
    return {.effects = {std::move(transfers)},
            .fenced = {{.table = "balance", .identity = {"account"}, .token = "fencing_token"}},
            .conserved = {{.table = "balance", .column = "amount"}},
            .claims = worker_claims(),
            .lease_prefix = "lease:"};
}

std::vector<Surplus> surpluses_after(jobs::sql::Session& db, std::int64_t last,
                                     std::int64_t limit) {
    const jobs::sql::Result rows = db.execute(
        "SELECT account, amount - $1 FROM balance WHERE account > $2 ORDER BY account LIMIT $3",
        kFloor, last, limit);
    std::vector<Surplus> surpluses;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        surpluses.push_back({rows.integer(row, 0), rows.integer(row, 1)});
    }
    return surpluses;
}

}  // namespace money

using jobs::Checkpoint;
using jobs::Fenced;
using jobs::JobContext;
using jobs::Outcome;

namespace {

void move_fenced(jobs::sql::Transaction& tx, std::string_view statement, std::int64_t account,
                 std::int64_t amount, jobs::FencingToken token) {
    if (tx.execute(statement, account, amount, token.value).affected() == 1) return;
    throw Fenced(fmt::format("account {} has a newer holder or not so much", account));
}

}  // namespace

Outcome transfer(JobContext& job, const Batches& batches) {
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : money::kSettlement;
    const auto surpluses = money::surpluses_after(job.db(), last, batches.size);
    if (surpluses.empty()) return Outcome::succeeded();

    const std::string day = jobs::utc_day(job.fire().scheduled_fire_time);
    job.progress(static_cast<std::int64_t>(surpluses.size()));
    job.commit(Checkpoint::at(surpluses.back().account), [&](jobs::sql::Transaction& tx) {
        for (const auto& [account, amount] : surpluses) {
            tx.execute(money::kInsertTransfer, job.effect_key(account), account, day, amount,
                       job.token().value);
            move_fenced(tx, money::kTake, account, amount, job.token());
            move_fenced(tx, money::kGive, money::kSettlement, amount, job.token());
        }
    });
    const bool more = static_cast<std::int64_t>(surpluses.size()) == batches.size;
    return more ? Outcome::more(batches.delay) : Outcome::succeeded();
}

HandlerSpec transfer_handler() {
    return {
        .name = "transfer",
        .lesson =
            "Moves what each account holds above a floor to a settlement account, under the "
            "fence.",
        .source = std::source_location::current(),
        .schema = [](const Parameters& parameters) -> std::vector<std::string> {
            return {std::string(jobs::claim_schema()), money::schema(),
                    money::seed_rows(parameters)};
        },
        .expectations = money::expectations,
        .program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<WorkerProgram>(
                setting, [batches = batches_of(setting.parameters)](JobContext& job) {
                    return transfer(job, batches);
                });
        },
        .open_work = open_claims,
    };
}

}  // namespace fencepost::scenarios
