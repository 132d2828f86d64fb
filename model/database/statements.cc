#include <sqlite3.h>

#include <charconv>

#include "model/database/engine_state.h"
#include "model/database/sql_errors.h"
#include "sim/require.h"

namespace fencepost::model {

using database::Holdings;
using database::IsBlocked;
using database::LockingClause;
using database::RowLockWait;
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

// A call of SQL's function that tests a row.
std::string DatabaseEngine::State::row_test(database::RowTest test, const std::string& name,
                                            const std::string& qualifier,
                                            std::optional<SqlFailure>& failure) const {
    const TableInfo* table = schema->find(name);
    if (table == nullptr) {
        failure = no_relation(name);
        return {};
    }
    return std::string(database::kTestRowFunction) + "(" + std::to_string(static_cast<int>(test)) +
           ", " + std::to_string(table->id) + key_columns(*table, qualifier) + ")";
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
    for (const database::RowCondition& place : statement.parsed.skip_locked) {
        edits.add_condition(
            place, row_test(database::RowTest::IsFree, place.table, place.qualifier, failure));
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
    edits.add_condition(*parsed.target,
                        row_test(database::RowTest::IsCandidate, parsed.target->table,
                                 parsed.target->qualifier, failure));
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
    std::optional<SqlFailure> failure;
    const std::string text = sqlite_text(statement, statement.parsed.edits, failure);
    if (failure) return failure;
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
    statement.sqlite = std::move(std::get<database::PreparedText>(prepared));
    statement.retry = {};
    statement.trial = {};
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
    if (kind == StatementKind::Query) return run_query(session, statement, parameters);
    if (kind == StatementKind::Write) return run_write(session, statement, parameters, again);
    return run_locking_query(session, statement, parameters, again);
}

DatabaseEngine::State::Attempt DatabaseEngine::State::run_query(SessionState& session,
                                                                KeptStatement& statement,
                                                                Parameters parameters) {
    if (resident != 0 || session.holdings.changed()) make_visible(session, statement.sqlite.tables);
    return rows_of(statement, parameters);
}

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
    if (again && !lock_candidates(session)) {
        note_holding(session);
        return IsBlocked{};
    }
    const LockingClause& clause = *statement.parsed.locking;
    const TableInfo& table = *schema->find(clause.table);
    const database::LockRequest request{clause.mode, false};
    sqlite3_stmt* handle = statement.sqlite.handle.get();
    int place = 0;
    for (const std::uint16_t number : statement.sqlite.parameters) {
        database::bind_value(handle, ++place, parameters[number - 1U]);
    }
    const int columns = sqlite3_column_count(handle) - static_cast<int>(table.primary_key().size());
    const auto limit = operand(clause.limit, parameters);
    std::int64_t skip = operand(clause.offset, parameters).value_or(0);
    auto& candidates = session.wait.candidates;
    const bool only_candidates = again && candidates.has_value();
    bool blocked = false;
    std::vector<SqlValue> rows;
    database::Candidates found(clause.mode);
    std::int64_t locked = 0;
    Stepping stepping(handle);
    int code = SQLITE_ROW;
    while ((!limit || locked < *limit + skip) && (code = stepping.next()) == SQLITE_ROW) {
        database::start_key(key_buffer, table.id, 0);
        for (std::size_t i = 0; i < table.primary_key().size(); ++i) {
            database::append_value(key_buffer,
                                   database::column_value(handle, columns + static_cast<int>(i)));
        }
        if (only_candidates && !candidates->contains(key_buffer)) continue;
        if (others && !again && !limit) found.add(key_buffer);
        if (blocked) continue;
        if (others && is_held(session, key_buffer, request)) {
            if (clause.wait == RowLockWait::SkipLocked) continue;
            if (clause.wait == RowLockWait::NoWait) {
                return SqlFailure{
                    "55P03", "could not obtain lock on row in relation \"" + table.name + "\""};
            }
            session.wait.key = key_buffer;
            session.wait.request = request;
            blocked = true;
            if (again || limit) break;
            continue;
        }
        if (session.in_block || others) session.holdings.locks.add(key_buffer, clause.mode, false);
        if (locked++ < skip) continue;
        for (int i = 0; i < columns; ++i) rows.push_back(database::column_value(handle, i));
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) return failure_now(code);
    if (blocked && !again && !limit) {
        found.sort();
        candidates = std::move(found);
    }
    if (!blocked && !session.in_block) session.holdings.clear();
    note_holding(session);
    if (blocked) return IsBlocked{};
    return SqlResult(static_cast<std::size_t>(columns), std::move(rows), 0);
}

// With nobody else holding anything, the statement just runs. Otherwise it runs first and asks for
// its locks afterwards; if one is not free, its changes are undone, and the locks before that one
// stay.
DatabaseEngine::State::Attempt DatabaseEngine::State::run_write(SessionState& session,
                                                                KeptStatement& statement,
                                                                Parameters parameters, bool again) {
    const bool others = others_hold(session);
    Holdings& holdings = session.holdings;
    asking = session.id;
    make_resident(session);
    if (others) add_missing_locks();
    if (again && !lock_candidates(session))
        return block_write(session, statement, parameters, again);
    if (session.in_block || others || again) begin(session);
    const auto& insert = statement.parsed.insert;
    if (others && insert && insert->on_conflict != database::ConflictAction::Fail &&
        inserts_held_key(session, statement, parameters, std::nullopt)) {
        return block_write(session, statement, parameters, again);
    }

    const std::size_t first = holdings.log.size();
    std::vector<SqlValue> rows;
    connection.sequences.drawn = others || again ? &session.wait.drawn : nullptr;
    connection.sequences.drawn_again = 0;
    const bool only_candidates =
        again && session.wait.candidates && prepare_variant(statement, statement.retry, false);
    connection.record_into(&holdings.log);
    const int code =
        step_all(only_candidates ? statement.retry : statement.sqlite, parameters, rows);
    connection.record_into(nullptr);
    const std::int64_t affected = changes;
    if (code != SQLITE_OK) {
        SqlFailure failure = failure_now(code);
        const std::size_t made = holdings.log.size() - first;
        holdings.log.truncate(first);
        if (others && database::is_unique_violation(code) &&
            violates_held_key(session, statement, parameters, made)) {
            return block_write(session, statement, parameters, again);
        }
        return failure;
    }

    if (others && !lock_changes(session, first)) {
        if (!again) remember_candidates(session, statement, holdings.log, first);
        holdings.log.truncate(first);
        return block_write(session, statement, parameters, again);
    }
    if (others) holdings.locked_changes = holdings.log.size();
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
    const auto columns =
        static_cast<std::size_t>(sqlite3_column_count(statement.sqlite.handle.get()));
    return SqlResult(columns, std::move(rows), affected);
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
