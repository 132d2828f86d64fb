#include <sqlite3.h>

#include "model/database/engine_state.h"
#include "model/database/sql_errors.h"
#include "sim/require.h"

namespace fencepost::model {

using database::Holdings;
using database::IsBlocked;
using database::TextEdits;
using sim::require;

DatabaseEngine::State::KeptStatement& DatabaseEngine::State::keep(std::string_view sql) {
    const auto found = kept.find(sql);
    if (found != kept.end()) return *found->second;
    auto statement = std::make_unique<KeptStatement>();
    statement->text = sql;
    statement->parsed = database::read_statement(database::tokenize(statement->text));
    return *kept.emplace(statement->text, std::move(statement)).first->second;
}

namespace {

std::string key_columns(const TableInfo& table, const std::string& qualifier) {
    std::string text;
    for (const std::uint16_t column : table.primary_key()) {
        text +=
            ", " + database::quoted(qualifier) + "." + database::quoted(table.columns[column].name);
    }
    return text;
}

SqlFailure no_relation(const std::string& name) {
    return {"42P01", "relation \"" + name + "\" does not exist"};
}

}  // namespace

// A call of the function that tells candidates.
std::string DatabaseEngine::State::candidate_test(const std::string& name,
                                                  const std::string& qualifier,
                                                  std::optional<SqlFailure>& failure) const {
    const TableInfo* table = schema->find(name);
    if (table == nullptr) {
        failure = no_relation(name);
        return {};
    }
    return std::string(database::kIsCandidateFunction) + "(" + std::to_string(table->id) +
           key_columns(*table, qualifier) + ")";
}

// The text for SQLite, with what depends on the schema: row locks need the primary key.
std::string DatabaseEngine::State::sqlite_text(const KeptStatement& statement, TextEdits edits,
                                               std::optional<SqlFailure>& failure) const {
    if (const auto& locking = statement.parsed.locking) {
        const TableInfo* table = schema->find(locking->table);
        if (table == nullptr) {
            failure = no_relation(locking->table);
            return {};
        }
        edits.insert(locking->select_list_end, key_columns(*table, locking->qualifier));
    }
    return failure ? std::string() : edits.applied_to(statement.text);
}

// An UPDATE or DELETE that comes upon candidates only.
bool DatabaseEngine::State::prepare_variant(const KeptStatement& statement,
                                            database::PreparedText& variant, bool replace) {
    if (variant.handle) return true;
    const database::Statement& parsed = statement.parsed;
    if (!parsed.target || (replace && parsed.update_end == 0)) return false;
    std::optional<SqlFailure> failure;
    TextEdits edits = parsed.edits;
    if (has(DatabaseFlaw::NoRecheckAfterWait) && parsed.target->condition) {
        edits.insert(parsed.target->condition->begin, "TRUE OR ");
    }
    edits.add_condition(*parsed.target,
                        candidate_test(parsed.target->table, parsed.target->qualifier, failure));
    if (replace) edits.insert(parsed.update_end, " OR REPLACE ");
    const std::string text = sqlite_text(statement, std::move(edits), failure);
    if (failure) return false;
    auto prepared = connection.prepare(text);
    if (!std::holds_alternative<database::PreparedText>(prepared)) return false;
    variant = std::move(std::get<database::PreparedText>(prepared));
    return true;
}

// Prepares a statement for the present schema, unless it is already.
std::optional<SqlFailure> DatabaseEngine::State::prepare(KeptStatement& statement) {
    if (statement.schema_id == schema->id) return std::nullopt;
    if (statement.parsed.failure) return statement.parsed.failure;
    std::optional<SqlFailure> refusal;
    const std::string text = sqlite_text(statement, statement.parsed.edits, refusal);
    if (refusal) return refusal;
    auto prepared = connection.prepare(text);
    if (auto* refused = std::get_if<SqlFailure>(&prepared)) return std::move(*refused);
    if (const auto& insert = statement.parsed.insert; insert && !insert->overriding) {
        const TableInfo* table = schema->find(insert->table);
        for (const std::string& name : insert->columns) {
            const auto column = table == nullptr ? std::nullopt : table->column(name);
            if (column && table->columns[*column].generated_always) {
                return SqlFailure{"428C9",
                                  "cannot insert a non-DEFAULT value into column \"" + name + "\""};
            }
        }
    }
    statement.retry = {};
    statement.trial = {};
    if (const auto& insert = statement.parsed.insert) {
        const TableInfo* table = schema->find(insert->table);
        if (auto failure = prepare_upsert(statement)) return failure;
        statement.locks_apart =
            insert->on_conflict == database::ConflictAction::Update && table != nullptr &&
            (insert->condition.has_value() || upsert_mode(*table, *insert) == LockMode::Update);
    }
    statement.sqlite = std::move(std::get<database::PreparedText>(prepared));
    statement.named = 0;
    const database::Tokens tokens = database::tokenize(statement.text);
    for (std::size_t i = 0; i < tokens.list.size(); ++i) {
        if (const TableInfo* table = schema->find(tokens.name(i))) {
            statement.named |= database::table_set(table->id);
        }
    }
    statement.schema_id = schema->id;
    return std::nullopt;
}

// Runs a prepared statement to its end; answers SQLite's result code, SQLITE_OK if all went well.
int DatabaseEngine::State::step_all(database::PreparedText& prepared, Parameters parameters,
                                    std::vector<SqlValue>& rows) {
    sqlite3_stmt* handle = prepared.handle.get();
    int place = 0;
    for (const std::uint16_t number : prepared.parameters) {
        require(number <= parameters.size(), "every parameter has a value");
        database::bind_value(handle, ++place, parameters[number - 1U]);
    }
    const int columns = sqlite3_column_count(handle);
    int result = sqlite3_step(handle);
    for (; result == SQLITE_ROW; result = sqlite3_step(handle)) {
        for (int i = 0; i < columns; ++i) rows.push_back(database::column_value(handle, i));
    }
    changes = sqlite3_changes64(connection.handle());
    if (result != SQLITE_DONE) result = sqlite3_extended_errcode(connection.handle());
    sqlite3_reset(handle);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

SqlFailure DatabaseEngine::State::failure_now(int code) const {
    return database::run_failure(code, sqlite3_errmsg(connection.handle()), *schema);
}

// The rows of a query in the state that SQLite is in.
DatabaseEngine::State::Attempt DatabaseEngine::State::rows_of(KeptStatement& statement,
                                                              Parameters parameters) {
    if (auto failure = prepare(statement)) return std::move(*failure);
    std::vector<SqlValue> rows;
    const int code = step_all(statement.sqlite, parameters, rows);
    if (code != SQLITE_OK) return failure_now(code);
    const auto columns =
        static_cast<std::size_t>(sqlite3_column_count(statement.sqlite.handle.get()));
    return SqlResult(columns, std::move(rows), 0);
}

// `again`: the statement has waited, and is run once more.
DatabaseEngine::State::Attempt DatabaseEngine::State::run(SessionState& session,
                                                          KeptStatement& statement,
                                                          Parameters parameters, bool again) {
    if (!session.holdings.ddl.empty()) {
        make_resident(session);
    } else if (schema != committed) {
        evict();
    }
    const StatementKind kind = statement.parsed.kind;
    if (kind == StatementKind::Ddl) return run_ddl(session, statement, again);
    if (statement.parsed.advisory_lock) return run_advisory_lock(session, statement, parameters);
    if (statement.schema_id != schema->id) {
        if (auto failure = prepare(statement)) return std::move(*failure);
    }
    if (!again && parameters.size() != statement.parsed.parameter_count) {
        return SqlFailure{"08P01", "bind message supplies " + std::to_string(parameters.size()) +
                                       " parameters, but prepared statement requires " +
                                       std::to_string(statement.parsed.parameter_count)};
    }
    if (!holders.empty() && blocked_by_ddl(session, statement)) return IsBlocked{};
    const bool keeps_snapshot =
        session.level != IsolationLevel::ReadCommitted && !has(DatabaseFlaw::SnapshotForgotten);
    Attempt attempt = !keeps_snapshot ? run_prepared(session, statement, parameters, again)
                                      : run_isolated(session, statement, parameters, again);
    if (kind == StatementKind::LockingQuery && !session.in_block &&
        std::holds_alternative<SqlResult>(attempt)) {
        session.holdings.clear();
        note_holding(session);
    }
    return attempt;
}

DatabaseEngine::State::Attempt DatabaseEngine::State::run_prepared(SessionState& session,
                                                                   KeptStatement& statement,
                                                                   Parameters parameters,
                                                                   bool again) {
    const StatementKind kind = statement.parsed.kind;
    if (kind == StatementKind::Query) return run_query(session, statement, parameters);
    if (kind == StatementKind::Write) return run_write(session, statement, parameters, again);
    return run_locking_query(session, statement, parameters, again);
}

DatabaseEngine::State::Attempt DatabaseEngine::State::run_query(SessionState& session,
                                                                KeptStatement& statement,
                                                                Parameters parameters) {
    if ((resident != 0 || session.holdings.changed()) && !has(DatabaseFlaw::ReadsUncommitted)) {
        make_visible(session, statement.sqlite.tables);
    }
    return rows_of(statement, parameters);
}

// With nobody else holding anything, the statement just runs. Otherwise it runs first and asks for
// its locks afterwards; if one is not free, its changes are undone, and the locks before that one
// stay.
DatabaseEngine::State::Attempt DatabaseEngine::State::run_write(SessionState& session,
                                                                KeptStatement& statement,
                                                                Parameters parameters, bool again) {
    if (!statement.parsed.locking_subqueries.empty()) {
        return run_locking_subquery(session, statement, parameters, again);
    }
    const bool others = others_hold(session);
    Holdings& holdings = session.holdings;
    asking = session.id;
    make_resident(session);
    // What a transaction with a snapshot locks is noted even if it is alone.
    const bool locks = others || session.snapshot;
    if (locks) add_missing_locks();
    if (session.in_block || others || again || session.snapshot) begin(session);
    const auto& insert = statement.parsed.insert;
    if (insert && insert->on_conflict != database::ConflictAction::Fail &&
        (others || session.wait.inserting_row || is_stale(session) ||
         (locks_matter(session) && statement.locks_apart))) {
        auto instead = insert_waits(session, statement, parameters, false);
        if (instead && std::holds_alternative<IsBlocked>(*instead)) {
            return block_write(session, statement, parameters, again);
        }
        if (instead) return std::move(*instead);
    }

    const std::size_t first = holdings.log.size();
    std::vector<SqlValue> rows;
    connection.sequences.drawn =
        others || again || !session.wait.drawn.empty() ? &session.wait.drawn : nullptr;
    connection.sequences.drawn_again = 0;
    const bool only_candidates =
        again && session.wait.candidates && prepare_variant(statement, statement.retry, false);
    connection.record_into(&holdings.log);
    const int code =
        step_all(only_candidates ? statement.retry : statement.sqlite, parameters, rows);
    connection.record_into(nullptr);
    const std::int64_t affected = changes;
    SqlFailure failure;
    if (code != SQLITE_OK) failure = failure_now(code);
    const bool complete = code == SQLITE_OK || database::is_foreign_key_violation(code);
    if (again && !lock_candidates(session, complete ? first : holdings.log.size())) {
        holdings.log.truncate(first);
        return block_write(session, statement, parameters, again);
    }
    const bool wrote = complete || database::is_unique_violation(code);
    if (session.serial && insert && wrote && !note_insert(session, statement, code)) {
        holdings.log.truncate(first);
        return dependencies();
    }
    if (code != SQLITE_OK) {
        if (database::is_foreign_key_violation(code)) {
            if (auto instead = check_followers(session, first)) failure = *instead;
        }
        Check check = Check::Failed;
        if (complete && (others || session.serial)) check = check_references(session, first);
        if (check == Check::Refused) failure = dependencies();
        if (check == Check::Waits) {
            if (!again) remember_candidates(session, statement, holdings.log, first);
            holdings.log.truncate(first);
            return block_write(session, statement, parameters, again);
        }
        holdings.log.truncate(first);
        if (others && database::is_unique_violation(code)) {
            const auto instead = violates_held_key(session, statement, parameters);
            if (instead && std::holds_alternative<IsBlocked>(*instead)) {
                return block_write(session, statement, parameters, again);
            }
        }
        return failure;
    }

    if (locks) {
        auto instead = settle_changes(session, first);
        if (instead && std::holds_alternative<SqlFailure>(*instead)) return std::move(*instead);
        if (instead) {
            database::Wait& wait = session.wait;
            wait.newest = insert && !wait.request.probe && wait.request.mode != LockMode::KeyShare;
            if (!again) remember_candidates(session, statement, holdings.log, first);
            holdings.log.truncate(first);
            return block_write(session, statement, parameters, again);
        }
    }
    if (auto refused = finish_write(session, first, locks)) return std::move(*refused);
    const auto columns =
        static_cast<std::size_t>(sqlite3_column_count(statement.sqlite.handle.get()));
    return SqlResult(columns, std::move(rows), affected);
}

// The changes from `first` on are made, and what they lock is locked if `locked`.
std::optional<SqlFailure> DatabaseEngine::State::finish_write(SessionState& session,
                                                              std::size_t first, bool locked) {
    Holdings& holdings = session.holdings;
    note_written(session);
    if (!session.in_block) {
        if (auto failure = agree_to_commit(session)) return failure;
    }
    if (locked) holdings.locked_changes = holdings.log.size();
    if (session.in_block) {
        for (std::size_t i = first; i < holdings.log.size(); ++i) {
            holdings.tables |= database::table_set(holdings.log[i].table);
        }
        if (!holdings.ddl.empty()) add_missing_locks(session);
        note_holding(session);
    } else if (resident == session.id) {
        commit(session);
    } else {
        if (!holdings.log.empty()) report_commit(session);
        holdings.clear();
    }
    return std::nullopt;
}

DatabaseEngine::State::Attempt DatabaseEngine::State::block_write(SessionState& session,
                                                                  KeptStatement& statement,
                                                                  Parameters parameters,
                                                                  bool again) {
    drop_if_resident(session);
    if (!again) freeze(session, statement, parameters);
    note_holding(session);
    return IsBlocked{};
}

}  // namespace fencepost::model
