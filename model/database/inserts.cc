// What becomes of the rows that an INSERT proposes: whether the statement has to wait for another
// transaction first, and which rows ON CONFLICT DO UPDATE locks.
#include <charconv>

#include "model/database/engine_state.h"

namespace fencepost::model {

using database::ConflictAction;
using database::InsertParts;
using database::IsBlocked;

// The rows that an INSERT is about to insert, as its VALUES or SELECT computes them.
bool DatabaseEngine::State::proposed_rows(KeptStatement& statement, Parameters parameters,
                                          SqlResult& rows) {
    const database::InsertParts& parts = *statement.parsed.insert;
    const std::string& text = statement.text;
    const auto part = [&text](database::TextRange range) {
        return text.substr(range.begin, range.end - range.begin);
    };
    if (parts.body.begin == parts.body.end) return false;
    if (statement.proposal == nullptr) {
        statement.proposal = &keep(part(parts.with) + part(parts.body));
    }
    Attempt attempt = rows_of(*statement.proposal, parameters);
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
        } else if (column.sequence) {
            values[i] = connection.sequences.next(*column.sequence);
        } else if (!column.default_expression.empty()) {
            const Attempt value = rows_of(keep("SELECT " + column.default_expression), {});
            if (const auto* result = std::get_if<SqlResult>(&value)) values[i] = result->at(0, 0);
        }
        convert(values[i], column.affinity);
    }
    return values;
}

namespace {

std::vector<std::string> names_of(const TableInfo& table, const UniqueIndex& index) {
    std::vector<std::string> names;
    for (const std::uint16_t column : index.columns) names.push_back(table.columns[column].name);
    std::sort(names.begin(), names.end());
    return names;
}

// Whether ON CONFLICT looks at this index.
bool is_arbiter(const TableInfo& table, std::size_t index, const InsertParts& parts) {
    if (parts.on_conflict == ConflictAction::Fail) return false;
    if (parts.target.empty()) return true;
    std::vector<std::string> target = parts.target;
    std::sort(target.begin(), target.end());
    return names_of(table, table.uniques[index]) == target;
}

}  // namespace

// How PostgreSQL locks a row that DO UPDATE comes upon: by the columns that are assigned, not by
// the values that change.
DatabaseEngine::State::LockMode DatabaseEngine::State::upsert_mode(const TableInfo& table,
                                                                   const InsertParts& parts) {
    for (const UniqueIndex& index : table.uniques) {
        for (const std::uint16_t column : index.columns) {
            const std::string& name = table.columns[column].name;
            if (std::find(parts.assigned.begin(), parts.assigned.end(), name) !=
                parts.assigned.end()) {
                return LockMode::Update;
            }
        }
    }
    return LockMode::NoKeyUpdate;
}

// What an INSERT does instead of going ahead, row by row, as it would go: it waits for a
// transaction that has written a row with its unique key, whatever SQLite thinks of the committed
// rows, or for one that holds the row that DO UPDATE comes upon. The session then holds what it had
// locked: that row, and the keys that it had put into indexes already. `violated`: SQLite has found
// a violation, which may be one of a key that DO UPDATE would give.
std::optional<DatabaseEngine::State::Attempt> DatabaseEngine::State::insert_waits(
    SessionState& session, KeptStatement& statement, Parameters parameters, bool violated) {
    const InsertParts& parts = *statement.parsed.insert;
    const TableInfo* table = schema->find(parts.table);
    const auto resumed = std::exchange(session.wait.inserting_row, std::nullopt);
    auto looking = std::exchange(session.wait.arbiter, std::nullopt);
    std::vector<SqlValue> existing;
    SqlResult rows;
    if (table == nullptr || !proposed_rows(statement, parameters, rows)) return std::nullopt;
    // Ids are drawn as the rows are formed, before they are known to fit; the statement itself then
    // gets the same ones.
    connection.sequences.drawn = &session.wait.drawn;
    connection.sequences.drawn_again = 0;
    if (!violated && !resumed && !statement.locks_apart && !is_stale(session) &&
        !proposes_held_key(session, statement, *table, rows)) {
        return std::nullopt;
    }
    connection.sequences.drawn_again = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const std::vector<SqlValue> values = proposed_row(statement, *table, rows, row);
        Proposal proposal = Proposal::Conflicts;
        std::size_t index = 0;
        if (resumed == row) proposal = enter_keys(session, *table, parts, values, index);
        while (proposal == Proposal::Conflicts) {
            index = looking && looking->row == row ? looking->index : 0;
            looking.reset();
            proposal = arbitrate(session, *table, parts, values, existing, index);
            if (proposal == Proposal::Waits) session.wait.arbiter = {row, index};
            if (proposal != Proposal::Inserts) break;
            if (!note_write(session, table->id)) return dependencies();
            proposal = enter_keys(session, *table, parts, values, index);
            if (proposal == Proposal::Waits) session.wait.inserting_row = row;
        }
        if (proposal == Proposal::Waits) {
            if (resumed == row) session.wait.inserting_row = row;
            return IsBlocked{};
        }
        if (proposal == Proposal::Unseen) {
            return SqlFailure{"40001", "could not serialize access due to concurrent update"};
        }
        if (proposal == Proposal::Violates) {
            if (resumed != row) return std::nullopt;  // SQLite says so itself
            if (!note_write(session, table->id)) return dependencies();
            return SqlFailure{"23505", "duplicate key value violates unique constraint \"" +
                                           table->uniques[index].name + "\""};
        }
        if (violated && proposal == Proposal::Updates &&
            upsert_waits(session, statement, parameters, values, existing)) {
            return IsBlocked{};
        }
    }
    return std::nullopt;
}

// Whether others have written any key of these rows: mostly not, and then there is nothing to look
// at.
bool DatabaseEngine::State::proposes_held_key(const SessionState& session,
                                              const KeptStatement& statement,
                                              const TableInfo& table, const SqlResult& rows) {
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const std::vector<SqlValue> values = proposed_row(statement, table, rows, row);
        for (std::size_t index = 0; index < table.uniques.size(); ++index) {
            if (key_of(table, index, values, key_buffer) &&
                is_held(session, key_buffer, {LockMode::Update, true})) {
                return true;
            }
        }
    }
    return false;
}

// Whether nobody else has written the key in key_buffer.
bool DatabaseEngine::State::key_is_free(SessionState& session) {
    if (!is_held(session, key_buffer, {LockMode::Update, true})) return true;
    session.wait.key = key_buffer;
    session.wait.request = {LockMode::Update, true};
    return false;
}

// ON CONFLICT looks at its indexes before anything else, from `index` on, and ends at one of them.
DatabaseEngine::State::Proposal DatabaseEngine::State::arbitrate(
    SessionState& session, const TableInfo& table, const InsertParts& parts,
    std::span<const SqlValue> row, std::vector<SqlValue>& existing, std::size_t& index) {
    for (; index < table.uniques.size(); ++index) {
        if (!is_arbiter(table, index, parts) || !key_of(table, index, row, key_buffer)) continue;
        if (!key_is_free(session)) return Proposal::Waits;
        auto found = row_with_key(table, index, row);
        if (!found) continue;
        existing = std::move(*found);
        key_of(table, 0, existing, key_buffer);
        if (parts.on_conflict == ConflictAction::Update) {
            // The newest version is locked, whether the snapshot has it or not.
            const database::LockRequest request{upsert_mode(table, parts), false};
            if (!take_lock(session, key_buffer, request, false)) {
                session.wait.newest = true;
                return Proposal::Waits;
            }
        }
        if (fate_of(session, key_buffer).touched) return Proposal::Unseen;
        const bool updates = parts.on_conflict == ConflictAction::Update;
        return updates ? Proposal::Updates : Proposal::Skipped;
    }
    return Proposal::Inserts;
}

// Then the row's keys go into all indexes, in order. A conflict that has come up since leads back
// to the beginning. `index` is where it ended.
DatabaseEngine::State::Proposal DatabaseEngine::State::enter_keys(SessionState& session,
                                                                  const TableInfo& table,
                                                                  const InsertParts& parts,
                                                                  std::span<const SqlValue> row,
                                                                  std::size_t& index) {
    for (index = 0; index < table.uniques.size(); ++index) {
        if (!key_of(table, index, row, key_buffer)) continue;
        if (!key_is_free(session)) return Proposal::Waits;
        if (row_with_key(table, index, row)) {
            return is_arbiter(table, index, parts) ? Proposal::Conflicts : Proposal::Violates;
        }
        session.holdings.locks.add(key_buffer, LockMode::Update, true, session.holdings.log.size());
    }
    return Proposal::Inserts;
}

// The row that SQLite has with this key of a plain unique index.
std::optional<std::vector<SqlValue>> DatabaseEngine::State::row_with_key(
    const TableInfo& table, std::size_t index, std::span<const SqlValue> row) {
    const UniqueIndex& unique = table.uniques[index];
    if (!unique.key_query.empty()) return std::nullopt;
    std::vector<SqlValue> values;
    for (const std::uint16_t column : unique.columns) values.push_back(row[column]);
    const SqlResult found = rows_with(table, unique.columns, values);
    if (found.rows() == 0) return std::nullopt;
    std::vector<SqlValue> result;
    for (std::size_t i = 0; i < found.columns(); ++i) result.push_back(found.at(0, i));
    return result;
}

// The update of one row that DO UPDATE comes upon, as a statement of its own. PostgreSQL knows the
// proposed row as `excluded` and takes a name that both rows have for ambiguous; so does SQLite
// here.
std::optional<SqlFailure> DatabaseEngine::State::prepare_upsert(KeptStatement& statement) {
    const InsertParts& parts = *statement.parsed.insert;
    const TableInfo* table = schema->find(parts.table);
    if (parts.on_conflict != ConflictAction::Update || table == nullptr) return std::nullopt;
    const auto edited = [&](database::TextRange range) {
        return statement.parsed.edits.applied_to(statement.text, range);
    };
    std::size_t parameter = statement.parsed.parameter_count;
    std::string text = "UPDATE OR REPLACE " + database::quoted(parts.table) + " AS " +
                       database::quoted(parts.qualifier) + " SET " + edited(parts.assignments) +
                       " FROM (SELECT ";
    for (std::size_t i = 0; i < table->columns.size(); ++i) {
        text += (i > 0 ? ", $" : "$") + std::to_string(++parameter) + " AS " +
                database::quoted(table->columns[i].name);
    }
    text += ") AS excluded WHERE ";
    if (parts.condition) text += "(" + edited(*parts.condition) + ") AND ";
    for (std::size_t i = 0; i < table->primary_key().size(); ++i) {
        const std::string& name = table->columns[table->primary_key()[i]].name;
        text += (i > 0 ? " AND " : "") + database::quoted(parts.qualifier) + "." +
                database::quoted(name) + " = $" + std::to_string(++parameter);
    }
    auto prepared = connection.prepare(text);
    if (auto* failure = std::get_if<SqlFailure>(&prepared)) return std::move(*failure);
    statement.trial = std::move(std::get<database::PreparedText>(prepared));
    return std::nullopt;
}

// After a violation: whether DO UPDATE gives this row a key that another transaction has written.
bool DatabaseEngine::State::upsert_waits(SessionState& session, KeptStatement& statement,
                                         Parameters parameters, std::span<const SqlValue> proposed,
                                         std::span<const SqlValue> existing) {
    std::vector<SqlValue> all(parameters.begin(), parameters.end());
    all.insert(all.end(), proposed.begin(), proposed.end());
    const TableInfo& table = *schema->find(statement.parsed.insert->table);
    for (const std::uint16_t column : table.primary_key()) all.push_back(existing[column]);
    database::ChangeLog trial;
    return trial_waits(session, statement.trial, all, trial);
}

}  // namespace fencepost::model
