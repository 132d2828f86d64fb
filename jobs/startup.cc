#include "jobs/startup.h"

#include <algorithm>
#include <array>

namespace fencepost::jobs {

namespace start_up_scripts {

// What is there already is left alone: a newer program has read it, or it is the same.
const redis::Script kCache{"cache-warm", R"(
local held = redis.call('GET', KEYS[1])
if held == ARGV[2] then return 0 end
local version = held and tonumber(string.match(held, '^(%d+):'))
if version and version > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
)"};

}  // namespace start_up_scripts

namespace {

// A server's answer that another attempt can turn out without: the transaction met somebody else's.
// So did a definition that was there already, or a unique key of the catalogue's.
bool may_pass(const AttemptError& error) {
    static constexpr std::array<std::string_view, 7> kPassing{
        sql::kSerializationFailure,
        sql::kDeadlockDetected,
        sql::kLockNotAvailable,
        sql::kUniqueViolation,
        "42P07",   // duplicate table or index
        "42701",   // duplicate column
        "57014"};  // the statement was cancelled
    const auto* answer = dynamic_cast<const sql::ServerError*>(&error);
    return answer == nullptr || std::ranges::find(kPassing, answer->sqlstate()) != kPassing.end();
}

}  // namespace

std::string_view start_up_schema() {
    return "CREATE TABLE IF NOT EXISTS start_up_version (component TEXT PRIMARY KEY, "
           "version BIGINT NOT NULL, updated_us BIGINT NOT NULL)";
}

std::string StartUp::cached_text(std::int64_t version, std::string_view value) {
    return std::to_string(version) + ":" + std::string(value);
}

void StartUp::run() {
    for (int number = 1;; ++number) {
        try {
            return attempt();
        } catch (const AttemptError& error) {
            if (number >= options_.attempts || !may_pass(error)) throw;
        }
        ports_.clock.sleep_for(options_.backoff.before_attempt(number + 1));
    }
}

void StartUp::attempt() {
    const auto session = ports_.database.connect();
    const auto newest = static_cast<std::int64_t>(plan_.upgrades.size());
    for (std::int64_t done = define(*session); done < newest; ++done) upgrade(*session, done + 1);
    if (plan_.cache) warm_up(*session);
}

std::int64_t StartUp::define(sql::Session& session) {
    sql::Transaction transaction{session};
    lock(transaction);
    transaction.execute(start_up_schema());
    for (const std::string& statement : plan_.schema) transaction.execute(statement);
    for (const SeedRows& rows : plan_.seeds) session.run(rows.statement, rows.parameters);
    transaction.execute(
        "INSERT INTO start_up_version (component, version, updated_us) "
        "VALUES ($1, 0, db_now_us()) ON CONFLICT (component) DO NOTHING",
        plan_.component);
    const std::int64_t known = version(transaction);
    transaction.commit();
    return known;
}

// The version is looked at again under the lock: another process may have been faster.
void StartUp::upgrade(sql::Session& session, std::int64_t to) {
    sql::Transaction transaction{session};
    lock(transaction);
    if (version(transaction) < to) {
        plan_.upgrades[static_cast<std::size_t>(to) - 1].apply(transaction);
        const sql::Result moved = transaction.execute(
            "UPDATE start_up_version SET version = $2, updated_us = db_now_us() "
            "WHERE component = $1 AND version = $3",
            plan_.component, to, to - 1);
        if (moved.affected() != 1) {
            throw Fenced("the version of " + plan_.component + " is not " + std::to_string(to - 1));
        }
    }
    transaction.commit();
}

void StartUp::warm_up(sql::Session& session) {
    const auto newest = static_cast<std::int64_t>(plan_.upgrades.size());
    for (const CachedValue& cached : plan_.cache(session)) {
        const redis::Reply reply =
            ports_.redis.eval(start_up_scripts::kCache, {cached.key},
                              {std::to_string(newest), cached_text(newest, cached.value)});
        if (reply.is_error()) throw redis::ServerError(reply.text);
    }
}

void StartUp::lock(sql::Transaction& transaction) {
    transaction.execute("SELECT pg_advisory_xact_lock(hashtext($1))",
                        "start-up/" + plan_.component);
}

std::int64_t StartUp::version(sql::Transaction& transaction) {
    return transaction
        .execute("SELECT version FROM start_up_version WHERE component = $1", plan_.component)
        .integer(0, 0);
}

}  // namespace fencepost::jobs
