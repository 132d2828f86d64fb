// SELECT … FOR UPDATE and its weaker forms.
#include <sqlite3.h>

#include <charconv>
#include <limits>

#include "model/database/engine_state.h"

namespace fencepost::model {

using database::IsBlocked;
using database::LockingClause;
using database::RowLockWait;

namespace {

// The value of a LIMIT or OFFSET; nothing if it is NULL or absent.
std::optional<std::int64_t> operand(const std::optional<std::string>& text,
                                    std::span<const SqlValue> parameters) {
    if (!text) return std::nullopt;
    const bool is_parameter = text->front() == '$';
    std::int64_t number = 0;
    std::from_chars(text->data() + (is_parameter ? 1 : 0), text->data() + text->size(), number);
    if (!is_parameter) return number;
    if (number < 1 || static_cast<std::size_t>(number) > parameters.size()) return std::nullopt;
    const auto* value =
        std::get_if<std::int64_t>(&parameters[static_cast<std::size_t>(number) - 1]);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

// LIMIT and OFFSET of a locking clause.
struct RowLimit {
    std::int64_t skip = 0;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();  // skipped ones included
};

RowLimit row_limit(const LockingClause& clause, std::span<const SqlValue> parameters) {
    RowLimit limit;
    limit.skip = operand(clause.offset, parameters).value_or(0);
    if (const auto rows = operand(clause.limit, parameters)) limit.last = *rows + limit.skip;
    return limit;
}

SqlFailure lock_not_available(const TableInfo& table) {
    return {"55P03", "could not obtain lock on row in relation \"" + table.name + "\""};
}

// Resets a statement that is left before its last row.
class Stepping {
public:
    explicit Stepping(sqlite3_stmt* statement) : statement_(statement) {}
    ~Stepping() { sqlite3_reset(statement_); }
    Stepping(const Stepping&) = delete;
    Stepping& operator=(const Stepping&) = delete;
    [[nodiscard]] int next() { return sqlite3_step(statement_); }

private:
    sqlite3_stmt* statement_;
};

}  // namespace

// Rows are locked one by one as they are found, and only locked rows count for LIMIT: so SKIP
// LOCKED finds the next free one.
DatabaseEngine::State::Attempt DatabaseEngine::State::run_locking_query(SessionState& session,
                                                                        KeptStatement& statement,
                                                                        Parameters parameters,
                                                                        bool again) {
    make_visible(session, statement.sqlite.tables);
    const bool others = others_hold(session);
    if (others) add_missing_locks();
    if (again && session.wait.candidates) return lock_again(session, statement, parameters);
    const LockingClause& clause = *statement.parsed.locking;
    const TableInfo& table = *schema->find(clause.table);
    const database::LockRequest request{clause.mode, false};
    const int columns = bind_locking_query(statement, parameters);
    const RowLimit limit = row_limit(clause, parameters);
    bool blocked = false;
    std::vector<SqlValue> rows;
    session.wait.versions.clear();
    database::Candidates found(clause.mode);
    std::int64_t locked = 0;
    Stepping stepping(statement.sqlite.handle.get());
    int code = SQLITE_ROW;
    while ((locked < limit.last || blocked) && (code = stepping.next()) == SQLITE_ROW) {
        row_key(statement, table, columns);
        if (others) remember_row(session, found, statement, columns);
        if (blocked) continue;
        if (others && is_held(session, key_buffer, request)) {
            const bool skips = !has(DatabaseFlaw::SkipLockedSkipsNothing);
            if (clause.wait == RowLockWait::SkipLocked && skips) continue;
            if (clause.wait == RowLockWait::NoWait) {
                return lock_not_available(table);
            }
            if (clause.wait != RowLockWait::SkipLocked) {
                session.wait.key = key_buffer;
                session.wait.request = request;
                blocked = true;
                continue;
            }
        }
        const bool locks = !has(DatabaseFlaw::ForUpdateLocksNothing);
        if (locks && (others || locks_matter(session)))
            session.holdings.locks.add(key_buffer, clause.mode, false, session.holdings.log.size());
        if (locked++ < limit.skip) continue;
        for (int i = 0; i < columns; ++i) {
            rows.push_back(database::column_value(statement.sqlite.handle.get(), i));
        }
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) return failure_now(code);
    if (blocked) {
        found.sort();
        session.wait.candidates = std::move(found);
    }
    note_holding(session);
    if (blocked) return IsBlocked{};
    return SqlResult(static_cast<std::size_t>(columns), std::move(rows), 0);
}

// Binds the parameters; answers how many columns the client gets: the primary key follows them.
int DatabaseEngine::State::bind_locking_query(const KeptStatement& statement,
                                              Parameters parameters) {
    sqlite3_stmt* handle = statement.sqlite.handle.get();
    int place = 0;
    for (const std::uint16_t number : statement.sqlite.parameters) {
        database::bind_value(handle, ++place, parameters[number - 1U]);
    }
    const TableInfo& table = *schema->find(statement.parsed.locking->table);
    return sqlite3_column_count(handle) - static_cast<int>(table.primary_key().size());
}

// Puts the key of the row that the statement stands at into key_buffer.
void DatabaseEngine::State::row_key(const KeptStatement& statement, const TableInfo& table,
                                    int columns) {
    database::start_key(key_buffer, table.id, 0);
    for (std::size_t i = 0; i < table.primary_key().size(); ++i) {
        database::append_value(key_buffer, database::column_value(statement.sqlite.handle.get(),
                                                                  columns + static_cast<int>(i)));
    }
}

// Notes a row for the case that the statement has to wait.
void DatabaseEngine::State::remember_row(SessionState& session, database::Candidates& found,
                                         const KeptStatement& statement, int columns) {
    found.add(key_buffer);
    // FOR KEY SHARE goes together with updates that leave the keys alone, and so it returns the
    // version that it had found, although there is a newer one.
    if (statement.parsed.locking->mode != LockMode::KeyShare) return;
    std::vector<SqlValue> values;
    for (int i = 0; i < columns; ++i) {
        values.push_back(database::column_value(statement.sqlite.handle.get(), i));
    }
    session.wait.versions.insert_or_assign(key_buffer, std::move(values));
}

// After a wait: the rows that had been found, in that order, each locked and looked at anew. Those
// that no longer fit stay locked, as in PostgreSQL, and do not count for LIMIT.
DatabaseEngine::State::Attempt DatabaseEngine::State::lock_again(SessionState& session,
                                                                 KeptStatement& statement,
                                                                 Parameters parameters) {
    const LockingClause& clause = *statement.parsed.locking;
    const TableInfo& table = *schema->find(clause.table);
    const int columns = bind_locking_query(statement, parameters);
    std::map<std::string, std::vector<SqlValue>> fitting = session.wait.versions;
    Stepping stepping(statement.sqlite.handle.get());
    int code = SQLITE_ROW;
    while ((code = stepping.next()) == SQLITE_ROW) {
        row_key(statement, table, columns);
        std::vector<SqlValue> values;
        for (int i = 0; i < columns; ++i) {
            values.push_back(database::column_value(statement.sqlite.handle.get(), i));
        }
        fitting.try_emplace(key_buffer, std::move(values));
    }
    if (code != SQLITE_DONE) return failure_now(code);

    const RowLimit limit = row_limit(clause, parameters);
    std::int64_t locked = 0;
    std::vector<SqlValue> rows;
    for (const std::string& key : session.wait.candidates->in_order()) {
        if (locked >= limit.last) break;
        const bool follows =
            clause.mode == LockMode::KeyShare && !session.wait.versions.contains(key);
        if (!take_lock(session, key, {clause.mode, false, follows}, false)) {
            note_holding(session);
            return IsBlocked{};
        }
        const auto row = fitting.find(key);
        if (row == fitting.end() || locked++ < limit.skip) continue;
        rows.insert(rows.end(), row->second.begin(), row->second.end());
    }
    note_holding(session);
    return SqlResult(static_cast<std::size_t>(columns), std::move(rows), 0);
}

// SELECT … FOR UPDATE: a row that has another version by now cannot be locked.
DatabaseEngine::State::Attempt DatabaseEngine::State::lock_on_snapshot(SessionState& session,
                                                                       KeptStatement& statement,
                                                                       Parameters parameters) {
    if (auto failure = view_snapshot(session)) return std::move(*failure);
    add_missing_locks();
    const LockingClause& clause = *statement.parsed.locking;
    const TableInfo& table = *schema->find(clause.table);
    const int columns = bind_locking_query(statement, parameters);
    const RowLimit limit = row_limit(clause, parameters);
    std::vector<SqlValue> rows;
    std::int64_t locked = 0;
    sqlite3_stmt* handle = statement.sqlite.handle.get();
    Stepping stepping(handle);
    int code = SQLITE_ROW;
    while (locked < limit.last && (code = stepping.next()) == SQLITE_ROW) {
        row_key(statement, table, columns);
        const Fate fate = fate_of(session, key_buffer);
        if (waits_for_lockers(session, fate, key_buffer, {clause.mode, false})) {
            if (clause.wait == RowLockWait::SkipLocked) continue;
            if (clause.wait == RowLockWait::NoWait) return lock_not_available(table);
            note_holding(session);
            return IsBlocked{};
        }
        const bool changed = fate.touched && (clause.mode != LockMode::KeyShare || fate.strong);
        // One that has locked the old version for itself follows the row to its newest version, and
        // waits for who has locked that one, before it fails.
        if (changed && session.holdings.locks.conflicts(key_buffer, {LockMode::Update, false}) &&
            is_held(session, key_buffer, {clause.mode, false})) {
            session.wait.key = key_buffer;
            session.wait.request = {clause.mode, false};
            session.wait.newest = true;
            note_holding(session);
            return IsBlocked{};
        }
        if (changed) {
            return SqlFailure{"40001", "could not serialize access due to concurrent update"};
        }
        if (is_held(session, key_buffer, {clause.mode, false})) {
            if (clause.wait == RowLockWait::SkipLocked) continue;
            if (clause.wait == RowLockWait::NoWait) return lock_not_available(table);
            session.wait.key = key_buffer;
            session.wait.request = {clause.mode, false};
            note_holding(session);
            return IsBlocked{};
        }
        session.holdings.locks.add(key_buffer, clause.mode, false, session.holdings.log.size());
        if (locked++ < limit.skip) continue;
        for (int i = 0; i < columns; ++i) rows.push_back(database::column_value(handle, i));
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) return failure_now(code);
    note_holding(session);
    return SqlResult(static_cast<std::size_t>(columns), std::move(rows), 0);
}

}  // namespace fencepost::model
