#include "scenarios/handlers/pay.h"

#include "scenarios/handlers/bills.h"
#include "scenarios/handlers/ledger.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {
namespace {

using bills::Bill;
using jobs::Checkpoint;
using jobs::Fenced;
using jobs::JobContext;
using jobs::Outcome;
using jobs::sql::Transaction;

// Moves money between the parts of the budget, unless a newer holder has written to it.
struct Move {
    std::int64_t available = 0;
    std::int64_t reserved = 0;
    std::int64_t spent = 0;
};
void move_budget(Transaction& tx, const JobContext& job, const Move& move) {
    const auto moved = tx.execute(
        "UPDATE budget SET available = available + $2, reserved = reserved + $3, "
        "spent = spent + $4, fencing_token = $5 WHERE tenant = $1 AND fencing_token <= $5",
        job.fire().tenant, move.available, move.reserved, move.spent, job.token().value);
    if (moved.affected() != 1) throw Fenced("the budget has a newer holder");
}

void set_status(Transaction& tx, const JobContext& job, const std::string& request_id,
                std::string_view status) {
    tx.execute("UPDATE payment SET status = $2, fencing_token = $3 WHERE request_id = $1",
               request_id, status, job.token().value);
}

struct Charged {
    std::string request_id;
    std::int64_t amount = 0;
};
// What was charged before for the same invoice: it cannot stand without the rest.
std::vector<Charged> charged_before(JobContext& job, const Bill& bill, const std::string& day) {
    const auto rows = job.db().execute(
        "SELECT request_id, amount FROM payment WHERE tenant = $1 AND invoice = $2 AND "
        "business_day = $3 AND status = 'paid' ORDER BY bill",
        job.fire().tenant, bill.invoice, day);
    std::vector<Charged> charged;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        charged.push_back({rows.text(row, 0), rows.integer(row, 1)});
    }
    return charged;
}

}  // namespace

Outcome pay(JobContext& job, jobs::OutsideEffects& outside) {
    const jobs::Fire& fire = job.fire();
    const std::string day = jobs::utc_day(fire.scheduled_fire_time);
    const std::int64_t answered = job.checkpoint() ? job.checkpoint()->number() / 2 : 0;
    const auto bill = bills::next_after(job.db(), fire.tenant, day, answered);
    if (!bill) return Outcome::succeeded();

    const std::string request_id = job.effect_key(bill->id);
    const auto before = charged_before(job, *bill, day);
    jobs::OutsideEffect effect{
        .charge = {.request_id = request_id,
                   .reference =
                       bills::reference_of(fire.tenant, bill->id, fire.scheduled_fire_time),
                   .amount = bill->amount},
        .intended = Checkpoint::at(2 * bill->id - 1),
        .reserve =
            [&](Transaction& tx) {
                tx.execute(
                    "INSERT INTO payment (request_id, tenant, bill, invoice, business_day, amount, "
                    "status, fencing_token) VALUES ($1, $2, $3, $4, $5, $6, 'reserved', $7)",
                    request_id, fire.tenant, bill->id, bill->invoice, day, bill->amount,
                    job.token().value);
                move_budget(tx, job, {.available = -bill->amount, .reserved = bill->amount});
            },
        .answered = Checkpoint::at(2 * bill->id),
        .accepted =
            [&](Transaction& tx) {
                set_status(tx, job, request_id, "paid");
                move_budget(tx, job, {.reserved = -bill->amount, .spent = bill->amount});
            },
        .declined =
            [&](Transaction& tx) {
                set_status(tx, job, request_id, "declined");
                std::int64_t refunded = 0;
                for (const Charged& charge : before) {
                    set_status(tx, job, charge.request_id, "refunded");
                    refunded += charge.amount;
                }
                move_budget(tx, job,
                            {.available = bill->amount + refunded,
                             .reserved = -bill->amount,
                             .spent = -refunded});
            }};
    for (const Charged& charge : before) effect.refunds.push_back(charge.request_id);
    job.progress(1);
    outside.perform(job, effect);
    return Outcome::more();
}

HandlerSpec pay_handler() {
    HandlerSpec spec;
    spec.source = std::source_location::current();
    spec.name = "pay";
    spec.lesson =
        "Pays bills at an outside service: intent first, one request id a bill, look-up before a "
        "repeat, compensation when the answer is no.";
    spec.abilities = {Ability::Outside};
    spec.schema = [](const Parameters& parameters) -> std::vector<std::string> {
        return {std::string(jobs::claim_schema()), std::string(jobs::outside_schema()),
                bills::schema(bills::all(parameters))};
    };
    spec.expectations = [](const Parameters& parameters, const std::vector<DueWork>& due) {
        const auto all = bills::all(parameters);
        checkers::Expectations expectations;
        expectations.effects = {bills::expected_payments(all, due),
                                bills::expected_charges(all, due)};
        expectations.fenced = {
            {.table = "budget", .identity = {"tenant"}, .token = "fencing_token"}};
        expectations.claims = worker_claims();
        expectations.lease_prefix = "lease:";
        return expectations;
    };
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<WorkerProgram>(
            setting, [outside = jobs::OutsideEffects{setting.ports}](JobContext& job) mutable {
                return pay(job, outside);
            });
    };
    spec.open_work = open_claims;
    return spec;
}

}  // namespace fencepost::scenarios
