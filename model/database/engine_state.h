// The inside of DatabaseEngine. Its functions are spread over engine.cc (sessions, waits),
// transactions.cc, statements.cc (running SQL), definitions.cc (DDL), advisory.cc, conflicts.cc
// (locks) and snapshots.cc.
#pragma once

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

namespace fencepost::model {

struct DatabaseImage::Content {
    std::vector<std::uint8_t> bytes;
    std::shared_ptr<const Schema> schema;
    std::vector<std::int64_t> sequences;
};

namespace database {

// A statement kept by its text.
struct KeptStatement {
    std::string text;
    Statement parsed;
    std::uint64_t schema_id = 0;  // for which `sqlite` was prepared; 0 if it was not
    PreparedText sqlite;
    // Variants of an UPDATE or DELETE, made when they are needed: for candidates only, and that as
    // UPDATE OR REPLACE.
    PreparedText retry;
    PreparedText trial;
};

// What a session has changed and locked in its open transaction or its waiting statement.
struct Holdings {
    struct DdlChange {
        std::size_t log_size;  // it was made after so many row changes
        std::string table;
        std::string creates;  // a table or index of this name
        TableLock lock = TableLock::Exclusive;
        std::string sqlite;
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
    bool look_again = false;  // the row is gone or has another key: whoever has this one now is
                              // not in the way

    KeptStatement* statement = nullptr;
    std::vector<SqlValue> parameters;
    bool frozen = false;  // the statement's subqueries have been replaced by their values
    std::optional<Candidates> candidates;
    std::vector<std::int64_t> drawn;  // identity values

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
        parameters.clear();
        frozen = look_again = false;
        candidates.reset();
        drawn.clear();
    }
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
    std::vector<SessionId> blockers(const SessionState& session) const;
    bool is_blocked(const SessionState& session) const;
    void wake();
    std::optional<SqlAnswer> retry(SessionState& session);
    void stop_waiting(SessionState& session);
    std::string describe_key(const std::string& key) const;

    // transactions.cc
    Outcome control_transaction(SessionState& session, const database::Statement& statement);
    Outcome end_savepoint(SessionState& session, const database::Statement& statement);
    SqlFailure abort(SessionState& session, SqlFailure failure);
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
    std::string row_test(database::RowTest test, const std::string& table,
                         const std::string& qualifier, std::optional<SqlFailure>& failure) const;
    Attempt run(SessionState& session, KeptStatement& statement, Parameters parameters, bool again);
    Attempt run_query(SessionState& session, KeptStatement& statement, Parameters parameters);
    Attempt run_locking_query(SessionState& session, KeptStatement& statement,
                              Parameters parameters, bool again);
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
    bool visit_locks(const database::ChangeLog& log, const Change& change, Visitor&& visit);
    bool lock_change(SessionState& session, const database::ChangeLog& log, const Change& change);
    bool lock_changes(SessionState& session, std::size_t first);
    bool blocked_by_ddl(SessionState& session, const KeptStatement& statement);
    bool inserts_held_key(SessionState& session, KeptStatement& statement, Parameters parameters,
                          std::optional<std::size_t> only_row);
    bool violates_held_key(SessionState& session, KeptStatement& statement, Parameters parameters,
                           std::size_t inserted);
    bool updates_to_held_key(SessionState& session, KeptStatement& statement,
                             Parameters parameters);
    bool proposed_rows(KeptStatement& statement, Parameters parameters, SqlResult& rows);
    std::vector<SqlValue> proposed_row(const KeptStatement& statement, const TableInfo& table,
                                       const SqlResult& rows, std::size_t row);

    // snapshots.cc: what a waiting statement keeps of its snapshot
    void remember_candidates(SessionState& session, const KeptStatement& statement,
                             const database::ChangeLog& log, std::size_t first);
    bool lock_candidates(SessionState& session);
    void freeze(SessionState& session, KeptStatement& statement, Parameters parameters);
    void freeze_insert(SessionState& session, KeptStatement& statement, Parameters parameters);
    void freeze_subqueries(SessionState& session, KeptStatement& statement, Parameters parameters);
    void follow_moved_rows(const SessionState& committing);

    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    database::Connection connection;
    std::shared_ptr<const DatabaseImage::Content> image;
    std::shared_ptr<const Schema> schema;     // as SQLite has it now
    std::shared_ptr<const Schema> committed;  // without the DDL of open transactions
    std::unordered_map<std::string,           // never iterated
                       std::unique_ptr<KeptStatement>, TextHash, std::equal_to<>>
        kept;

    // Sessions by id - 1; objects beyond session_count are kept for later runs.
    std::deque<SessionState> sessions;
    std::size_t session_count = 0;
    SessionId resident = 0;          // whose changes SQLite holds beside the committed rows
    std::vector<SessionId> holders;  // sessions that hold anything, sorted
    std::vector<SessionId> waiters;  // in the order in which they began to wait
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
