#include "model/database/engine_state.h"
#include "sim/require.h"

namespace fencepost::model {

using database::ChangeLog;
using database::Holdings;
using database::IsBlocked;
using database::TableLock;

bool DatabaseEngine::State::others_hold(const SessionState& session) const {
    return !holders.empty() && (holders.size() > 1 || holders.front() != session.id);
}

bool DatabaseEngine::State::is_held(const SessionState& asker, std::string_view key,
                                    LockRequest request) const {
    for (const SessionId id : holders) {
        if (id != asker.id && sessions[id - 1].holdings.locks.conflicts(key, request)) return true;
    }
    return false;
}

// The key that a unique index has for a row. False if it has none: NULLs, and what a partial index
// leaves out, conflict with nothing.
bool DatabaseEngine::State::key_of(const TableInfo& table, std::size_t index,
                                   std::span<const SqlValue> row, std::string& key) {
    const UniqueIndex& unique = table.uniques[index];
    database::start_key(key, table.id, index);
    const auto append = [&key](const SqlValue& value) {
        database::append_value(key, value);
        return !std::holds_alternative<jobs::sql::Null>(value);
    };
    if (unique.key_query.empty()) {
        for (const std::uint16_t column : unique.columns) {
            // A column added after the row was changed is NULL in it.
            if (column >= row.size() || !append(row[column])) return false;
        }
        return true;
    }
    const Attempt attempt = rows_of(keep(unique.key_query), row);
    const auto* rows = std::get_if<SqlResult>(&attempt);
    sim::require(rows != nullptr, "the key of an index can be computed");
    if (rows->rows() == 0) return false;
    for (std::size_t i = 0; i < rows->columns(); ++i) {
        if (!append(rows->at(0, i))) return false;
    }
    return true;
}

// An UPDATE that leaves all keys as they are goes together with foreign keys' checks of the row.
DatabaseEngine::State::LockMode DatabaseEngine::State::mode_of(const TableInfo& table,
                                                               RowChange::Kind kind,
                                                               std::span<const SqlValue> before,
                                                               std::span<const SqlValue> after) {
    if (kind != RowChange::Kind::Update) return LockMode::Update;
    for (const UniqueIndex& unique : table.uniques) {
        for (const std::uint16_t column : unique.columns) {
            if (column < before.size() && before[column] != after[column]) return LockMode::Update;
        }
    }
    return LockMode::NoKeyUpdate;
}

// Calls visit(key, request, written) for every unique key that a change locks, until it answers
// false. A key that the row gets is only probed: if it is locked and not written, then its row is
// there, and in the way at once.
template <typename Visitor>
bool DatabaseEngine::State::visit_keys(const ChangeLog& log, const Change& change,
                                       Visitor&& visit) {
    const TableInfo& table = schema->tables[change.table];
    const std::span<const SqlValue> before = log.before(change);
    const std::span<const SqlValue> after = log.after(change);
    const LockMode mode = mode_of(table, change.kind, before, after);
    // The row is written before its new keys go into the indexes.
    for (std::size_t index = 0; index < table.uniques.size() && !before.empty(); ++index) {
        if (key_of(table, index, before, key_buffer) &&
            !visit(key_buffer, LockRequest{mode, false}, true)) {
            return false;
        }
    }
    for (std::size_t index = 0; index < table.uniques.size() && !after.empty(); ++index) {
        if (!key_of(table, index, after, second_key_buffer)) continue;
        const bool stays = !before.empty() && key_of(table, index, before, key_buffer) &&
                           key_buffer == second_key_buffer;
        if (!stays && !visit(second_key_buffer, LockRequest{LockMode::Update, true}, true)) {
            return false;
        }
    }
    return true;
}

namespace {

// Whether a change before this one has written the version of the row that this one replaces.
bool is_own_version(const TableInfo& table, const ChangeLog& log, const ChangeLog::Change& change) {
    const std::span<const SqlValue> before = log.before(change);
    for (std::size_t i = 0; &log[i] != &change; ++i) {
        if (log[i].table != change.table) continue;
        const std::span<const SqlValue> after = log.after(log[i]);
        const auto same = [&](std::uint16_t column) { return after[column] == before[column]; };
        if (!after.empty() && std::ranges::all_of(table.primary_key(), same)) return true;
    }
    return false;
}

}  // namespace

// The same for the parents' keys that its foreign keys lock: where they change, and wherever the
// transaction itself has written the row before (PostgreSQL's RI_FKey_fk_upd_check_required).
template <typename Visitor>
bool DatabaseEngine::State::visit_parents(const ChangeLog& log, const Change& change,
                                          Visitor&& visit) {
    const TableInfo& table = schema->tables[change.table];
    const std::span<const SqlValue> before = log.before(change);
    const std::span<const SqlValue> after = log.after(change);
    for (const ForeignKey& key : table.foreign_keys) {
        if (after.empty() || has(DatabaseFlaw::ForeignKeyLocksNothing)) break;
        database::start_key(key_buffer, key.parent, key.parent_index);
        bool refers = true;
        bool changed = before.empty();
        for (const std::uint16_t column : key.columns) {
            refers = refers && !std::holds_alternative<jobs::sql::Null>(after[column]);
            changed = changed || before[column] != after[column];
            database::append_value(key_buffer, after[column]);
        }
        if (refers && (changed || is_own_version(table, log, change)) &&
            !visit(key_buffer, LockRequest{LockMode::KeyShare, false}, false)) {
            return false;
        }
    }
    return true;
}

// The parents' keys that a change refers to.
std::vector<std::string> DatabaseEngine::State::parent_keys(const ChangeLog& log,
                                                            const Change& change) {
    std::vector<std::string> keys;
    visit_parents(log, change, [&](const std::string& key, LockRequest, bool) {
        keys.push_back(key);
        return true;
    });
    return keys;
}

// Locks are not looked for while a transaction is alone; when it no longer is, they are made up
// for.
void DatabaseEngine::State::add_missing_locks(SessionState& session) {
    Holdings& holdings = session.holdings;
    for (; holdings.locked_changes < holdings.log.size(); ++holdings.locked_changes) {
        const auto add = [&](const std::string& key, LockRequest request, bool written) {
            holdings.locks.add(key, request.mode, written, holdings.locked_changes);
            return true;
        };
        const Change& change = holdings.log[holdings.locked_changes];
        visit_keys(holdings.log, change, add);
        visit_parents(holdings.log, change, add);
    }
}

void DatabaseEngine::State::add_missing_locks() {
    for (const SessionId id : holders) add_missing_locks(session(id));
}

// Takes a lock. False if it is not free: then the session waits for it.
bool DatabaseEngine::State::take_lock(SessionState& session, const std::string& key,
                                      LockRequest request, bool written) {
    database::Wait& wait = session.wait;
    request.follows |= wait.newer && wait.key == key;
    if (is_held(session, key, request)) {
        if (!is_held(session, key, {request.mode, request.probe})) {
            // It waits for the writer of the newest version, and has locked that one already.
            session.holdings.locks.add(key, request.mode, false, session.holdings.log.size());
        }
        if (wait.key != key) wait.newer = false;
        wait.key = key;
        wait.request = request;
        wait.parent = wait.child = wait.newest = false;
        return false;
    }
    session.holdings.locks.add(key, request.mode, written, session.holdings.log.size());
    return true;
}

// Takes the locks of a change's keys. False if one is not free: the session holds those before.
bool DatabaseEngine::State::lock_keys(SessionState& session, const ChangeLog& log,
                                      const Change& change) {
    return visit_keys(log, change, [&](const std::string& key, LockRequest request, bool written) {
        return take_lock(session, key, request, written);
    });
}

// Takes the locks of the changes from `first` on, and notes what a SERIALIZABLE transaction reads
// and writes by them; nothing if all went well. Foreign keys are looked at when the statement has
// changed all of its rows, and only then rows follow their parents.
std::optional<DatabaseEngine::State::Attempt> DatabaseEngine::State::settle_changes(
    SessionState& session, std::size_t first) {
    const ChangeLog& log = session.holdings.log;
    for (std::size_t i = first; i < log.size(); ++i) {
        if (log[i].cascaded) continue;
        const Check check = lock_and_note(session, log, log[i]);
        if (check == Check::Refused) return dependencies();
        if (check == Check::Waits) return IsBlocked{};
    }
    for (std::size_t i = first; session.serial && i < log.size(); ++i) {
        const TableInfo& table = schema->tables[log[i].table];
        const TableSet children = children_of(table, log.before(log[i]), log.after(log[i]));
        if (!note_newest_read(session, children)) return dependencies();
    }
    for (std::size_t i = first; i < log.size(); ++i) {
        if (auto failure = settle_references(session, log, log[i])) return failure;
    }
    return std::nullopt;
}

std::optional<DatabaseEngine::State::Attempt> DatabaseEngine::State::settle_references(
    SessionState& session, const ChangeLog& log, const Change& change) {
    if (change.cascaded) {
        if (auto failure = check_follower(session, log, change)) return *failure;
        const Check check = lock_and_note(session, log, change);
        if (check == Check::Refused) return dependencies();
        if (check == Check::Waits) {
            session.wait.child = true;
            return IsBlocked{};
        }
    }
    for (const std::string& key : parent_keys(log, change)) {
        if (!note_read(session, database::table_set(database::read_key(key).table))) {
            return dependencies();
        }
        if (auto failure = check_parent(session, key)) return *failure;
        if (!take_lock(session, key, {LockMode::KeyShare, false}, false)) {
            session.wait.parent = true;
            return IsBlocked{};
        }
    }
    return std::nullopt;
}

// Whether a transaction that has altered one of the statement's tables, or writes to one that it
// has made an index of, is still open.
bool DatabaseEngine::State::blocked_by_ddl(SessionState& session, const KeptStatement& statement) {
    const TableLock lock =
        statement.parsed.kind == StatementKind::Write ? TableLock::Write : TableLock::Read;
    for (const SessionId id : holders) {
        if (id == session.id) continue;
        for (const Holdings::DdlChange& ddl : sessions[id - 1].holdings.ddl) {
            const TableInfo* table = schema->find(ddl.table);
            if (table == nullptr || !conflict(lock, ddl.lock) ||
                (statement.sqlite.tables & database::table_set(table->id)) == 0) {
                continue;
            }
            session.wait.for_table(ddl.table, lock);
            return true;
        }
    }
    return false;
}

// After a unique violation: what the statement does instead of failing by it, if the row in the way
// is one that another open transaction has written.
std::optional<DatabaseEngine::State::Attempt> DatabaseEngine::State::violates_held_key(
    SessionState& session, KeptStatement& statement, Parameters parameters) {
    if (statement.parsed.insert) return insert_waits(session, statement, parameters, true);
    if (updates_to_held_key(session, statement, parameters)) return IsBlocked{};
    return std::nullopt;
}

// The same for an UPDATE: it runs once more for show, as UPDATE OR REPLACE.
bool DatabaseEngine::State::updates_to_held_key(SessionState& session, KeptStatement& statement,
                                                Parameters parameters) {
    if (!prepare_variant(statement, statement.trial, true)) return false;
    ChangeLog trial;
    const bool waits = trial_waits(session, statement.trial, parameters, trial);
    if (waits && !session.waiting) remember_candidates(session, statement, trial, 0);
    return waits;
}

// UPDATE OR REPLACE tells which rows and keys an update comes upon before it violates a unique key,
// in order: a row that is replaced is reported as deleted just before the row that takes its key.
// Takes their locks; true if one is not free. The changes are undone.
bool DatabaseEngine::State::trial_waits(SessionState& session, database::PreparedText& variant,
                                        Parameters parameters, ChangeLog& trial) {
    sim::require(resident == session.id, "the trial run can be undone");
    connection.defer_foreign_keys();
    std::vector<SqlValue> rows;
    connection.record_into(&trial);
    step_all(variant, parameters, rows);
    connection.record_into(nullptr);
    bool free = true;
    bool violates = false;
    for (std::size_t i = 0; i < trial.size() && free && !violates; ++i) {
        if (trial[i].cascaded || trial[i].kind != RowChange::Kind::Update) continue;
        free = lock_keys(session, trial, trial[i]);
        violates = i > 0 && trial[i - 1].kind == RowChange::Kind::Delete;
    }
    evict();
    make_resident(session);
    begin(session);
    return !free;
}

}  // namespace fencepost::model
