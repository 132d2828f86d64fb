// Foreign keys, where a statement fails by one of them while other transactions are open: whether
// it fails at once, or waits first for a row that decides.
//
// PostgreSQL looks at foreign keys when the statement has changed all of its rows, one row after
// the other: for a parent that goes, it locks a child's row that it finds; for a child, its
// parent's.
#include "model/database/engine_state.h"
#include "sim/require.h"

namespace fencepost::model {

namespace {

// The values of these columns; nothing if one is NULL: then the key refers to nothing.
std::optional<std::vector<SqlValue>> values_of(std::span<const std::uint16_t> columns,
                                               std::span<const SqlValue> row) {
    std::vector<SqlValue> values;
    for (const std::uint16_t column : columns) {
        values.push_back(row[column]);
        if (std::holds_alternative<jobs::sql::Null>(row[column])) return std::nullopt;
    }
    return values;
}

}  // namespace

// After a violation, with the changes that led to it still in the log: whether it is one (Failed),
// or the session has to wait before that can be told, or must give way to other transactions.
DatabaseEngine::State::Check DatabaseEngine::State::check_references(SessionState& session,
                                                                     std::size_t first) {
    const database::ChangeLog& log = session.holdings.log;
    for (std::size_t i = first; i < log.size(); ++i) {
        if (log[i].cascaded) continue;
        const Check check = lock_and_note(session, log, log[i]);
        if (check != Check::Passed) return check;
    }
    for (std::size_t i = first; i < log.size(); ++i) {
        if (log[i].cascaded) continue;
        const TableInfo& table = schema->tables[log[i].table];
        Check check = check_children(session, table, log.before(log[i]), log.after(log[i]));
        if (check == Check::Passed) {
            check = check_parents(session, table, log.before(log[i]), log.after(log[i]));
        }
        if (check != Check::Passed) return check;
    }
    return Check::Failed;
}

// A row is locked before the transaction counts as its writer, and then its new keys are entered.
DatabaseEngine::State::Check DatabaseEngine::State::lock_and_note(SessionState& session,
                                                                  const database::ChangeLog& log,
                                                                  const Change& change) {
    const TableInfo& table = schema->tables[change.table];
    const LockMode mode = mode_of(table, change.kind, log.before(change), log.after(change));
    if (change.kind != RowChange::Kind::Insert) {
        key_of(table, 0, log.before(change), key_buffer);
        if (!take_lock(session, key_buffer, {mode, false}, false)) return Check::Waits;
    }
    if (!note_write(session, table.id)) return Check::Refused;
    return lock_keys(session, log, change) ? Check::Passed : Check::Waits;
}

// A row's primary key, and with it the whole row, for the rows with these values.
SqlResult DatabaseEngine::State::rows_with(const TableInfo& table,
                                           std::span<const std::uint16_t> columns,
                                           std::span<const SqlValue> values) {
    Attempt attempt = rows_of(row_query(table, columns), values);
    sim::require(std::holds_alternative<SqlResult>(attempt), "rows can be found by a key");
    return std::get<SqlResult>(std::move(attempt));
}

// `table` is one of the present schema.
DatabaseEngine::State::KeptStatement& DatabaseEngine::State::row_query(
    const TableInfo& table, std::span<const std::uint16_t> columns) {
    sim::require(&schema->tables.at(table.id) == &table, "rows are looked for as SQLite has them");
    if (row_queries_schema != schema->id) row_queries.clear();
    row_queries_schema = schema->id;
    for (const RowQuery& known : row_queries) {
        if (known.table == table.id && std::ranges::equal(known.columns, columns)) {
            return *known.statement;
        }
    }
    std::string text = "SELECT * FROM " + database::quoted(table.name) + " WHERE ";
    for (std::size_t i = 0; i < columns.size(); ++i) {
        text += (i > 0 ? " AND " : "") + database::quoted(table.columns[columns[i]].name) + " = $" +
                std::to_string(i + 1);
    }
    return *row_queries
                .emplace_back(table.id, std::vector(columns.begin(), columns.end()), &keep(text))
                .statement;
}

DatabaseEngine::State::Check DatabaseEngine::State::check_children(
    SessionState& session, const TableInfo& table, std::span<const SqlValue> before,
    std::span<const SqlValue> after) {
    if (before.empty()) return Check::Passed;
    for (const Referrer& referrer : table.referrers) {
        const TableInfo& child = schema->tables[referrer.child];
        const ForeignKey& key = child.foreign_keys[referrer.foreign_key];
        const auto& columns = table.uniques[key.parent_index].columns;
        const auto values = values_of(columns, before);
        if (!values || (!after.empty() && values == values_of(columns, after))) continue;
        const bool follows = after.empty() ? key.follows_delete : key.follows_update;
        const LockMode mode = follows ? LockMode::Update : LockMode::KeyShare;
        if (!note_newest_read(session, database::table_set(child.id))) return Check::Refused;
        const SqlResult rows = rows_with(child, key.columns, *values);
        std::vector<SqlValue> row(rows.columns());
        for (std::size_t i = 0; i < rows.rows(); ++i) {
            for (std::size_t k = 0; k < row.size(); ++k) row[k] = rows.at(i, k);
            key_of(child, 0, row, key_buffer);
            if (!take_lock(session, key_buffer, {mode, false}, false)) {
                session.wait.child = true;
                return Check::Waits;
            }
            if (!follows) return Check::Failed;
        }
    }
    return Check::Passed;
}

DatabaseEngine::State::Check DatabaseEngine::State::check_parents(SessionState& session,
                                                                  const TableInfo& table,
                                                                  std::span<const SqlValue> before,
                                                                  std::span<const SqlValue> after) {
    if (after.empty()) return Check::Passed;
    for (const ForeignKey& key : table.foreign_keys) {
        const auto values = values_of(key.columns, after);
        if (!values || (!before.empty() && values == values_of(key.columns, before))) continue;
        const TableInfo& parent = schema->tables[key.parent];
        if (!note_read(session, database::table_set(parent.id))) return Check::Refused;
        if (rows_with(parent, parent.uniques[key.parent_index].columns, *values).rows() == 0) {
            return Check::Failed;
        }
        database::start_key(key_buffer, key.parent, key.parent_index);
        for (const SqlValue& value : *values) database::append_value(key_buffer, value);
        if (!take_lock(session, key_buffer, {LockMode::KeyShare, false}, false)) {
            session.wait.parent = true;
            return Check::Waits;
        }
    }
    return Check::Passed;
}

}  // namespace fencepost::model
