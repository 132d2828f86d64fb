// @NAME@: writes every customer's statement, once a night.
//
// The mistake: it looks whether the statement is there and writes it if not. Two that look at the
// same time both find nothing.
#include <fencepost/plugin.h>

namespace {

using namespace fencepost::jobs;

// PostgreSQL's dialect. Nothing here makes a second statement of a night impossible.
constexpr const char* kSchema = R"(
CREATE TABLE customer (
    id BIGINT PRIMARY KEY,
    balance BIGINT NOT NULL
);
CREATE TABLE statement (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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

std::string write_statements(const Fire& fire, const Ports& ports) {
    const auto db = ports.database.connect();
    const std::string night = utc_day(fire.scheduled_fire_time);
    for (const Customer& customer : customers_after(*db, 0)) {
        const auto there = db->execute(
            "SELECT id FROM statement WHERE customer = $1 AND night = $2", customer.id, night);
        if (!there.empty()) continue;
        db->execute("INSERT INTO statement (customer, night, amount) VALUES ($1, $2, $3)",
                    customer.id, night, customer.balance);
    }
    return "done";
}

}  // namespace

FENCEPOST_PLUGIN(registry) {
    fencepost::HandlerSpec handler = fencepost::ungated("@NAME@", write_statements, kSchema);
    handler.lesson = "Writes every customer's statement, once a night.";
    handler.source = std::source_location::current();
    // What must be there exactly once, whatever happens.
    handler.effects = {{.table = "statement", .identity = {"customer", "night"}}};
    registry.add(std::move(handler));
}
