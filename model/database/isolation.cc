// REPEATABLE READ and SERIALIZABLE: a transaction that keeps one snapshot.
//
// A snapshot is the number of the last commit that it sees. Commits that come after a snapshot that
// is still open are kept; what the snapshot's transaction sees is the committed rows with those
// undone, and its own changes. As long as nothing has been committed since, a statement runs as at
// READ COMMITTED: both states are the same.
#include <sqlite3.h>

#include "model/database/engine_state.h"
#include "model/database/sql_errors.h"
#include "sim/require.h"

namespace fencepost::model {

using database::ChangeLog;
using database::Holdings;
using database::IsBlocked;

namespace {

SqlFailure concurrent_update() {
    return {"40001", "could not serialize access due to concurrent update"};
}

SqlFailure dependencies() {
    return {"40001",
            "could not serialize access due to read/write dependencies among transactions"};
}

SqlFailure two_versions() {
    return {"0A000",
            "a transaction that sees a deleted row beside a new one with its key is not supported "
            "by the simulated database"};
}

}  // namespace

void DatabaseEngine::State::take_snapshot(SessionState& session) {
    session.snapshot = commit_count;
    if (session.level == IsolationLevel::Serializable) session.serial = serializable.begin();
    ++open_snapshots;
}

void DatabaseEngine::State::release_snapshot(SessionState& session) {
    if (!session.snapshot) return;
    if (session.serial) serializable.roll_back(*session.serial);  // unless it has committed
    session.serial.reset();
    session.snapshot.reset();
    if (--open_snapshots == 0) return later_commits.clear();
    std::uint64_t oldest = commit_count;
    for (std::size_t i = 0; i < session_count; ++i) {
        if (sessions[i].snapshot) oldest = std::min(oldest, *sessions[i].snapshot);
    }
    std::erase_if(later_commits, [&](const auto& commit) { return commit.number <= oldest; });
}

// The tables that a statement reads, as far as its text tells.
DatabaseEngine::State::TableSet DatabaseEngine::State::read_tables(KeptStatement& statement) {
    const auto& insert = statement.parsed.insert;
    if (!insert) return statement.sqlite.tables;
    if (!insert->computed) return 0;
    const auto part = [&](database::TextRange range) {
        return statement.text.substr(range.begin, range.end - range.begin);
    };
    KeptStatement& body = keep(part(insert->with) + part(insert->body));
    return prepare(body) ? statement.sqlite.tables : body.sqlite.tables;
}

// Before a statement runs: what it reads. An INSERT meets readers before it meets the rows in its
// way.
bool DatabaseEngine::State::note_start(SessionState& session, KeptStatement& statement) {
    if (!serializable.note_read(*session.serial, read_tables(statement))) return false;
    const auto& insert = statement.parsed.insert;
    return !insert || !statement.sqlite.target ||
           serializable.note_write(*session.serial, database::table_set(*statement.sqlite.target));
}

// After it has changed rows: what it has written, and what its foreign keys have read.
bool DatabaseEngine::State::note_changes(SessionState& session, std::size_t first) {
    if (!session.serial) return true;
    const ChangeLog& log = session.holdings.log;
    TableSet written = 0;
    TableSet read = 0;
    for (std::size_t i = first; i < log.size(); ++i) {
        const TableInfo& table = schema->tables[log[i].table];
        written |= database::table_set(table.id);
        for (const std::string& key : parent_keys(log, log[i])) {
            read |= database::table_set(database::read_key(key).table);
        }
        const bool keeps_keys =
            mode_of(table, log[i].kind, log.before(log[i]), log.after(log[i])) != LockMode::Update;
        if (keeps_keys || log[i].kind == RowChange::Kind::Insert) continue;
        for (const Referrer& referrer : table.referrers) {
            read |= database::table_set(referrer.child);
        }
    }
    if (!serializable.note_write(*session.serial, written)) return false;
    note_written(session);
    return serializable.note_read(*session.serial, read);
}

void DatabaseEngine::State::note_written(const SessionState& session) {
    if (!session.serial) return;
    const ChangeLog& log = session.holdings.log;
    TableSet written = 0;
    for (std::size_t i = 0; i < log.size(); ++i) written |= database::table_set(log[i].table);
    serializable.set_written(*session.serial, written);
}

// Before a commit. A transaction that may not has to be rolled back.
std::optional<SqlFailure> DatabaseEngine::State::agree_to_commit(SessionState& session) {
    if (!session.serial) return std::nullopt;
    if (!serializable.may_commit(*session.serial)) return dependencies();
    serializable.commit(*session.serial);
    session.serial.reset();
    return std::nullopt;
}

// Whether anything has been committed that the session's snapshot does not see.
bool DatabaseEngine::State::is_stale(const SessionState& session) const {
    return session.snapshot && commit_count > *session.snapshot;
}

// Whether FOR KEY SHARE notices a change: the row's keys change, or the version that it replaces
// was locked so before.
bool DatabaseEngine::State::is_strong(const SessionState& session, std::size_t index) {
    const ChangeLog& log = session.holdings.log;
    const Change& change = log[index];
    const TableInfo& table = schema->tables[change.table];
    if (mode_of(table, change.kind, log.before(change), log.after(change)) == LockMode::Update) {
        return true;
    }
    std::string key, other;
    key_of(table, 0, log.before(change), key);
    std::size_t first = 0;  // since when the version that it replaces is there
    for (std::size_t i = 0; i < index; ++i) {
        if (log[i].table != change.table || log.after(log[i]).empty()) continue;
        key_of(table, 0, log.after(log[i]), other);
        if (key == other) first = i + 1;
    }
    return session.holdings.locks.conflicts_between(key, {LockMode::KeyShare, false}, first, index);
}

void DatabaseEngine::State::keep_commit(const SessionState& session) {
    ++commit_count;
    if (open_snapshots == 0) return;
    database::LaterCommit later{commit_count, session.holdings.log, {}, {}};
    for (std::size_t i = 0; i < later.log.size(); ++i) {
        const Change& change = later.log[i];
        const TableInfo& table = schema->tables[change.table];
        later.strong.push_back(is_strong(session, i));
        key_of(table, 0,
               change.kind == RowChange::Kind::Insert ? later.log.after(change)
                                                      : later.log.before(change),
               key_buffer);
        later.lockers.emplace_back();
        for (const SessionId id : holders) {
            if (id != session.id && change.kind == RowChange::Kind::Update &&
                sessions[id - 1].holdings.locks.conflicts(key_buffer, {LockMode::Update, false})) {
                later.lockers.back().push_back(id);
            }
        }
    }
    later_commits.push_back(std::move(later));
}

// What commits since the snapshot have done to the row that has this key of a unique index.
DatabaseEngine::State::Fate DatabaseEngine::State::fate_of(const SessionState& session,
                                                           const std::string& key) {
    Fate fate;
    if (!session.snapshot) return fate;
    const database::KeyParts parts = database::read_key(key);
    std::string buffer;
    for (const database::LaterCommit& commit : later_commits) {
        if (commit.number <= *session.snapshot) continue;
        for (std::size_t i = 0; i < commit.log.size(); ++i) {
            const Change& change = commit.log[i];
            if (change.table != parts.table) continue;
            const TableInfo& table = schema->tables[change.table];
            const auto matches = [&](std::span<const SqlValue> row) {
                return !row.empty() && key_of(table, parts.index, row, buffer) && buffer == key;
            };
            const bool had = matches(commit.log.before(change));
            const bool has = matches(commit.log.after(change));
            if (!had && !has) continue;
            if (!fate.touched) {
                fate.seen = had;
                fate.lockers = commit.lockers[i];
            }
            fate.touched = true;
            fate.strong |= commit.strong[i];
            fate.gone |= had && !has;
        }
    }
    return fate;
}

// Who has locked the version that the snapshot has is waited for before anybody looks whether there
// is a newer one.
bool DatabaseEngine::State::waits_for_lockers(SessionState& session, const Fate& fate,
                                              const std::string& key, LockRequest request) {
    for (const SessionId id : fate.lockers) {
        if (id == session.id || !sessions[id - 1].holdings.locks.conflicts(key, request)) continue;
        session.wait.key = key;
        session.wait.request = request;
        return true;
    }
    return false;
}

// Makes SQLite hold what the session's snapshot sees. It cannot if the session has a row with the
// key of one that others have deleted since: it sees both.
std::optional<SqlFailure> DatabaseEngine::State::view_snapshot(SessionState& session) {
    if (resident == session.id && resident_is_view) return std::nullopt;
    evict();
    begin(session);
    resident_is_view = true;
    connection.defer_foreign_keys();
    bool possible = true;
    for (auto commit = later_commits.rbegin(); possible && commit != later_commits.rend();
         ++commit) {
        if (commit->number <= *session.snapshot) break;
        for (std::size_t i = commit->log.size(); possible && i-- > 0;) {
            possible = connection.try_revert(commit->log, commit->log[i]) == SQLITE_OK;
        }
    }
    const ChangeLog& log = session.holdings.log;
    for (std::size_t i = 0; possible && i < log.size(); ++i) {
        possible = connection.try_apply(log, log[i]) == SQLITE_OK;
    }
    if (possible) return std::nullopt;
    evict();
    return two_versions();
}

// A statement of a transaction that is not at READ COMMITTED.
DatabaseEngine::State::Attempt DatabaseEngine::State::run_isolated(SessionState& session,
                                                                   KeptStatement& statement,
                                                                   Parameters parameters,
                                                                   bool again) {
    if (!session.snapshot) take_snapshot(session);
    if (session.serial && !note_start(session, statement)) return dependencies();
    if (is_stale(session)) return run_on_snapshot(session, statement, parameters, again);
    return run_prepared(session, statement, parameters, again);
}

DatabaseEngine::State::Attempt DatabaseEngine::State::run_on_snapshot(SessionState& session,
                                                                      KeptStatement& statement,
                                                                      Parameters parameters,
                                                                      bool again) {
    session.wait.candidates.reset();
    const StatementKind kind = statement.parsed.kind;
    if (kind == StatementKind::Write)
        return write_on_snapshot(session, statement, parameters, again);
    if (auto failure = view_snapshot(session)) return std::move(*failure);
    if (kind == StatementKind::Query) return rows_of(statement, parameters);
    return lock_on_snapshot(session, statement, parameters);
}

// An INSERT computes its rows from the snapshot, and then meets the rows that are there by now.
DatabaseEngine::State::Attempt DatabaseEngine::State::write_on_snapshot(SessionState& session,
                                                                        KeptStatement& statement,
                                                                        Parameters parameters,
                                                                        bool again) {
    if (!statement.parsed.locking_subqueries.empty()) {
        return run_locking_subquery(session, statement, parameters, again);
    }
    if (!statement.parsed.insert) return update_on_snapshot(session, statement, parameters);
    if (!statement.parsed.insert->computed || session.wait.frozen) {
        return run_write(session, statement, parameters, again);
    }
    if (auto failure = view_snapshot(session)) return std::move(*failure);
    freeze_insert(session, statement, parameters);
    if (!session.wait.frozen) {
        // There is nothing to insert, or its rows cannot be computed.
        std::vector<SqlValue> none;
        const int code = step_all(statement.sqlite, parameters, none);
        if (code != SQLITE_OK) return failure_now(code);
        sim::require(changes == 0, "an INSERT without rows inserts none");
        const int columns = sqlite3_column_count(statement.sqlite.handle.get());
        return SqlResult(static_cast<std::size_t>(columns), {}, 0);
    }
    if (auto failure = prepare(*session.wait.statement)) return std::move(*failure);
    return run_write(session, *session.wait.statement, session.wait.parameters, again);
}

// UPDATE and DELETE find their rows in the snapshot. Each must still be as it was; then the changes
// are made to the rows that are there by now.
DatabaseEngine::State::Attempt DatabaseEngine::State::update_on_snapshot(SessionState& session,
                                                                         KeptStatement& statement,
                                                                         Parameters parameters) {
    if (auto failure = view_snapshot(session)) return std::move(*failure);
    add_missing_locks();
    FoundChanges found;
    if (auto failure = find_changes(session, statement, parameters, found)) return *failure;
    bool violates = false;
    for (std::size_t i = 0; i < found.log.size(); ++i) {
        const Change& change = found.log[i];
        if (change.cascaded) continue;
        if (found.replaces && change.kind == RowChange::Kind::Delete) {
            // The key of this row goes to the next one: unless this one has changed since.
            key_of(schema->tables[change.table], 0, found.log.before(change), key_buffer);
            violates |= !fate_of(session, key_buffer).touched;
            continue;
        }
        const Check check = check_unchanged(session, found.log, change);
        if (check == Check::Failed) return concurrent_update();
        if (check == Check::Waits || !lock_keys(session, found.log, change)) {
            note_holding(session);
            return IsBlocked{};
        }
        if (violates) return found.violation;
    }
    if (auto failed = apply_found(session, found)) return std::move(*failed);
    const auto columns =
        static_cast<std::size_t>(sqlite3_column_count(statement.sqlite.handle.get()));
    return SqlResult(columns, std::move(found.rows), found.affected);
}

// Runs the statement in the snapshot. A unique key may be taken there and free by now: so it runs
// once more, taking the key from the row that has it.
std::optional<SqlFailure> DatabaseEngine::State::find_changes(SessionState& session,
                                                              KeptStatement& statement,
                                                              Parameters parameters,
                                                              FoundChanges& found) {
    asking = session.id;
    connection.sequences.drawn = &session.wait.drawn;
    connection.sequences.drawn_again = 0;
    connection.record_into(&found.log);
    int code = step_all(statement.sqlite, parameters, found.rows);
    found.affected = changes;
    std::optional<SqlFailure> failure;
    if (code != SQLITE_OK) failure = failure_now(code);
    if (database::is_unique_violation(code) && prepare_variant(statement, statement.trial, true)) {
        found.violation = std::move(*failure);
        failure.reset();
        found.replaces = true;
        found.log.clear();
        found.rows.clear();
        connection.sequences.drawn_again = 0;
        code = step_all(statement.trial, parameters, found.rows);
        found.affected = changes;
        if (code != SQLITE_OK) failure = failure_now(code);
    }
    connection.record_into(nullptr);
    evict();
    return failure;
}

// Whether a row is still as the snapshot has it.
DatabaseEngine::State::Check DatabaseEngine::State::check_unchanged(SessionState& session,
                                                                    const ChangeLog& log,
                                                                    const Change& change) {
    const TableInfo& table = schema->tables[change.table];
    key_of(table, 0, log.before(change), key_buffer);
    const std::string key = key_buffer;
    const Fate fate = fate_of(session, key);
    const LockMode mode = mode_of(table, change.kind, log.before(change), log.after(change));
    if (waits_for_lockers(session, fate, key, {mode, false})) return Check::Waits;
    return fate.touched ? Check::Failed : Check::Passed;
}

// Makes the changes that were found in the snapshot. What follows by foreign keys follows anew.
std::optional<DatabaseEngine::State::Attempt> DatabaseEngine::State::apply_found(
    SessionState& session, const FoundChanges& found) {
    Holdings& holdings = session.holdings;
    const std::size_t first = holdings.log.size();
    make_resident(session);
    begin(session);
    int code = SQLITE_OK;
    connection.record_into(&holdings.log);
    for (std::size_t i = 0; i < found.log.size() && code == SQLITE_OK; ++i) {
        const Change& change = found.log[i];
        const bool replaced = found.replaces && change.kind == RowChange::Kind::Delete;
        if (!change.cascaded && !replaced) code = connection.try_apply(found.log, change);
    }
    connection.record_into(nullptr);
    if (code != SQLITE_OK) {
        SqlFailure failure = failure_now(code);
        if (database::is_foreign_key_violation(code) && references_wait(session, first)) {
            holdings.log.truncate(first);
            drop_if_resident(session);
            note_holding(session);
            return IsBlocked{};
        }
        holdings.log.truncate(first);
        return failure;
    }
    if (auto failure = check_followers(session, first)) return *failure;
    if (!lock_changes(session, first)) {
        holdings.log.truncate(first);
        drop_if_resident(session);
        note_holding(session);
        return IsBlocked{};
    }
    if (auto failure = finish_write(session, first, true)) return *failure;
    return std::nullopt;
}

// After a write on a stale snapshot: rows that follow their parent must be in it, and so must the
// parents that rows refer to.
std::optional<SqlFailure> DatabaseEngine::State::check_followers(SessionState& session,
                                                                 std::size_t first) {
    const ChangeLog& log = session.holdings.log;
    std::optional<SqlFailure> failure;
    for (std::size_t i = first; i < log.size() && !failure; ++i) {
        if (log[i].cascaded && !log.before(log[i]).empty()) {
            key_of(schema->tables[log[i].table], 0, log.before(log[i]), key_buffer);
            if (fate_of(session, key_buffer).touched) failure = concurrent_update();
        }
        for (const std::string& key : parent_keys(log, log[i])) {
            const Fate fate = fate_of(session, key);
            if (!fate.touched || failure) continue;
            if (!fate.seen) {
                failure = SqlFailure{"23503", "the row that a foreign key refers to is too new"};
            } else if (fate.strong) {
                failure = concurrent_update();
            }
        }
    }
    return failure;
}

}  // namespace fencepost::model
