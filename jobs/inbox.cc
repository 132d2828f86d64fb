#include "jobs/inbox.h"

namespace fencepost::jobs {

std::string_view inbox_schema() {
    return R"(
CREATE TABLE job_inbox (
    consumer TEXT NOT NULL,
    event_id TEXT NOT NULL,
    handled_us BIGINT NOT NULL,
    PRIMARY KEY (consumer, event_id)
);
CREATE TABLE job_parked (
    consumer TEXT NOT NULL,
    event_id TEXT NOT NULL,
    body TEXT NOT NULL,
    error TEXT NOT NULL,
    deliveries BIGINT NOT NULL,
    parked_us BIGINT NOT NULL,
    PRIMARY KEY (consumer, event_id)
);
)";
}

namespace inbox {

bool enter(sql::Transaction& transaction, std::string_view consumer, std::string_view event_id) {
    const sql::Result entered = transaction.execute(
        "INSERT INTO job_inbox (consumer, event_id, handled_us) VALUES ($1, $2, db_now_us()) "
        "ON CONFLICT (consumer, event_id) DO NOTHING",
        consumer, event_id);
    return entered.affected() == 1;
}

void park(sql::Transaction& transaction, std::string_view consumer, const broker::Message& message,
          std::string_view error) {
    transaction.execute(
        "INSERT INTO job_parked (consumer, event_id, body, error, deliveries, parked_us) "
        "VALUES ($1, $2, $3, $4, $5, db_now_us())",
        consumer, message.event_id, message.body, error, message.receives);
}

}  // namespace inbox
}  // namespace fencepost::jobs
