// A statement that has waited is run again on the rows as they are then. These functions keep it to
// what it had found in its own snapshot, as PostgreSQL does at READ COMMITTED: new versions of the
// rows that it had found, the values that its INSERT had computed, and its subqueries' results.
#include <sqlite3.h>

#include "model/database/engine_state.h"

namespace fencepost::model {

using database::ChangeLog;
using database::TextRange;

namespace {

// A subquery of more rows than this is read anew instead of kept.
constexpr std::size_t kMostKeptRows = 1000;

}  // namespace

// The rows that the changes from `first` on have found are the statement's, when it is run again.
void DatabaseEngine::State::remember_candidates(SessionState& session,
                                                const KeptStatement& statement,
                                                const ChangeLog& log, std::size_t first) {
    if (statement.parsed.insert || statement.parsed.locks_in_subquery) return;
    const bool updates = statement.parsed.update_end != 0;
    const RowChange::Kind kind = updates ? RowChange::Kind::Update : RowChange::Kind::Delete;
    database::Candidates candidates(LockMode::KeyShare);
    for (std::size_t i = first; i < log.size(); ++i) {
        if (log[i].cascaded || log[i].kind != kind) continue;
        const TableInfo& table = schema->tables[log[i].table];
        key_of(table, 0, log.before(log[i]), key_buffer);
        candidates.add(key_buffer);
        candidates.strengthen(mode_of(table, log[i].kind, log.before(log[i]), log.after(log[i])));
    }
    candidates.sort();
    session.wait.candidates = std::move(candidates);
}

// Before a statement runs again: PostgreSQL locks the newest version of every row that the
// statement had found, and only then checks whether it still fits; a row that does not stays
// locked. False if one is not free.
bool DatabaseEngine::State::lock_candidates(SessionState& session) {
    database::Wait& wait = session.wait;
    const auto take = [&](const std::string& key, LockMode mode) {
        if (is_held(session, key, {mode, false})) {
            wait.key = key;
            wait.request = {mode, false};
            return false;
        }
        session.holdings.locks.add(key, mode, false);
        return true;
    };
    if (!wait.candidates) {
        // FOR UPDATE with a LIMIT knows only the row that it has waited for.
        const bool locks = wait.statement->parsed.kind == StatementKind::LockingQuery;
        return !locks || wait.key.empty() || take(wait.key, wait.request.mode);
    }
    for (const std::string& key : wait.candidates->in_order()) {
        if (!take(key, wait.candidates->mode())) return false;
    }
    return true;
}

void DatabaseEngine::State::freeze(SessionState& session, KeptStatement& statement,
                                   Parameters parameters) {
    const database::Statement& parsed = statement.parsed;
    const bool insert = parsed.insert && parsed.insert->computed;
    const bool subqueries = !parsed.subqueries.empty() && !parsed.locks_in_subquery;
    if (!insert && !subqueries) return;
    make_resident(session);
    if (insert) {
        freeze_insert(session, statement, parameters);
    } else {
        freeze_subqueries(session, statement, parameters);
    }
}

// INSERT … SELECT becomes INSERT … VALUES.
void DatabaseEngine::State::freeze_insert(SessionState& session, KeptStatement& statement,
                                          Parameters parameters) {
    SqlResult rows;
    if (!proposed_rows(statement, parameters, rows) || rows.rows() == 0) return;
    std::vector<SqlValue> all(parameters.begin(), parameters.end());
    std::string values = " VALUES ";
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        for (std::size_t column = 0; column < rows.columns(); ++column) {
            all.push_back(rows.at(row, column));
            values += (column > 0 ? ", $" : row > 0 ? "), ($" : "($") + std::to_string(all.size());
        }
    }
    values += ") ";
    const TextRange body = statement.parsed.insert->body;
    const std::string& text = statement.text;
    database::Wait& wait = session.wait;
    wait.statement = &keep(text.substr(0, body.begin) + values + text.substr(body.end));
    wait.parameters = std::move(all);
    wait.frozen = true;
}

// Subqueries of an UPDATE or DELETE that stand alone become queries of constants.
void DatabaseEngine::State::freeze_subqueries(SessionState& session, KeptStatement& statement,
                                              Parameters parameters) {
    database::TextEdits edits;
    std::vector<SqlValue> all(parameters.begin(), parameters.end());
    bool any = false;
    for (const TextRange range : statement.parsed.subqueries) {
        KeptStatement& query =
            keep(statement.text.substr(range.begin + 1, range.end - range.begin - 2));
        if (query.parsed.kind != StatementKind::Query) continue;
        const Attempt attempt = rows_of(query, parameters);
        const auto* rows = std::get_if<SqlResult>(&attempt);
        if (rows == nullptr || rows->rows() > kMostKeptRows) continue;
        std::string constants = "(";
        for (std::size_t row = 0; row < std::max<std::size_t>(rows->rows(), 1); ++row) {
            constants += row > 0 ? " UNION ALL SELECT " : "SELECT ";
            for (std::size_t column = 0; column < rows->columns(); ++column) {
                all.push_back(rows->rows() == 0 ? SqlValue{} : rows->at(row, column));
                const char* name =
                    sqlite3_column_name(query.sqlite.handle.get(), static_cast<int>(column));
                constants += (column > 0 ? ", $" : "$") + std::to_string(all.size()) + " AS " +
                             database::quoted(name);
            }
        }
        constants += rows->rows() == 0 ? " WHERE FALSE)" : ")";
        edits.replace(range, std::move(constants));
        any = true;
    }
    if (!any) return;
    database::Wait& wait = session.wait;
    wait.statement = &keep(edits.applied_to(statement.text));
    wait.parameters = std::move(all);
    wait.frozen = true;
}

// A row that a waiting statement had found may get another key; it is still the same row. One that
// is deleted is not, even if another with its key takes its place.
void DatabaseEngine::State::follow_moved_rows(const SessionState& committing) {
    const ChangeLog& log = committing.holdings.log;
    for (const SessionId id : waiters) {
        auto& candidates = sessions[id - 1].wait.candidates;
        if (!candidates) continue;
        for (std::size_t i = 0; i < log.size(); ++i) {
            if (log[i].kind == RowChange::Kind::Insert) continue;
            const TableInfo& table = schema->tables[log[i].table];
            key_of(table, 0, log.before(log[i]), key_buffer);
            if (!candidates->contains(key_buffer)) continue;
            if (log[i].kind == RowChange::Kind::Delete) {
                candidates->remove(key_buffer);
            } else {
                key_of(table, 0, log.after(log[i]), second_key_buffer);
                if (second_key_buffer == key_buffer) continue;
                candidates->move(key_buffer, second_key_buffer);
            }
            sessions[id - 1].wait.look_again |= key_buffer == sessions[id - 1].wait.key;
        }
    }
}

}  // namespace fencepost::model
