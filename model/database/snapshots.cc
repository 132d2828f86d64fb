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
    if (statement.parsed.insert) return;
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

// When a statement has run again: PostgreSQL locks the newest version of every row that the
// statement had found, one after the other, and only then checks whether it still fits; a row that
// does not stays locked, one that does is written before the next is looked at. False if one is not
// free. The statement's changes are those from `first` on.
bool DatabaseEngine::State::lock_candidates(SessionState& session, std::size_t first) {
    const database::Wait& wait = session.wait;
    if (!wait.candidates) return true;
    const ChangeLog& log = session.holdings.log;
    for (const std::string& key : wait.candidates->in_order()) {
        if (!take_lock(session, key, {wait.candidates->mode(), false}, false)) return false;
        for (std::size_t i = first; i < log.size(); ++i) {
            if (log[i].cascaded || log[i].kind == RowChange::Kind::Insert) continue;
            key_of(schema->tables[log[i].table], 0, log.before(log[i]), key_buffer);
            if (key_buffer == key && !lock_keys(session, log, log[i])) return false;
        }
    }
    return true;
}

void DatabaseEngine::State::freeze(SessionState& session, KeptStatement& statement,
                                   Parameters parameters) {
    const database::Statement& parsed = statement.parsed;
    const bool insert = parsed.insert && parsed.insert->computed;
    if (!insert && parsed.subqueries.empty()) return;
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

// A query of constants in place of one that has been answered. Adds its values to the parameters.
std::string DatabaseEngine::State::constants_of(const KeptStatement& query, const SqlResult& rows,
                                                std::vector<SqlValue>& parameters) {
    std::string constants = "(";
    for (std::size_t row = 0; row < std::max<std::size_t>(rows.rows(), 1); ++row) {
        constants += row > 0 ? " UNION ALL SELECT " : "SELECT ";
        for (std::size_t column = 0; column < rows.columns(); ++column) {
            parameters.push_back(rows.rows() == 0 ? SqlValue{} : rows.at(row, column));
            const char* name =
                sqlite3_column_name(query.sqlite.handle.get(), static_cast<int>(column));
            constants += (column > 0 ? ", $" : "$") + std::to_string(parameters.size()) + " AS " +
                         database::quoted(name);
        }
    }
    return constants + (rows.rows() == 0 ? " WHERE FALSE)" : ")");
}

// Runs a subquery that locks, and the statement with its values in its place.
DatabaseEngine::State::Attempt DatabaseEngine::State::run_locking_subquery(SessionState& session,
                                                                           KeptStatement& statement,
                                                                           Parameters parameters,
                                                                           bool again) {
    const TextRange range = statement.parsed.locking_subqueries.front();
    KeptStatement& query = inner_query(statement, range);
    if (query.parsed.kind != StatementKind::LockingQuery || prepare(query)) {
        return SqlFailure{"0A000",
                          "a subquery with FOR UPDATE that is more than a query of one table is "
                          "not supported by the simulated database"};
    }
    Attempt attempt = is_stale(session) ? lock_on_snapshot(session, query, parameters)
                                        : run_locking_query(session, query, parameters, again);
    const auto* rows = std::get_if<SqlResult>(&attempt);
    if (rows == nullptr) return attempt;
    database::TextEdits edits;
    std::vector<SqlValue> all(parameters.begin(), parameters.end());
    edits.replace(range, constants_of(query, *rows, all));
    database::Wait& wait = session.wait;
    wait.candidates.reset();
    wait.versions.clear();
    wait.statement = &keep(edits.applied_to(statement.text));
    wait.parameters = std::move(all);
    wait.frozen = true;
    if (auto failure = prepare(*wait.statement)) return std::move(*failure);
    if (is_stale(session)) {
        return write_on_snapshot(session, *wait.statement, wait.parameters, false);
    }
    return run_write(session, *wait.statement, wait.parameters, false);
}

DatabaseEngine::State::KeptStatement& DatabaseEngine::State::inner_query(
    const KeptStatement& statement, TextRange range) {
    return keep(
        std::string_view(statement.text).substr(range.begin + 1, range.end - range.begin - 2));
}

// Subqueries of an UPDATE or DELETE that stand alone become queries of constants.
void DatabaseEngine::State::freeze_subqueries(SessionState& session, KeptStatement& statement,
                                              Parameters parameters) {
    database::TextEdits edits;
    std::vector<SqlValue> all(parameters.begin(), parameters.end());
    bool any = false;
    for (const TextRange range : statement.parsed.subqueries) {
        KeptStatement& query = inner_query(statement, range);
        if (query.parsed.kind != StatementKind::Query) continue;
        const Attempt attempt = rows_of(query, parameters);
        const auto* rows = std::get_if<SqlResult>(&attempt);
        if (rows == nullptr || rows->rows() > kMostKeptRows) continue;
        edits.replace(range, constants_of(query, *rows, all));
        any = true;
    }
    if (!any) return;
    database::Wait& wait = session.wait;
    wait.statement = &keep(edits.applied_to(statement.text));
    wait.parameters = std::move(all);
    wait.frozen = true;
}

// What a commit did to the row that a weak lock waits for. A foreign key's parent that is deleted
// is gone, even if another row with its key takes its place.
void DatabaseEngine::State::note_changed_row(database::Wait& wait, const SessionState& committing) {
    const bool weak = wait.request.mode == LockMode::KeyShare;
    if (wait.key.empty() || wait.request.probe || !(weak || wait.child || wait.newest)) {
        return;
    }
    const ChangeLog& log = committing.holdings.log;
    const database::KeyParts parts = database::read_key(wait.key);
    for (std::size_t i = 0; i < log.size(); ++i) {
        if (log[i].table != parts.table || log[i].kind == RowChange::Kind::Insert) continue;
        const TableInfo& table = schema->tables[log[i].table];
        if (!key_of(table, parts.index, log.before(log[i]), key_buffer)) continue;
        if (key_buffer != wait.key) continue;
        const bool stays = log[i].kind == RowChange::Kind::Update &&
                           key_of(table, parts.index, log.after(log[i]), second_key_buffer) &&
                           second_key_buffer == key_buffer;
        wait.parent_gone |= wait.parent && !stays;
        wait.changed_since |= wait.newest || (wait.child && !(weak && stays));
        wait.look_again |= wait.parent_gone;
        wait.newer |= is_strong(committing, i);
    }
}

// A row that a waiting statement had found may get another key; it is still the same row. One that
// is deleted is not, even if another with its key takes its place.
void DatabaseEngine::State::follow_moved_rows(const SessionState& committing) {
    const ChangeLog& log = committing.holdings.log;
    for (const SessionId id : waiters) {
        note_changed_row(sessions[id - 1].wait, committing);
        auto& candidates = sessions[id - 1].wait.candidates;
        if (!candidates) continue;
        for (std::size_t i = 0; i < log.size(); ++i) {
            if (log[i].kind == RowChange::Kind::Insert) continue;
            const TableInfo& table = schema->tables[log[i].table];
            key_of(table, 0, log.before(log[i]), key_buffer);
            if (!candidates->contains(key_buffer)) continue;
            database::Wait& wait = sessions[id - 1].wait;
            if (!wait.versions.empty() && is_strong(committing, i)) {
                wait.versions.erase(key_buffer);
            }
            if (log[i].kind == RowChange::Kind::Delete) {
                candidates->remove(key_buffer);
            } else {
                key_of(table, 0, log.after(log[i]), second_key_buffer);
                if (second_key_buffer == key_buffer) continue;
                candidates->move(key_buffer, second_key_buffer);
            }
            wait.look_again |= key_buffer == wait.key;
        }
    }
}

}  // namespace fencepost::model
