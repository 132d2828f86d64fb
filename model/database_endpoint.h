// The database as a party of the network: sessions over connections, lock waits, deadlock
// time-outs, restarts, its own clock; every committed change of a row or of the schema goes into
// the history.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "model/database/engine.h"
#include "model/network.h"

namespace fencepost::model {

struct DatabaseOptions {
    // A statement that has waited this long looks for a deadlock (PostgreSQL's deadlock_timeout).
    sim::Duration deadlock_timeout = std::chrono::seconds{1};
    // Of transactions that do not name theirs (default_transaction_isolation).
    IsolationLevel isolation = IsolationLevel::ReadCommitted;
    // What clients of this database give a statement before they give up.
    sim::Duration call_timeout = std::chrono::seconds{20};
};

class DatabaseEndpoint;

// One statement on its way; with empty text, the opening of a session.
class SqlExchange : public Exchange {
public:
    void start(std::string_view text, std::span<const SqlValue> values) {
        statement = text;
        parameters.assign(values.begin(), values.end());
        failure.reset();
        result = {};
        session_ = 0;
        blocked_ = false;
    }
    [[nodiscard]] std::string describe_at_server() const override;

    std::string statement;
    std::vector<SqlValue> parameters;
    SqlResult result;
    std::optional<SqlFailure> failure;

private:
    friend class DatabaseEndpoint;
    DatabaseEndpoint* endpoint_ = nullptr;
    SessionId session_ = 0;
    bool blocked_ = false;
    std::uint64_t wait_ = 0;  // the number of its present wait
};

class DatabaseEndpoint : public Server {
    friend class SqlExchange;

public:
    DatabaseEndpoint(sim::Kernel& kernel, Network& network);

    // Starts a run with a fresh copy of the image, as a party of the network.
    void reset(const DatabaseImage& image, const DatabaseOptions& options);
    [[nodiscard]] sim::PartyId party() const { return party_; }
    [[nodiscard]] const DatabaseOptions& options() const { return options_; }

    // A fresh exchange, valid until the run ends.
    SqlExchange& exchange();

    // The exchanges of this run so far, in the order in which they were started.
    [[nodiscard]] auto exchanges() const { return exchanges_ | std::views::take(used_exchanges_); }

    // Down for a while: open transactions are lost, sessions end, connections break.
    void restart(sim::Duration down_for);
    void jump_clock(sim::Duration by) { clock_.jump(by); }

    // Reads the committed state, outside of any session. For audits and checks, not for handlers.
    SqlResult read_committed(std::string_view query, std::span<const SqlValue> parameters = {});

    // Called after each statement that committed something, its own or that of another that waited
    // for it, once its changes are in the history: with the last of them, and the task that made
    // it. It may look() and record; it must not do anything else to the world. Stays until it is
    // changed.
    using CommitWatch = std::function<void(sim::RecordId change, sim::TaskId task)>;
    void on_commit(CommitWatch watch) { commit_watch_ = std::move(watch); }

    // For who looks on between two events: nothing of the run is changed.
    // The rows that a query finds in the committed state; nullopt when it would have to wait, or
    // fails.
    [[nodiscard]] std::optional<SqlResult> look(std::string_view query);
    [[nodiscard]] const Schema& schema() const { return engine_.schema(); }
    // A statement that waits at a lock, and the tasks whose sessions hold it: of each the one that
    // spoke last on it.
    struct LockWaiter {
        const sim::Task* task = nullptr;
        std::string what;  // "row ledger('k1') held by session 3"
        std::vector<const sim::Task*> holders;
    };
    [[nodiscard]] std::vector<LockWaiter> lock_waiters() const;

    void serve(Exchange& exchange) override;
    void disconnected(Connection& connection, std::string_view why) override;

private:
    void execute(SqlExchange& exchange);
    void fail_transaction(const SqlExchange& exchange);
    void finish(SqlExchange& exchange, SqlAnswer answer);
    void finish_completions();
    void end_session(SessionId session, std::string_view why);
    void watch_wait(SqlExchange& exchange);
    void check_deadlock(SqlExchange& exchange, std::uint64_t wait);
    void record_commit(SessionId session, std::span<const RowChange> changes);
    void record_schema(sim::RecordId cause, sim::TaskId task, std::span<const std::string> dropped);
    void tell_of_commits();
    [[nodiscard]] const SqlExchange* exchange_of(SessionId session) const;
    [[nodiscard]] const sim::Task* speaker_on(SessionId session) const;

    sim::Kernel& kernel_;
    Network& network_;
    DatabaseEngine engine_;
    DatabaseOptions options_;
    sim::PartyId party_ = 0;
    sim::DriftingClock clock_;
    std::deque<SqlExchange> exchanges_;
    std::size_t used_exchanges_ = 0;
    std::map<std::uint32_t, SessionId> sessions_;    // by connection
    std::map<SessionId, SqlExchange*> blocked_;      // statements that wait
    std::map<SessionId, std::string_view> orphans_;  // whose client is gone while they wait
    SqlExchange* running_ = nullptr;                 // whose statement the engine executes now
    std::uint32_t transactions_ = 0;
    std::uint32_t restarts_ = 0;
    CommitWatch commit_watch_;
    struct Commit {
        sim::RecordId change = sim::kNoRecord;
        sim::TaskId task = sim::kNoTask;
    };
    std::optional<Commit> untold_commit_;
    // The schema as the history knows it: tables by id with their columns, then indexes.
    struct KnownTable {
        std::string name;
        std::string columns;
        bool operator==(const KnownTable&) const = default;
    };
    std::vector<KnownTable> known_tables_;
    struct KnownIndex {
        std::string name;
        std::string definition;
        bool operator==(const KnownIndex&) const = default;
    };
    std::vector<KnownIndex> known_indexes_;
};

}  // namespace fencepost::model
