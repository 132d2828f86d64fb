// The inside of DatabaseEngine. Its functions are spread over engine.cc (sessions, waits),
// transactions.cc, statements.cc (running SQL), definitions.cc (DDL), advisory.cc, conflicts.cc
// (locks) and snapshots.cc.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/database/candidates.h"
#include "model/database/change_log.h"
#include "model/database/connection.h"
#include "model/database/ddl.h"
#include "model/database/engine.h"
#include "model/database/lock_set.h"
#include "model/database/serializable.h"

namespace fencepost::model {

struct DatabaseImage::Content {
    std::vector<std::uint8_t> bytes;
    std::shared_ptr<const Schema> schema;
    std::vector<std::int64_t> sequences;
    database::TableSet filled = 0;  // the tables that have rows
};

namespace database {

// A statement kept by its text.
struct KeptStatement {
    std::string text;
    Statement parsed;
    std::uint64_t schema_id = 0;  // for which `sqlite` was prepared; 0 if it was not
    PreparedText sqlite;
    // Variants of an UPDATE or DELETE, made when they are needed: for candidates only, and that as
    // UPDATE OR REPLACE. Of an INSERT … DO UPDATE, its update of one row as UPDATE OR REPLACE.
    PreparedText retry;
    PreparedText trial;
    TableSet named = 0;  // the tables that the text itself names; foreign keys lead to others
    // DO UPDATE locks rows that the changes do not tell of.
    bool locks_apart = false;
    KeptStatement* proposal = nullptr;  // of an INSERT: the query of the rows that it proposes
};

// What a session has changed and locked in its open transaction or its waiting statement.
struct Holdings {
    struct DdlChange {
        std::size_t log_size;  // it was made after so many row changes
        std::string table;
        std::string creates;  // a table or index of this name
        TableLock lock = TableLock::Exclusive;
        std::string sqlite;
        bool drops = false;  // the table, or an index

        [[nodiscard]] bool drops_table() const { return drops && !table.empty(); }
    };
    struct Mark {
        std::size_t changes;
        std::size_t locks;
        std::size_t ddl;
    };

    ChangeLog log;
    LockSet locks;
    std::vector<DdlChange> ddl;
    std::size_t locked_changes = 0;  // the locks of so many changes are in `locks`
    TableSet tables = 0;             // where the changes are; may be too many

    [[nodiscard]] bool empty() const { return log.empty() && locks.empty() && ddl.empty(); }
    [[nodiscard]] bool changed() const { return !log.empty() || !ddl.empty(); }
    [[nodiscard]] Mark mark() const { return {log.size(), locks.size(), ddl.size()}; }
    void truncate(Mark mark) {
        log.truncate(mark.changes);
        locks.truncate(mark.locks);
        ddl.resize(std::min(mark.ddl, ddl.size()));
        locked_changes = std::min(locked_changes, mark.changes);
    }
    void clear() {
        log.clear();
        locks.clear();
        ddl.clear();
        locked_changes = 0;
        tables = 0;
    }
};

// Why a statement waits, and what it needs to go on.
struct Wait {
    // What it waits for: a key, or the name of a table or index that it wants to make, or, if both
    // are empty, a table.
    std::string key;
    LockRequest request;
    std::string relation;
    std::string table;
    TableLock lock = TableLock::None;  // on the table
    bool drops = false;                // waits for all others
    bool look_again = false;     // the row is gone or has another key: whoever has this one now is
                                 // not in the way
    bool newest = false;         // it wants the newest version, whatever its snapshot has
    bool parent = false;         // the row is one that a foreign key refers to
    bool child = false;          // the row is one that refers to a row of the statement
    bool changed_since = false;  // it, or the newest version that it wants; matters to snapshots
    bool parent_gone = false;    // it was deleted, even if another has its key now
    bool newer = false;          // for a weak lock: there is a newer version of the row
    // An INSERT … ON CONFLICT that waits while it puts this row's keys into indexes: it does not
    // look for a conflict again.
    std::optional<std::size_t> inserting_row;
    // One that waits while it looks for a conflict: it goes on with this index of this row.
    struct Arbiter {
        std::size_t row;
        std::size_t index;
    };
    std::optional<Arbiter> arbiter;
    // What the statement has read and written already: when it goes on after a wait, it neither
    // reads nor writes that again.
    TableSet read = 0;
    TableSet written = 0;
    // Whose transactions must end, although the lock is given back: it was taken in a savepoint
    // that had been released, and PostgreSQL waits for the whole transaction then.
    std::vector<SessionId> to_their_end;
    std::vector<SessionId> holders;  // who is in the way
    std::uint64_t number = 0;        // of the wait for them
    std::uint64_t since = 0;         // the number of the first wait for this key, or for the lock
                                     // of it if it was only probed before
    bool queues = true;              // with others that wait for it

    KeptStatement* statement = nullptr;
    std::vector<SqlValue> parameters;
    bool frozen = false;  // the statement's subqueries have been replaced by their values
    std::optional<Candidates> candidates;
    std::map<std::string, std::vector<SqlValue>> versions;  // of rows, as FOR KEY SHARE found them
    std::vector<std::int64_t> drawn;                        // identity values

    void for_table(const std::string& name, TableLock wanted) {
        key.clear();
        relation.clear();
        table = name;
        lock = wanted;
        drops = false;
    }
    void for_relation(const std::string& name) {
        key.clear();
        relation = name;
    }
    void clear() {
        relation.clear();
        versions.clear();
        parameters.clear();
        newest = frozen = look_again = parent = parent_gone = newer = child = changed_since = false;
        candidates.reset();
        inserting_row.reset();
        arbiter.reset();
        to_their_end.clear();
        drawn.clear();
    }
};

// A commit that an open snapshot does not see.
struct LaterCommit {
    std::uint64_t number;
    std::optional<SerializableTransactions::Number> serial;
    ChangeLog log;
    std::vector<bool> strong;  // for each change: whether FOR KEY SHARE notices it
    // The same for one that comes to the version that it replaced from an older one.
    std::vector<bool> strong_for_followers;
    // For each change: who held a weak lock on the version that it replaced.
    std::vector<std::vector<SessionId>> lockers;
};

struct Savepoint {
    std::string name;
    Holdings::Mark mark;
};

struct SessionState {
    SessionId id = 0;
    bool open = false;
    bool in_block = false;  // after BEGIN
    bool failed = false;
    bool waiting = false;
    IsolationLevel level = IsolationLevel::ReadCommitted;
    std::uint64_t writer_number = 0;  // of those that have written or locked, in order; 0: not yet
    std::optional<database::SerializableTransactions::Number> serial;  // at SERIALIZABLE
    std::optional<std::uint64_t> snapshot;  // the last commit that it sees; not at READ COMMITTED
    Holdings holdings;
    std::vector<Savepoint> savepoints;
    Wait wait;
};

// The statement is blocked; why is in the session's wait.
struct IsBlocked {};
using Attempt = std::variant<SqlResult, SqlFailure, IsBlocked>;

}  // namespace database

struct DatabaseEngine::State {
    using KeptStatement = database::KeptStatement;
    using SessionState = database::SessionState;
    using Attempt = database::Attempt;
    using LockMode = database::LockMode;
    using LockRequest = database::LockRequest;
    using Change = database::ChangeLog::Change;
    using TableSet = database::TableSet;
    using Parameters = std::span<const SqlValue>;

    State();

    // engine.cc
    void reset(std::shared_ptr<const DatabaseImage::Content> content);
    SessionState& session(SessionId id);
    const SessionState& session(SessionId id) const;
    Outcome execute(SessionState& session, std::string_view sql, Parameters parameters);
    Outcome settle(SessionState& session, KeptStatement& statement, Parameters parameters,
                   Attempt attempt);
    std::vector<SessionId> lock_holders(const SessionState& session);
    std::vector<SessionId> blockers(const SessionState& session);
    bool stands_in_queue(const SessionState& session);
    std::vector<SessionId> awaited(const SessionState& session);
    bool queues_behind(const SessionState& session, const SessionState& other) const;
    bool is_blocked(const SessionState& session);
    bool still_blocked(SessionState& waiter);
    void wake();
    std::optional<SqlAnswer> retry(SessionState& session);
    void stop_waiting(SessionState& session);
    Attempt end_alone(SessionState& session, Attempt attempt);
    std::string describe_key(const std::string& key) const;
    bool has(DatabaseFlaw wanted) const { return flaw == wanted; }

    // transactions.cc
    Outcome control_transaction(SessionState& session, const database::Statement& statement);
    Outcome end_savepoint(SessionState& session, const database::Statement& statement);
    SqlFailure abort(SessionState& session, SqlFailure failure);
    void roll_back_to(SessionState& session, database::Holdings::Mark mark);
    void end_waits_for(const SessionState& session);
    void commit(SessionState& session);
    void roll_back(SessionState& session);
    void note_holding(SessionState& session);
    void report_commit(SessionState& session);
    void make_resident(SessionState& session);
    void make_visible(SessionState& session, TableSet tables);
    void evict();
    void drop_if_resident(const SessionState& session);
    void begin(SessionState& session);

    // statements.cc
    KeptStatement& keep(std::string_view sql);
    std::optional<SqlFailure> prepare(KeptStatement& statement);
    std::string sqlite_text(const KeptStatement& statement, database::TextEdits edits,
                            std::optional<SqlFailure>& failure) const;
    std::string candidate_test(const std::string& table, const std::string& qualifier,
                               std::optional<SqlFailure>& failure) const;
    Attempt run(SessionState& session, KeptStatement& statement, Parameters parameters, bool again);
    Attempt run_prepared(SessionState& session, KeptStatement& statement, Parameters parameters,
                         bool again);
    Attempt run_query(SessionState& session, KeptStatement& statement, Parameters parameters);
    Attempt run_locking_query(SessionState& session, KeptStatement& statement,
                              Parameters parameters, bool again);
    std::optional<SqlFailure> finish_write(SessionState& session, std::size_t first, bool locked);
    int bind_locking_query(const KeptStatement& statement, Parameters parameters);
    void row_key(const KeptStatement& statement, const TableInfo& table, int columns);
    void remember_row(SessionState& session, database::Candidates& found,
                      const KeptStatement& statement, int columns);
    Attempt lock_again(SessionState& session, KeptStatement& statement, Parameters parameters);
    Attempt run_write(SessionState& session, KeptStatement& statement, Parameters parameters,
                      bool again);
    Attempt block_write(SessionState& session, KeptStatement& statement, Parameters parameters,
                        bool again);
    bool prepare_variant(const KeptStatement& statement, database::PreparedText& variant,
                         bool replace);
    int step_all(database::PreparedText& prepared, Parameters parameters,
                 std::vector<SqlValue>& rows);
    SqlFailure failure_now(int code) const;
    Attempt rows_of(KeptStatement& statement, Parameters parameters);

    // definitions.cc
    Attempt run_ddl(SessionState& session, KeptStatement& statement, bool again);
    void adopt_schema(const std::string& ddl);
    bool knows_tables_of(const Schema& read);
    void publish_schema(SessionState& session);

    // advisory.cc
    Attempt run_advisory_lock(SessionState& session, const KeptStatement& statement,
                              Parameters parameters);

    // conflicts.cc: locks
    bool others_hold(const SessionState& session) const;
    bool is_held(const SessionState& asking, std::string_view key, LockRequest request) const;
    void add_missing_locks(SessionState& session);
    void add_missing_locks();
    bool key_of(const TableInfo& table, std::size_t index, std::span<const SqlValue> row,
                std::string& key);
    static LockMode mode_of(const TableInfo& table, RowChange::Kind kind,
                            std::span<const SqlValue> before, std::span<const SqlValue> after);
    template <typename Visitor>
    bool visit_keys(const database::ChangeLog& log, const Change& change, Visitor&& visit);
    template <typename Visitor>
    bool visit_parents(const database::ChangeLog& log, const Change& change, Visitor&& visit);
    bool take_lock(SessionState& session, const std::string& key, LockRequest request,
                   bool written);
    std::vector<std::string> parent_keys(const database::ChangeLog& log, const Change& change);
    bool lock_keys(SessionState& session, const database::ChangeLog& log, const Change& change);
    std::optional<Attempt> settle_changes(SessionState& session, std::size_t first);
    std::optional<Attempt> settle_references(SessionState& session, const database::ChangeLog& log,
                                             const Change& change);
    bool blocked_by_ddl(SessionState& session, const KeptStatement& statement);
    std::optional<Attempt> violates_held_key(SessionState& session, KeptStatement& statement,
                                             Parameters parameters);
    bool updates_to_held_key(SessionState& session, KeptStatement& statement,
                             Parameters parameters);
    bool trial_waits(SessionState& session, database::PreparedText& variant, Parameters parameters,
                     database::ChangeLog& trial);

    // inserts.cc
    enum class Proposal { Inserts, Updates, Skipped, Conflicts, Violates, Unseen, Waits };
    std::optional<Attempt> insert_waits(SessionState& session, KeptStatement& statement,
                                        Parameters parameters, bool violated);
    Proposal arbitrate(SessionState& session, const TableInfo& table,
                       const database::InsertParts& parts, std::span<const SqlValue> row,
                       std::vector<SqlValue>& existing, std::size_t& index);
    Proposal enter_keys(SessionState& session, const TableInfo& table,
                        const database::InsertParts& parts, std::span<const SqlValue> row,
                        std::size_t& index);
    bool proposes_held_key(const SessionState& session, const KeptStatement& statement,
                           const TableInfo& table, const SqlResult& rows);
    bool key_is_free(SessionState& session);
    std::optional<SqlFailure> prepare_upsert(KeptStatement& statement);
    bool upsert_waits(SessionState& session, KeptStatement& statement, Parameters parameters,
                      std::span<const SqlValue> proposed, std::span<const SqlValue> existing);
    static LockMode upsert_mode(const TableInfo& table, const database::InsertParts& parts);
    std::optional<std::vector<SqlValue>> row_with_key(const TableInfo& table, std::size_t index,
                                                      std::span<const SqlValue> row);
    bool proposed_rows(KeptStatement& statement, Parameters parameters, SqlResult& rows);
    std::vector<SqlValue> proposed_row(const KeptStatement& statement, const TableInfo& table,
                                       const SqlResult& rows, std::size_t row);

    // references.cc: foreign keys
    enum class Check { Passed, Failed, Waits, Refused };
    Check check_references(SessionState& session, std::size_t first);
    Check lock_and_note(SessionState& session, const database::ChangeLog& log,
                        const Change& change);
    Check check_children(SessionState& session, const TableInfo& table,
                         std::span<const SqlValue> before, std::span<const SqlValue> after);
    Check check_parents(SessionState& session, const TableInfo& table,
                        std::span<const SqlValue> before, std::span<const SqlValue> after);
    SqlResult rows_with(const TableInfo& table, std::span<const std::uint16_t> columns,
                        std::span<const SqlValue> values);
    KeptStatement& row_query(const TableInfo& table, std::span<const std::uint16_t> columns);

    // isolation.cc: transactions with one snapshot
    struct Fate {
        bool touched = false;  // by a commit since the snapshot
        bool seen = true;      // the snapshot has it
        bool strong = false;   // FOR KEY SHARE notices it
        bool gone = false;
        std::vector<SessionId> lockers;  // of the version that the snapshot has
    };
    void take_snapshot(SessionState& session);
    void release_snapshot(SessionState& session);
    bool is_stale(const SessionState& session) const;
    // Of a session that is alone: whether anybody may yet ask which locks it has taken.
    bool locks_matter(const SessionState& session) const {
        return session.in_block || open_snapshots > 0;
    }
    bool is_strong(const SessionState& session, std::size_t index, std::size_t first_lock = 0);
    static std::size_t first_lock_beside(const SessionState& session, std::size_t index);
    void keep_commit(const SessionState& session);
    Fate fate_of(const SessionState& session, const std::string& key);
    bool waits_for_lockers(SessionState& session, const Fate& fate, const std::string& key,
                           LockRequest request);
    std::optional<SqlFailure> view_snapshot(SessionState& session);
    Attempt run_isolated(SessionState& session, KeptStatement& statement, Parameters parameters,
                         bool again);
    Attempt run_on_snapshot(SessionState& session, KeptStatement& statement, Parameters parameters,
                            bool again);
    Attempt lock_on_snapshot(SessionState& session, KeptStatement& statement,
                             Parameters parameters);
    Attempt write_on_snapshot(SessionState& session, KeptStatement& statement,
                              Parameters parameters, bool again);
    Attempt update_on_snapshot(SessionState& session, KeptStatement& statement,
                               Parameters parameters);
    // What an UPDATE or DELETE does in the snapshot.
    struct FoundChanges {
        database::ChangeLog log;
        std::vector<SqlValue> rows;
        std::int64_t affected = 0;
        bool replaces = false;  // rows that have a key that another row gets are deleted before
        SqlFailure violation;
    };
    std::optional<SqlFailure> find_changes(SessionState& session, KeptStatement& statement,
                                           Parameters parameters, FoundChanges& found);
    Check check_unchanged(SessionState& session, const database::ChangeLog& log,
                          const Change& change);
    std::optional<Attempt> apply_found(SessionState& session, const FoundChanges& found);
    std::optional<SqlFailure> check_followers(SessionState& session, std::size_t first);
    std::optional<SqlFailure> check_follower(const SessionState& session,
                                             const database::ChangeLog& log, const Change& change);
    std::optional<SqlFailure> check_parent(const SessionState& session, const std::string& key);

    // serial_notes.cc: what SERIALIZABLE transactions read and write
    static SqlFailure dependencies();
    TableSet read_tables(KeptStatement& statement);
    TableSet children_of(const TableInfo& table, std::span<const SqlValue> before,
                         std::span<const SqlValue> after) const;
    std::vector<database::SerializableTransactions::Number> replaced_writers(
        const SessionState& session, TableSet tables);
    bool note_read(SessionState& session, TableSet tables);
    bool note_newest_read(SessionState& session, TableSet tables);
    bool note_write(SessionState& session, std::size_t table);
    bool note_insert(SessionState& session, const KeptStatement& statement, int code);
    void note_written(const SessionState& session);
    std::optional<SqlFailure> agree_to_commit(SessionState& session);

    // snapshots.cc: what a waiting statement keeps of its snapshot
    void remember_candidates(SessionState& session, const KeptStatement& statement,
                             const database::ChangeLog& log, std::size_t first);
    bool lock_candidates(SessionState& session, std::size_t first);
    std::string constants_of(const KeptStatement& query, const SqlResult& rows,
                             std::vector<SqlValue>& parameters);
    KeptStatement& inner_query(const KeptStatement& statement, database::TextRange range);
    Attempt run_locking_subquery(SessionState& session, KeptStatement& statement,
                                 Parameters parameters, bool again);
    void freeze(SessionState& session, KeptStatement& statement, Parameters parameters);
    void freeze_insert(SessionState& session, KeptStatement& statement, Parameters parameters);
    void freeze_subqueries(SessionState& session, KeptStatement& statement, Parameters parameters);
    void note_changed_row(database::Wait& wait, const SessionState& committing);
    void follow_moved_rows(const SessionState& committing);

    struct TextHash {
        using is_transparent = void;
        // Statements are long: std::hash takes three times as many instructions for them.
        std::size_t operator()(std::string_view text) const {
            return XXH3_64bits(text.data(), text.size());
        }
    };

    // The query of a table's rows with given values in given columns.
    struct RowQuery {
        TableId table;
        std::vector<std::uint16_t> columns;
        KeptStatement* statement;
    };

    database::Connection connection;
    std::shared_ptr<const DatabaseImage::Content> image;
    std::shared_ptr<const Schema> schema;     // as SQLite has it now
    std::shared_ptr<const Schema> committed;  // without the DDL of open transactions
    std::unordered_map<std::string,           // never iterated
                       std::unique_ptr<KeptStatement>, TextHash, std::equal_to<>>
        kept;
    std::vector<RowQuery> row_queries;  // for the schema of this id
    std::uint64_t row_queries_schema = 0;

    // Sessions by id - 1; objects beyond session_count are kept for later runs.
    std::deque<SessionState> sessions;
    std::size_t session_count = 0;
    SessionId resident = 0;         // whose changes SQLite holds beside the committed rows
    bool resident_is_view = false;  // or beside those that its snapshot sees
    IsolationLevel default_level = IsolationLevel::ReadCommitted;
    std::uint64_t commit_count = 0;
    std::size_t open_snapshots = 0;
    std::vector<database::LaterCommit> later_commits;  // those that an open snapshot does not see
    database::SerializableTransactions serializable;
    TableSet ever_written = 0;  // tables that had rows at first, or in a SERIALIZABLE transaction
    std::optional<database::SerializableTransactions::Number>
        committing_serial;           // of the next commit
    std::vector<SessionId> holders;  // sessions that hold anything, sorted
    std::vector<SessionId> waiters;  // in the order in which they began to wait
    std::uint64_t wait_count = 0;
    std::uint64_t writer_count = 0;
    DatabaseFlaw flaw = DatabaseFlaw::None;
    std::vector<std::int64_t> committed_ids;  // for a flaw
    std::vector<Completion> completions;
    CommitObserver observer;
    SchemaObserver schema_observer;
    std::vector<std::string> known_tables;  // of this run, each at its id
    // By the schema before it and its text, what a DDL statement of any run has left.
    std::map<std::pair<std::uint64_t, std::string>, std::shared_ptr<const Schema>> schemas_after;
    std::vector<RowChange> reported;  // kept for its memory
    std::string key_buffer, second_key_buffer;
    SessionId asking = 0;      // whose statement tests rows
    std::int64_t changes = 0;  // rows that the last step_all() changed
};

}  // namespace fencepost::model
