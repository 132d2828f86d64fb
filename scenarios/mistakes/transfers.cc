// Mistakes about money that moves.
#include "scenarios/handlers/transfer.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::Checkpoint;
using jobs::JobContext;
using jobs::Outcome;

namespace {

Outcome take_then_give(JobContext& job) {
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : money::kSettlement;
    const auto surpluses = money::surpluses_after(job.db(), last, 1);
    if (surpluses.empty()) return Outcome::succeeded();
    const auto [account, amount] = surpluses.front();
    job.commit(Checkpoint::at(account), [&](jobs::sql::Transaction& tx) {
        tx.execute(money::kInsertTransfer, job.effect_key(account), account,
                   jobs::utc_day(job.fire().scheduled_fire_time), amount, job.token().value);
        tx.execute(money::kTake, account, amount, job.token().value);
    });
    job.unguarded().execute(money::kGive, money::kSettlement, amount, job.token().value);
    return Outcome::more();
}

}  // namespace

HandlerSpec take_then_give_apart() {
    HandlerSpec spec = transfer_handler();
    spec.source = std::source_location::current();
    spec.name = "take-then-give-apart";
    spec.lesson =
        "Money that is taken in one transaction and given in the next is nowhere in between, and "
        "stays there after a crash.";
    spec.breaks = {"conserved"};
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<WorkerProgram>(setting, take_then_give);
    };
    return spec;
}

}  // namespace fencepost::scenarios
