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

// Whether anything has been committed that the session's snapshot does not see.
bool DatabaseEngine::State::is_stale(const SessionState& session) const {
    return session.snapshot && commit_count > *session.snapshot;
}

// Whether FOR KEY SHARE notices a change: the row's keys change, or the version that it replaces
// was locked so before.
bool DatabaseEngine::State::is_strong(const SessionState& session, std::size_t index,
                                      std::size_t first_lock) {
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
    return session.holdings.locks.conflicts_between(key, {LockMode::KeyShare, false}, first, index,
                                                    first_lock);
}

// The first lock that was taken in the same savepoint as this change.
std::size_t DatabaseEngine::State::first_lock_beside(const SessionState& session,
                                                     std::size_t index) {
    std::size_t first = 0;
    for (const database::Savepoint& savepoint : session.savepoints) {
        if (savepoint.mark.changes <= index) first = savepoint.mark.locks;
    }
    return first;
}

void DatabaseEngine::State::keep_commit(const SessionState& session) {
    ++commit_count;
    if (open_snapshots == 0) return;
    database::LaterCommit later{commit_count, committing_serial, session.holdings.log, {}, {}, {}};
    for (std::size_t i = 0; i < later.log.size(); ++i) {
        const Change& change = later.log[i];
        const TableInfo& table = schema->tables[change.table];
        later.strong.push_back(is_strong(session, i));
        later.strong_for_followers.push_back(is_strong(session, i, first_lock_beside(session, i)));
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
    // A row that the session has written itself is as it has left it.
    const ChangeLog& own = session.holdings.log;
    for (std::size_t i = 0; i < own.size(); ++i) {
        const std::span<const SqlValue> after = own.after(own[i]);
        if (own[i].table == parts.table && !after.empty() &&
            key_of(schema->tables[parts.table], parts.index, after, buffer) && buffer == key) {
            return fate;
        }
    }
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
            fate.strong |= fate.touched ? commit.strong_for_followers[i] : commit.strong[i];
            if (!fate.touched) {
                fate.seen = had;
                fate.lockers = commit.lockers[i];
            }
            fate.touched = true;
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
    if (session.serial && !note_read(session, read_tables(statement))) return dependencies();
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
        Check check = check_unchanged(session, found.log, change);
        if (check == Check::Failed) return concurrent_update();
        if (check == Check::Passed) check = lock_and_note(session, found.log, change);
        if (check == Check::Refused) return dependencies();
        if (check == Check::Waits) {
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
    key_buffer = key;
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
        Check check = Check::Failed;
        if (database::is_foreign_key_violation(code)) check = check_references(session, first);
        if (check == Check::Refused) failure = dependencies();
        if (check == Check::Waits) {
            holdings.log.truncate(first);
            drop_if_resident(session);
            note_holding(session);
            return IsBlocked{};
        }
        holdings.log.truncate(first);
        return failure;
    }
    if (auto instead = settle_changes(session, first)) {
        holdings.log.truncate(first);
        if (std::holds_alternative<IsBlocked>(*instead)) {
            drop_if_resident(session);
            note_holding(session);
        }
        return instead;
    }
    if (auto failure = finish_write(session, first, true)) return *failure;
    return std::nullopt;
}

// Of the changes from `first` on, the first thing that a stale snapshot does not allow.
std::optional<SqlFailure> DatabaseEngine::State::check_followers(SessionState& session,
                                                                 std::size_t first) {
    const ChangeLog& log = session.holdings.log;
    for (std::size_t i = first; i < log.size(); ++i) {
        if (log[i].cascaded) {
            if (auto failure = check_follower(session, log, log[i])) return failure;
        }
        for (const std::string& key : parent_keys(log, log[i])) {
            if (auto failure = check_parent(session, key)) return failure;
        }
    }
    return std::nullopt;
}

// After a write on a stale snapshot: a row that follows its parent must be as the snapshot has it.
std::optional<SqlFailure> DatabaseEngine::State::check_follower(const SessionState& session,
                                                                const ChangeLog& log,
                                                                const Change& change) {
    if (!is_stale(session) || log.before(change).empty()) return std::nullopt;
    key_of(schema->tables[change.table], 0, log.before(change), key_buffer);
    return fate_of(session, key_buffer).touched ? std::optional(concurrent_update()) : std::nullopt;
}

// A row that a foreign key refers to must be in the snapshot, with the same keys.
std::optional<SqlFailure> DatabaseEngine::State::check_parent(const SessionState& session,
                                                              const std::string& key) {
    if (!is_stale(session)) return std::nullopt;
    const Fate fate = fate_of(session, key);
    if (!fate.touched) return std::nullopt;
    if (!fate.seen) return SqlFailure{"23503", "the row that a foreign key refers to is too new"};
    return fate.strong ? std::optional(concurrent_update()) : std::nullopt;
}

}  // namespace fencepost::model
