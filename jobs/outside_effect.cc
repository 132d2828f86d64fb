#include "jobs/outside_effect.h"

#include <optional>

namespace fencepost::jobs {
namespace {

using gateway::Answer;
using gateway::Standing;

// What is recorded of the request: "intended", "accepted" or "declined"; nothing before the intent.
std::optional<std::string> recorded(sql::Session& session, const std::string& request_id) {
    const sql::Result rows =
        session.execute("SELECT status FROM job_outside WHERE request_id = $1", request_id);
    return rows.empty() ? std::nullopt : std::optional{rows.text(0, 0)};
}

void record_intent(sql::Transaction& transaction, const JobContext& job,
                   const gateway::Charge& charge) {
    transaction.execute(
        "INSERT INTO job_outside (request_id, business_key, reference, amount, status, updated_us) "
        "VALUES ($1, $2, $3, $4, 'intended', db_now_us())",
        charge.request_id, job.key().text(), charge.reference, charge.amount);
}

void record_answer(sql::Transaction& transaction, const std::string& request_id,
                   std::string_view status) {
    transaction.execute(
        "UPDATE job_outside SET status = $2, updated_us = db_now_us() WHERE request_id = $1",
        request_id, status);
}

}  // namespace

std::string_view outside_schema() {
    return R"(
CREATE TABLE job_outside (
    request_id TEXT PRIMARY KEY,
    business_key TEXT NOT NULL,
    reference TEXT NOT NULL,
    amount BIGINT NOT NULL,
    status TEXT NOT NULL,
    updated_us BIGINT NOT NULL
);
)";
}

Answer OutsideEffects::perform(JobContext& job, const OutsideEffect& effect) {
    const std::string& request_id = effect.charge.request_id;
    const auto before = recorded(job.db(), request_id);
    if (before && before != "intended") {
        throw Fenced("the answer to " + request_id + " was recorded by a newer holder");
    }
    if (!before) {
        job.commit(effect.intended, [&](sql::Transaction& transaction) {
            record_intent(transaction, job, effect.charge);
            effect.reserve(transaction);
        });
    }
    const Answer answer = answer_to(effect.charge, before.has_value());
    const bool declined = answer == Answer::Declined;
    if (declined) {
        for (const std::string& charge : effect.refunds) refund(charge);
    }
    job.commit(effect.answered, [&](sql::Transaction& transaction) {
        record_answer(transaction, request_id, name_of(answer));
        if (declined) {
            for (const std::string& charge : effect.refunds) {
                record_answer(transaction, charge, "refunded");
            }
        }
        (declined ? effect.declined : effect.accepted)(transaction);
    });
    return answer;
}

Answer OutsideEffects::answer_to(const gateway::Charge& charge, bool sent_before) {
    for (int number = 1;; ++number) {
        try {
            if (sent_before) {
                const Standing standing = ports_.gateway->look_up(charge.request_id);
                if (standing == Standing::Declined) return Answer::Declined;
                if (standing != Standing::Unknown) return Answer::Accepted;
            }
            sent_before = true;
            return ports_.gateway->submit(charge);
        } catch (const ConnectionLost&) {
            if (number == options_.attempts) throw;
        }
        ports_.clock.sleep_for(options_.backoff.before_attempt(number + 1));
    }
}

// The service gives back once, however often it is asked.
void OutsideEffects::refund(const std::string& request_id) {
    for (int number = 1;; ++number) {
        try {
            ports_.gateway->refund(request_id);
            return;
        } catch (const ConnectionLost&) {
            if (number == options_.attempts) throw;
        }
        ports_.clock.sleep_for(options_.backoff.before_attempt(number + 1));
    }
}

}  // namespace fencepost::jobs
