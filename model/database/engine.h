// The engine of the simulated database: PostgreSQL 15 at READ COMMITTED, REPEATABLE READ and
// SERIALIZABLE, as a state machine over one kept SQLite connection. It knows no time, no network
// and no fibers: a statement is answered at once, or it is Blocked and answered later by
// take_completions(), when the transactions that it waits for have ended. When a wait has lasted
// too long is for the caller to decide (fail_wait()).
//
// What holds:
// - A statement sees what was committed as it started, and its own transaction's changes.
// - Whoever writes or locks a row, or inserts a unique key, waits for the open transaction that
//   wrote or locked it, and then looks again: UPDATE, DELETE and FOR UPDATE lock the newest version
//   of the rows that they had found, only of those, and check their WHERE on it; an INSERT fails,
//   does nothing or goes ahead.
// - Waiters go on in the order in which they began to wait. A plain SELECT waits for nobody, except
//   for a transaction that has altered its table.
// - Who makes a table or index of a name that an open transaction has made waits for its end, and
//   gets a unique violation of the catalogue if it commits, also with IF NOT EXISTS.
// - pg_advisory_xact_lock() holds its number until its transaction ends.
// - A failed statement aborts its transaction, or what follows its last savepoint, and gives the
//   locks taken since back at once, as PostgreSQL does. COMMIT then answers kRolledBack.
// - Ids of identity columns and BIGSERIAL are never handed out twice, whatever is rolled back.
// - Nothing but the sequence of calls decides any answer.
//
// How: SQLite holds the committed rows and the changes of at most one open transaction. When
// another session needs the floor, SQLite rolls back and the changes are made again, row by row,
// when their session goes on. So any state is the committed rows plus a list of changes; what an
// older snapshot sees is the committed rows with later commits undone.
//
// Where it differs from PostgreSQL:
// - After a wait, subqueries that stand alone keep the values of the statement's snapshot, as in
//   PostgreSQL; correlated ones and joined tables are read anew. So is the order of FOR UPDATE.
// - Row locks are taken in the order in which SQLite finds rows: that of the primary key, mostly.
// - SERIALIZABLE notes reads by table, as a sequential scan does; a snapshot that sees a deleted
// row
//   beside its own new one with the key is refused.
// - DDL waits for the open transactions that have written or locked rows of its table (CREATE
//   INDEX: written), not for those that have only read it, and holds the table until its own ends.
// - Of advisory locks there are pg_advisory_xact_lock() and pg_try_advisory_xact_lock(), each a
//   statement of its own, with one number or hashtext().
// - Types are SQLite's: a text in a BIGINT column is kept, 1/0 is NULL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/database/flaw.h"
#include "model/database/image.h"
#include "model/database/outcome.h"
#include "model/database/schema.h"
#include "model/database/sql_text.h"

namespace fencepost::model {

class DatabaseEngine {
public:
    // Called once for every COMMIT, and every statement on its own, that changed rows: all of its
    // changes in order. It must not call the engine.
    using CommitObserver = std::function<void(SessionId, std::span<const RowChange>)>;
    // Called once for every COMMIT, and every statement on its own, that changed the schema, before
    // its rows are reported; with the tables that a transaction dropped, in order, though it may
    // have made them again. It must not call the engine, except for schema().
    using SchemaObserver = std::function<void(SessionId, std::span<const std::string> dropped)>;
    // The database's wall clock, in microseconds since 1970, for db_now_us().
    using Clock = std::int64_t (*)(void* context);

    DatabaseEngine();
    ~DatabaseEngine();
    DatabaseEngine(const DatabaseEngine&) = delete;
    DatabaseEngine& operator=(const DatabaseEngine&) = delete;

    // A fresh run: the image's content, no sessions, no completions; clock and observers stay.
    void reset(const DatabaseImage& image);
    // Of transactions that do not name their level, and of statements on their own. Stays.
    void set_default_isolation(IsolationLevel level);
    void set_clock(Clock clock, void* context);
    void set_commit_observer(CommitObserver observer);
    void set_schema_observer(SchemaObserver observer);
    // For tests of tests. Stays until it is changed.
    void plant(DatabaseFlaw flaw);

    [[nodiscard]] SessionId open();
    // Rolls back what is open, also in the middle of a wait; others may go on.
    void close(SessionId session);
    [[nodiscard]] bool is_open(SessionId session) const;

    // One statement, with its parameters $1, $2, …. The session must not be waiting.
    [[nodiscard]] Outcome execute(SessionId session, std::string_view sql,
                                  std::span<const SqlValue> parameters = {});
    // The answer to a query on a session of its own that leaves no trace: the next session gets the
    // id that it would have got. Not during a call of the engine.
    [[nodiscard]] Outcome peek(std::string_view query);
    // The answers to statements that were blocked and have gone on since the last call.
    [[nodiscard]] std::vector<Completion> take_completions();

    [[nodiscard]] bool waiting(SessionId session) const;
    // The sessions that it waits for, in order of their ids. Of those who share a lock, one.
    [[nodiscard]] std::vector<SessionId> waits_for(SessionId session) const;
    // Grows with every wait that begins; 0 if the session does not wait. A statement that has gone
    // on and stands at another lock, or waits for the next holder of a shared one, waits anew.
    [[nodiscard]] std::uint64_t wait_number(SessionId session) const;
    // "row ledger('k1') held by session 3", for reports. Empty if it does not wait.
    [[nodiscard]] std::string describe_wait(SessionId session) const;
    // Whether it waits, directly or not, for itself.
    [[nodiscard]] bool in_deadlock(SessionId session) const;
    // Ends a wait: 40P01 for a deadlock's victim, 55P03 for lock_timeout, 57014 for a cancelled
    // statement. The failure becomes the statement's completion, and aborts its transaction.
    void fail_wait(SessionId session, SqlFailure failure);

    // Between BEGIN and its COMMIT or ROLLBACK, failed or not.
    [[nodiscard]] bool in_transaction(SessionId session) const;
    // Only ROLLBACK, ROLLBACK TO and COMMIT are accepted.
    [[nodiscard]] bool in_failed_transaction(SessionId session) const;

    // Whether, since reset(), it depended on the order of rows in a file, which the model does not
    // know, which SERIALIZABLE transaction had to fail, or when.
    [[nodiscard]] bool order_decided() const;

    // The schema that is committed now. Valid until the next DDL or reset().
    [[nodiscard]] const Schema& schema() const;

    struct State;

private:
    friend class DatabaseImage;
    std::unique_ptr<State> state_;
};

}  // namespace fencepost::model
