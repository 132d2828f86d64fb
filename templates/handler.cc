// @NAME@: writes every customer's statement, once a night.
#include <fencepost/plugin.h>

namespace {

using namespace fencepost::jobs;

// PostgreSQL's dialect. The unique key is what makes a second statement impossible.
constexpr const char* kSchema = R"(
CREATE TABLE customer (
    id BIGINT PRIMARY KEY,
    balance BIGINT NOT NULL
);
CREATE TABLE statement (
    business_key TEXT PRIMARY KEY,
    customer BIGINT NOT NULL,
    night TEXT NOT NULL,
    amount BIGINT NOT NULL
);
INSERT INTO customer VALUES (1, 120), (2, 75), (3, 310);
)";

struct Customer {
    std::int64_t id = 0;
    std::int64_t balance = 0;
};

std::vector<Customer> customers_after(sql::Session& db, std::int64_t last) {
    const auto rows =
        db.execute("SELECT id, balance FROM customer WHERE id > $1 ORDER BY id LIMIT 2", last);
    std::vector<Customer> customers;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        customers.push_back({.id = rows.integer(row, 0), .balance = rows.integer(row, 1)});
    }
    return customers;
}

// Called until it says that everything is done: by whoever holds the claim, on whichever node, from
// the last checkpoint on. What commit() throws passes through: the worker knows what to do.
Outcome write_statements(JobContext& job) {
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
    const std::vector<Customer> customers = customers_after(job.db(), last);
    if (customers.empty()) return Outcome::succeeded();

    const std::string night = utc_day(job.fire().scheduled_fire_time);
    job.commit(Checkpoint::at(customers.back().id), [&](sql::Transaction& tx) {
        for (const Customer& customer : customers) {
            tx.execute(
                "INSERT INTO statement (business_key, customer, night, amount) "
                "VALUES ($1, $2, $3, $4)",
                job.effect_key(customer.id), customer.id, night, customer.balance);
        }
    });
    return Outcome::more();
}

}  // namespace

FENCEPOST_PLUGIN(registry) {
    fencepost::HandlerSpec handler = fencepost::gated("@NAME@", write_statements, kSchema);
    handler.lesson = "Writes every customer's statement, once a night.";
    handler.source = std::source_location::current();
    // What must be there exactly once, whatever happens.
    handler.effects = {{.table = "statement", .identity = {"customer", "night"}}};
    registry.add(std::move(handler));
}
