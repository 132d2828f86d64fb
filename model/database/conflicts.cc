#include <charconv>

#include "model/database/engine_state.h"
#include "sim/require.h"

namespace fencepost::model {

using database::ChangeLog;
using database::Holdings;
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

// Calls visit(key, request, written) for every lock that PostgreSQL takes for a change, until it
// answers false. A key that the row gets is only probed: if it is locked and not written, then its
// row is there, and in the way at once.
template <typename Visitor>
bool DatabaseEngine::State::visit_locks(const ChangeLog& log, const Change& change,
                                        Visitor&& visit) {
    const TableInfo& table = schema->tables[change.table];
    const std::span<const SqlValue> before = log.before(change);
    const std::span<const SqlValue> after = log.after(change);
    const LockMode mode = mode_of(table, change.kind, before, after);
    for (std::size_t index = 0; index < table.uniques.size(); ++index) {
        const bool had = !before.empty() && key_of(table, index, before, key_buffer);
        if (had && !visit(key_buffer, LockRequest{mode, false}, true)) return false;
        const bool has = !after.empty() && key_of(table, index, after, second_key_buffer);
        const bool moved = has && !(had && key_buffer == second_key_buffer);
        if (moved && !visit(second_key_buffer, LockRequest{LockMode::Update, true}, true)) {
            return false;
        }
    }
    for (const ForeignKey& key : table.foreign_keys) {
        if (after.empty()) break;
        database::start_key(key_buffer, key.parent, key.parent_index);
        bool refers = true;
        bool changed = before.empty();
        for (const std::uint16_t column : key.columns) {
            refers = refers && !std::holds_alternative<jobs::sql::Null>(after[column]);
            changed = changed || before[column] != after[column];
            database::append_value(key_buffer, after[column]);
        }
        if (refers && changed &&
            !visit(key_buffer, LockRequest{LockMode::KeyShare, false}, false)) {
            return false;
        }
    }
    return true;
}

// Locks are not looked for while a transaction is alone; when it no longer is, they are made up
// for.
void DatabaseEngine::State::add_missing_locks(SessionState& session) {
    Holdings& holdings = session.holdings;
    for (; holdings.locked_changes < holdings.log.size(); ++holdings.locked_changes) {
        visit_locks(holdings.log, holdings.log[holdings.locked_changes],
                    [&](const std::string& key, LockRequest request, bool written) {
                        holdings.locks.add(key, request.mode, written);
                        return true;
                    });
    }
}

void DatabaseEngine::State::add_missing_locks() {
    for (const SessionId id : holders) add_missing_locks(session(id));
}

// Takes the locks of a change. False if one is not free: then the session waits for that one, and
// holds those before.
bool DatabaseEngine::State::lock_change(SessionState& session, const ChangeLog& log,
                                        const Change& change) {
    return visit_locks(log, change, [&](const std::string& key, LockRequest request, bool written) {
        if (is_held(session, key, request)) {
            session.wait.key = key;
            session.wait.request = request;
            return false;
        }
        session.holdings.locks.add(key, request.mode, written);
        return true;
    });
}

// The same for the changes from `first` on.
bool DatabaseEngine::State::lock_changes(SessionState& session, std::size_t first) {
    const ChangeLog& log = session.holdings.log;
    for (std::size_t i = first; i < log.size(); ++i) {
        if (!lock_change(session, log, log[i])) return false;
    }
    return true;
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

// The rows that an INSERT is about to insert, as its VALUES or SELECT computes them.
bool DatabaseEngine::State::proposed_rows(KeptStatement& statement, Parameters parameters,
                                          SqlResult& rows) {
    const database::InsertParts& parts = *statement.parsed.insert;
    const std::string& text = statement.text;
    const auto part = [&text](database::TextRange range) {
        return text.substr(range.begin, range.end - range.begin);
    };
    if (parts.body.begin == parts.body.end) return false;
    Attempt attempt = rows_of(keep(part(parts.with) + part(parts.body)), parameters);
    if (!std::holds_alternative<SqlResult>(attempt)) return false;
    rows = std::get<SqlResult>(std::move(attempt));
    return true;
}

namespace {

// Converts a value as SQLite does when it stores it in the column.
void convert(SqlValue& value, ColumnInfo::Affinity affinity) {
    if (affinity == ColumnInfo::Affinity::Text) {
        if (const auto* integer = std::get_if<std::int64_t>(&value))
            value = std::to_string(*integer);
    } else if (affinity != ColumnInfo::Affinity::Blob) {
        const auto* text = std::get_if<std::string>(&value);
        if (text == nullptr || text->empty()) return;
        const char* end = text->data() + text->size();
        std::int64_t integer = 0;
        double real = 0;
        if (const auto read = std::from_chars(text->data(), end, integer);
            read.ec == std::errc{} && read.ptr == end) {
            value = integer;
        } else if (const auto as_real = std::from_chars(text->data(), end, real);
                   as_real.ec == std::errc{} && as_real.ptr == end) {
            value = real;
        }
    }
}

}  // namespace

std::vector<SqlValue> DatabaseEngine::State::proposed_row(const KeptStatement& statement,
                                                          const TableInfo& table,
                                                          const SqlResult& rows, std::size_t row) {
    const std::vector<std::string>& names = statement.parsed.insert->columns;
    std::vector<SqlValue> values(table.columns.size());
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const ColumnInfo& column = table.columns[i];
        std::size_t position = i;
        if (!names.empty()) {
            position = static_cast<std::size_t>(std::find(names.begin(), names.end(), column.name) -
                                                names.begin());
        }
        if (position < rows.columns()) {
            values[i] = rows.at(row, position);
        } else if (!column.default_expression.empty() &&
                   !column.default_expression.starts_with(database::kNextIdFunction)) {
            const Attempt value = rows_of(keep("SELECT " + column.default_expression), {});
            if (const auto* result = std::get_if<SqlResult>(&value)) values[i] = result->at(0, 0);
        }
        convert(values[i], column.affinity);
    }
    return values;
}

// Whether a row to be inserted has a unique key that another open transaction has written: then its
// end decides, whatever SQLite thinks of the committed rows.
bool DatabaseEngine::State::inserts_held_key(SessionState& session, KeptStatement& statement,
                                             Parameters parameters,
                                             std::optional<std::size_t> only_row) {
    const TableInfo* table = schema->find(statement.parsed.insert->table);
    SqlResult rows;
    if (table == nullptr || !proposed_rows(statement, parameters, rows)) return false;
    for (std::size_t row = only_row.value_or(0); row < rows.rows(); ++row) {
        const std::vector<SqlValue> values = proposed_row(statement, *table, rows, row);
        for (std::size_t index = 0; index < table->uniques.size(); ++index) {
            if (!key_of(*table, index, values, key_buffer)) continue;
            if (!is_held(session, key_buffer, {LockMode::Update, true})) continue;
            session.wait.key = key_buffer;
            session.wait.request = {LockMode::Update, true};
            return true;
        }
        if (only_row) break;
    }
    return false;
}

// After a unique violation: whether the row in the way is one that another open transaction has
// written. `inserted` rows went in before the one that failed.
bool DatabaseEngine::State::violates_held_key(SessionState& session, KeptStatement& statement,
                                              Parameters parameters, std::size_t inserted) {
    if (statement.parsed.insert) {
        return inserts_held_key(session, statement, parameters, inserted);
    }
    return updates_to_held_key(session, statement, parameters);
}

// The same for an UPDATE: it runs once more for show, as UPDATE OR REPLACE, which tells which rows
// and keys it comes upon before the violation, in order. A row that is replaced is reported as
// deleted just before the row that takes its key.
bool DatabaseEngine::State::updates_to_held_key(SessionState& session, KeptStatement& statement,
                                                Parameters parameters) {
    sim::require(resident == session.id, "the trial run can be undone");
    connection.defer_foreign_keys();
    ChangeLog trial;
    std::vector<SqlValue> rows;
    if (prepare_variant(statement, statement.trial, true)) {
        connection.record_into(&trial);
        step_all(statement.trial, parameters, rows);
        connection.record_into(nullptr);
    }
    bool free = true;
    bool violates = false;
    for (std::size_t i = 0; i < trial.size() && free && !violates; ++i) {
        if (trial[i].cascaded || trial[i].kind != RowChange::Kind::Update) continue;
        free = lock_change(session, trial, trial[i]);
        violates = i > 0 && trial[i - 1].kind == RowChange::Kind::Delete;
    }
    if (!free && !session.waiting) remember_candidates(session, statement, trial, 0);
    evict();
    make_resident(session);
    return !free;
}

}  // namespace fencepost::model
