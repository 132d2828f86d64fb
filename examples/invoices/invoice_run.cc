#include "invoice_run.h"

#include <string>

#include "jobs/instant_text.h"

namespace invoices {

using fencepost::jobs::Checkpoint;
using fencepost::jobs::Fenced;
using fencepost::jobs::JobContext;
using fencepost::jobs::Outcome;

namespace sql = fencepost::jobs::sql;

Outcome write_invoice(JobContext& job, fencepost::jobs::Duration delay) {
    const std::string& tenant = job.fire().tenant;
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
    const auto next = job.db().execute(
        "SELECT id, due FROM customer WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT 1", tenant,
        last);
    if (next.empty()) return Outcome::succeeded();

    const std::int64_t customer = next.integer(0, 0);
    constexpr std::size_t kYearAndMonth = 7;  // of 2026-03-02
    const std::string month =
        fencepost::jobs::utc_day(job.fire().scheduled_fire_time).substr(0, kYearAndMonth);
    job.commit(Checkpoint::at(customer), [&](sql::Transaction& tx) {
        // A number is used up with its invoice or not at all.
        const auto number = tx.execute(
            "UPDATE numbering SET last = last + 1, fencing_token = $2 "
            "WHERE tenant = $1 AND fencing_token <= $2 RETURNING last",
            tenant, job.token().value);
        if (number.empty()) throw Fenced("a newer holder writes invoices");
        tx.execute(
            "INSERT INTO invoice (business_key, tenant, customer, month, number, amount) "
            "VALUES ($1, $2, $3, $4, $5, $6)",
            job.effect_key(customer), tenant, customer, month, number.integer(0, 0),
            next.integer(0, 1));
    });
    return Outcome::more(delay);
}

}  // namespace invoices
