// Mistakes about an outside call whose outcome is unknown.
#include "scenarios/handlers/bills.h"
#include "scenarios/handlers/ledger.h"
#include "scenarios/handlers/worker_program.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {
namespace {

using bills::Bill;
using jobs::ConnectionLost;
using jobs::JobContext;
using jobs::Outcome;
using jobs::Ports;

using PayBody = Outcome (*)(JobContext&, const Ports&);

HandlerSpec outside_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                            PayBody body,
                            std::source_location source = std::source_location::current()) {
    HandlerSpec spec;
    spec.source = source;
    spec.name = std::move(name);
    spec.lesson = std::move(lesson);
    spec.breaks = std::move(breaks);
    spec.abilities = {Ability::Outside};
    spec.schema = [](const Parameters& parameters) -> std::vector<std::string> {
        return {std::string(jobs::claim_schema()), bills::schema(bills::plain(parameters))};
    };
    spec.expectations = [](const Parameters& parameters, const std::vector<DueWork>& due) {
        checkers::Expectations expectations;
        expectations.effects = {bills::expected_charges(bills::plain(parameters), due)};
        expectations.claims = worker_claims();
        expectations.claims->checkpoint.clear();
        expectations.lease_prefix = "lease:";
        return expectations;
    };
    spec.program = [body](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<WorkerProgram>(
            setting, [body, ports = setting.ports](JobContext& job) { return body(job, ports); });
    };
    spec.open_work = open_claims;
    return spec;
}

std::optional<Bill> next_bill(JobContext& job, std::int64_t last) {
    const jobs::Fire& fire = job.fire();
    return bills::next_after(job.db(), fire.tenant, jobs::utc_day(fire.scheduled_fire_time), last);
}

std::string reference_of(const JobContext& job, const Bill& bill) {
    const jobs::Fire& fire = job.fire();
    return bills::reference_of(fire.tenant, bill.id, fire.scheduled_fire_time);
}

// Whatever becomes of a submission, the next one is a new one.
Outcome pay_until_answered(JobContext& job, const Ports& ports) {
    const auto bill = next_bill(job, job.checkpoint() ? job.checkpoint()->number() : 0);
    if (!bill) return Outcome::succeeded();
    for (bool answered = false; !answered;) {
        try {
            static_cast<void>(ports.gateway->submit({.request_id = ports.ids.next(),
                                                     .reference = reference_of(job, *bill),
                                                     .amount = bill->amount}));
            answered = true;
        } catch (const ConnectionLost&) {
            ports.clock.sleep_for(std::chrono::seconds{1});
        }
    }
    job.commit(jobs::Checkpoint::at(bill->id), [](jobs::sql::Transaction&) {});
    return Outcome::more();
}

// No answer is taken for a no.
Outcome pay_once(JobContext& job, const Ports& ports) {
    std::string problem;
    std::int64_t last = 0;
    while (const auto bill = next_bill(job, last)) {
        last = bill->id;
        try {
            static_cast<void>(ports.gateway->submit({.request_id = job.effect_key(bill->id),
                                                     .reference = reference_of(job, *bill),
                                                     .amount = bill->amount}));
        } catch (const ConnectionLost& error) {
            problem = error.what();
        }
    }
    return problem.empty() ? Outcome::succeeded() : Outcome::failed(problem);
}

}  // namespace

HandlerSpec blind_retry() {
    return outside_mistake(
        "blind-retry",
        "No answer is not a no: the same payment sent again under a new request id is made twice.",
        {"once"}, pay_until_answered);
}

HandlerSpec blind_give_up() {
    return outside_mistake(
        "blind-give-up",
        "No answer is not a no: a payment reported as failed may have been made, and only a "
        "look-up tells.",
        {"honest-status"}, pay_once);
}

}  // namespace fencepost::scenarios
