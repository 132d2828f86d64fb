// Start-up: what must be there before a process takes up work. Any number of processes may start at
// any time, be killed anywhere and start again: what they leave is what one undisturbed start
// leaves.
//
//   schema     tables, columns, indexes; each statement changes nothing when they are there
//   seeds      rows under stable ids
//   upgrades   numbered steps, each in one transaction with the version that it brings
//   cache      values in Redis; one that was read under an older version replaces no newer one
//
// One process at a time defines anything: every transaction begins with an advisory lock, which
// ends with it, also when its process dies. IF NOT EXISTS alone does not do: it looks at what is
// committed, and two sessions that both see nothing meet in the catalogue (23505, 42P07). Whoever
// does not take the lock, such as an older release or a person, can still be met there; then the
// start-up begins again and finds everything done.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/ports/ports.h"
#include "jobs/transaction.h"
#include "jobs/worker.h"

namespace fencepost::jobs {

// Rows that must be there: INSERT … ON CONFLICT DO NOTHING, with ids that are the same on every
// start and every node.
struct SeedRows {
    std::string statement;
    std::vector<sql::Value> parameters{};
};

// A change that is made once, whatever it is made of: it need not be harmless to repeat.
struct UpgradeStep {
    std::string name;  // for people
    std::function<void(sql::Transaction&)> apply;
};

struct CachedValue {
    std::string key;
    std::string value;
};

struct StartUpPlan {
    std::string component;            // names the lock and the row with the version
    std::vector<std::string> schema;  // CREATE … IF NOT EXISTS, ADD COLUMN IF NOT EXISTS; in order
    std::vector<SeedRows> seeds;      // as the first release had them: upgrades come after
    std::vector<UpgradeStep> upgrades;  // the first brings version 1; never reordered or taken out
    // Reads what is to be cached, after all upgrades. May be empty.
    std::function<std::vector<CachedValue>(sql::Session&)> cache{};
};

struct StartUpOptions {
    Backoff backoff;
    int attempts = 5;
};

class StartUp {
public:
    StartUp(Ports ports, StartUpPlan plan, StartUpOptions options = {})
        : ports_(ports), plan_(std::move(plan)), options_(options) {}

    // Returns when everything is there. Suspends for whoever holds the lock. What may pass by
    // itself is tried again from the beginning; then, and for what will not pass, throws what the
    // attempt threw: the process must not take up work.
    void run();

    // The cached value as Redis holds it: "2:900 CNY" was read under version 2.
    [[nodiscard]] static std::string cached_text(std::int64_t version, std::string_view value);

private:
    void attempt();
    [[nodiscard]] std::int64_t define(sql::Session& session);
    void upgrade(sql::Session& session, std::int64_t to);
    void warm_up(sql::Session& session);
    void lock(sql::Transaction& transaction);
    [[nodiscard]] std::int64_t version(sql::Transaction& transaction);

    Ports ports_;
    StartUpPlan plan_;
    StartUpOptions options_;
};

namespace start_up_scripts {
extern const redis::Script kCache;  // KEYS key; ARGV version, text -> 1 when written, 0 when not
}  // namespace start_up_scripts

// The table that the versions are kept in; start-up makes it.
std::string_view start_up_schema();

}  // namespace fencepost::jobs
