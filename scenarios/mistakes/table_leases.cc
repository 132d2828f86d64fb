// Mistakes about a lease that is a row: a table of background tasks with an owner and an expiry.
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BusinessKey;
using jobs::Fire;
using jobs::Ports;

namespace {

constexpr std::chrono::seconds kStep{1};  // how long the work on one line takes

constexpr std::string_view kSchema = R"(
CREATE TABLE background_task (
    business_key TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    lease_owner TEXT,
    lease_until_us BIGINT,
    fencing_token BIGINT NOT NULL
);
)";

// What the clock that the mistake goes by says, in microseconds.
using Now = std::int64_t (*)(jobs::sql::Session& session, jobs::Clock& clock);

bool take(jobs::sql::Session& session, const std::string& key, const std::string& owner,
          std::int64_t now_us, std::int64_t until_us) {
    return session
               .execute(
                   "UPDATE background_task SET status = 'running', lease_owner = $2, "
                   "lease_until_us = $4, fencing_token = fencing_token + 1 "
                   "WHERE business_key = $1 AND (status = 'pending' OR "
                   "(status = 'running' AND lease_until_us < $3))",
                   key, owner, now_us, until_us)
               .affected() == 1;
}

bool finished(jobs::sql::Session& session, const std::string& key) {
    const auto task = session.execute(
        "SELECT status FROM background_task WHERE business_key = $1 AND status = 'succeeded'", key);
    return !task.empty();
}

// Takes the task when it is free or has run out, and writes a line a second; every line has its
// key, and the task is finished by its owner alone.
std::string run_task(const Fire& fire, const Ports& ports, std::int64_t ttl_us, Now now) {
    const std::string key = BusinessKey::of(fire).text();
    const std::string owner = ports.ids.next();
    const auto session = ports.database.connect();
    session->execute(
        "INSERT INTO background_task (business_key, status, fencing_token) "
        "VALUES ($1, 'pending', 0) ON CONFLICT (business_key) DO NOTHING",
        key);
    for (;;) {
        const std::int64_t now_us = now(*session, ports.clock);
        if (take(*session, key, owner, now_us, now_us + ttl_us)) break;
        if (finished(*session, key)) return "already done";
        ports.clock.sleep_for(kStep);
    }
    for (const auto& account : all_accounts(*session, fire)) {
        insert_line(*session, kInsertOrSkip, BusinessKey::of(fire).effect(account.id), fire,
                    account);
        ports.clock.sleep_for(kStep);
    }
    session->execute(
        "UPDATE background_task SET status = 'succeeded' "
        "WHERE business_key = $1 AND lease_owner = $2 AND status = 'running'",
        key, owner);
    return "succeeded";
}

HandlerSpec table_lease_mistake(std::string name, std::string lesson, Now now,
                                std::source_location source = std::source_location::current()) {
    HandlerSpec spec = ledger_mistake(
        std::move(name), std::move(lesson), {"single-claim"}, {.recovery = true},
        [now](const Fire& fire, const Ports& ports, const Parameters& parameters) {
            return run_task(fire, ports, parameters.at("lease_ttl_ms") * 1000, now);
        },
        source);
    spec.schema = [lines = spec.schema](const Parameters& parameters) {
        std::vector<std::string> scripts = lines(parameters);
        scripts.emplace_back(kSchema);
        return scripts;
    };
    spec.expectations = [lines = spec.expectations](const Parameters& parameters,
                                                    const std::vector<DueWork>& due) {
        checkers::Expectations expectations = lines(parameters, due);
        const std::chrono::milliseconds ttl{parameters.at("lease_ttl_ms")};
        expectations.claims = checkers::ClaimTable{.table = "background_task",
                                                   .key = "business_key",
                                                   .status = "status",
                                                   .owner = "lease_owner",
                                                   .token = "fencing_token",
                                                   .checkpoint = {},
                                                   .finished = {"succeeded"},
                                                   .until = "lease_until_us",
                                                   // A tenth for the way to the database.
                                                   .held_for = ttl - ttl / 10};
        return expectations;
    };
    spec.open_work = [lines = spec.open_work](const std::vector<DueWork>& due) {
        return "SELECT 'task ' || business_key || ' is ' || status FROM background_task "
               "WHERE status <> 'succeeded' UNION ALL " +
               lines(due);
    };
    return spec;
}

}  // namespace

HandlerSpec lease_by_node_clock() {
    return table_lease_mistake(
        "lease-by-node-clock",
        "An expiry that each node judges by its own clock is over early for whoever's clock is "
        "ahead: two nodes own one task.",
        [](jobs::sql::Session&, jobs::Clock& clock) -> std::int64_t {
            const auto now = clock.wall_now().time_since_epoch();
            return std::chrono::floor<std::chrono::microseconds>(now).count();
        });
}

HandlerSpec expiry_computed_then_paused() {
    return table_lease_mistake(
        "expiry-computed-then-paused",
        "An expiry computed before the statement is sent is as old as the way there: after a pause "
        "the lease is over when it is taken.",
        [](jobs::sql::Session& session, jobs::Clock&) {
            return session.execute("SELECT db_now_us()").integer(0, 0);
        });
}

}  // namespace fencepost::scenarios
