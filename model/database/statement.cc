#include <algorithm>
#include <array>
#include <charconv>

#include "model/database/sql_text.h"

namespace fencepost::model {

StatementKind classify(std::string_view sql) {
    return database::read_statement(database::tokenize(sql)).kind;
}

}  // namespace fencepost::model

namespace fencepost::model::database {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kUnsupportedCommands = {
    "SET"sv,    "SHOW"sv,    "RESET"sv,    "EXPLAIN"sv,   "ANALYZE"sv,  "VACUUM"sv,  "LOCK"sv,
    "LISTEN"sv, "NOTIFY"sv,  "UNLISTEN"sv, "COPY"sv,      "TRUNCATE"sv, "PREPARE"sv, "EXECUTE"sv,
    "GRANT"sv,  "REVOKE"sv,  "COMMENT"sv,  "MERGE"sv,     "CALL"sv,     "DO"sv,      "DECLARE"sv,
    "FETCH"sv,  "DISCARD"sv, "TABLE"sv,    "DEALLOCATE"sv};

SqlFailure unsupported(const std::string& what) {
    return {"0A000", what + " is not supported by the simulated database"};
}

// Reads the tokens of one statement into a Statement.
class Reader {
public:
    explicit Reader(const Tokens& tokens) : tokens_(tokens), end_(tokens.list.size()) {}

    Statement read() {
        if (tokens_.failure) {
            fail(*tokens_.failure);
            return std::move(statement_);
        }
        while (end_ > 0 && is(end_ - 1, ";")) --end_;
        read_command();
        for (std::size_t i = 0; i < end_; ++i) {
            if (is(i, ";")) {
                fail({"42601", "cannot insert multiple commands into a prepared statement"});
            }
            if (tokens_.list[i].kind == Token::Kind::Parameter) count_parameter(i);
        }
        if (end_ < tokens_.list.size()) {
            statement_.edits.erase({tokens_.list[end_].begin, tokens_.text.size()});
        }
        return std::move(statement_);
    }

private:
    [[nodiscard]] bool is(std::size_t index, std::string_view word) const {
        return index < end_ && tokens_.is(index, word);
    }
    [[nodiscard]] bool is_any(std::size_t index,
                              std::initializer_list<std::string_view> words) const {
        return std::any_of(words.begin(), words.end(),
                           [&](std::string_view word) { return is(index, word); });
    }
    [[nodiscard]] std::size_t begin_of(std::size_t index) const {
        return index < tokens_.list.size() ? tokens_.list[index].begin : tokens_.text.size();
    }
    [[nodiscard]] TextRange range(std::size_t first, std::size_t past) const {
        if (first >= past) return {begin_of(first), begin_of(first)};
        return {begin_of(first), tokens_.list[past - 1].end};
    }
    [[nodiscard]] int depth(std::size_t index) const { return tokens_.list[index].depth; }
    // The first token of [from, to) at this depth that is one of the words; `to` if there is none.
    [[nodiscard]] std::size_t find(std::size_t from, std::size_t to, int at_depth,
                                   std::initializer_list<std::string_view> words) const {
        std::size_t i = from;
        while (i < to && !(depth(i) == at_depth && is_any(i, words))) ++i;
        return i;
    }

    void fail(SqlFailure failure) {
        if (!statement_.failure) statement_.failure = std::move(failure);
    }
    void fail_at(std::size_t index) {
        if (index >= end_) {
            fail({"42601", "syntax error at end of input"});
        } else {
            fail({"42601", "syntax error at or near \"" + std::string(tokens_.at(index)) + "\""});
        }
    }

    void count_parameter(std::size_t index) {
        const std::string_view digits = tokens_.at(index).substr(1);
        unsigned number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (number < 1 || number > 65535) {
            fail({"42P02", "parameters are $1, $2, … $65535"});
            return;
        }
        statement_.parameter_count =
            std::max(statement_.parameter_count, static_cast<std::uint16_t>(number));
    }

    void read_command();
    bool read_transaction_control();
    void read_transaction_modes(std::size_t at);
    void read_savepoint(StatementKind kind, std::size_t at);
    void read_query(std::size_t at);
    void read_advisory_lock(std::size_t at);
    void read_write(std::size_t at);
    void read_insert(std::size_t at);
    void read_on_conflict(std::size_t at, InsertParts& parts);
    void read_target(std::size_t at);
    void read_subqueries();
    void rewrite_casts();
    void read_locking_clauses();
    void read_top_locking_clause(std::size_t select, LockingClause clause);
    void read_nested_locking_clause(std::size_t at);
    std::size_t read_lock_strength(std::size_t at, LockMode& mode) const;
    std::size_t read_single_table(std::size_t from, std::size_t to, std::string& table,
                                  std::string& qualifier);
    std::optional<std::string> take_operand(std::size_t keyword);

    const Tokens& tokens_;
    std::size_t end_;
    Statement statement_;
};

void Reader::read_command() {
    if (end_ == 0) return fail({"42601", "the statement is empty"});
    if (read_transaction_control()) return;
    if (is_any(0, {"CREATE", "ALTER", "DROP"})) {
        statement_.kind = StatementKind::Ddl;
        return;
    }
    if (is_any(0, {"SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "WITH"})) {
        std::size_t at = 0;
        if (is(0, "WITH"))
            at = find(1, end_, 0, {"SELECT", "VALUES", "INSERT", "UPDATE", "DELETE"});
        if (at == end_) return fail_at(end_);
        rewrite_casts();
        if (is_any(at, {"SELECT", "VALUES"})) return read_query(at);
        return read_write(at);
    }
    for (const std::string_view command : kUnsupportedCommands) {
        if (is(0, command)) return fail(unsupported(std::string(command)));
    }
    fail_at(0);
}

bool Reader::read_transaction_control() {
    std::size_t next = is_any(1, {"WORK", "TRANSACTION"}) ? 2 : 1;
    if (is(0, "BEGIN") || (is(0, "START") && is(1, "TRANSACTION"))) {
        statement_.kind = StatementKind::Begin;
        read_transaction_modes(next);
    } else if (is_any(0, {"COMMIT", "END"})) {
        statement_.kind = StatementKind::Commit;
        if (next < end_) fail_at(next);
    } else if (is_any(0, {"ROLLBACK", "ABORT"})) {
        if (is(next, "TO")) {
            read_savepoint(StatementKind::RollbackTo,
                           is(next + 1, "SAVEPOINT") ? next + 2 : next + 1);
            return true;
        }
        statement_.kind = StatementKind::Rollback;
        if (next < end_) fail_at(next);
    } else if (is(0, "SAVEPOINT")) {
        read_savepoint(StatementKind::Savepoint, 1);
    } else if (is(0, "RELEASE")) {
        read_savepoint(StatementKind::Release, is(1, "SAVEPOINT") ? 2 : 1);
    } else {
        return false;
    }
    return true;
}

void Reader::read_transaction_modes(std::size_t at) {
    while (at < end_) {
        if (is(at, "READ") && is(at + 1, "WRITE")) {
            at += 2;
        } else if (is(at, "ISOLATION") && is(at + 1, "LEVEL")) {
            at += 2;
            if (is(at, "SERIALIZABLE")) {
                statement_.isolation = IsolationLevel::Serializable;
                ++at;
            } else if (is(at, "REPEATABLE") && is(at + 1, "READ")) {
                statement_.isolation = IsolationLevel::RepeatableRead;
                at += 2;
            } else if (is(at, "READ") && is_any(at + 1, {"COMMITTED", "UNCOMMITTED"})) {
                statement_.isolation = IsolationLevel::ReadCommitted;
                at += 2;
            } else {
                return fail_at(at);
            }
        } else if (is(at, "READ") || is(at, "DEFERRABLE") || is(at, "NOT")) {
            return fail(unsupported("BEGIN " + std::string(tokens_.at(at)) + " …"));
        } else {
            return fail_at(at);
        }
        if (is(at, ",")) ++at;
    }
}

void Reader::read_savepoint(StatementKind kind, std::size_t at) {
    statement_.kind = kind;
    statement_.name = tokens_.name(at);
    if (at + 1 != end_) fail_at(at < end_ ? at + 1 : at);
}

// SQLite has no x::type. Types whose values SQLite keeps as they are only lose the cast.
void Reader::rewrite_casts() {
    for (std::size_t i = 1; i + 1 < end_; ++i) {
        if (!is(i, "::")) continue;
        std::size_t operand = i - 1;
        if (is(operand, ")")) {
            while (operand > 0 && tokens_.closing(operand) != i - 1) --operand;
            if (operand > 0 && tokens_.list[operand - 1].kind == Token::Kind::Word &&
                tokens_.list[operand - 1].end == tokens_.list[operand].begin) {
                --operand;
            }
        }
        std::size_t past = i + 2;
        if (is(i + 1, "DOUBLE") && is(past, "PRECISION")) ++past;
        if (is(past, "(")) past = tokens_.closing(past) + 1;
        const bool converts = is_any(i + 1, {"BIGINT", "INT", "INTEGER", "SMALLINT", "INT8", "INT4",
                                             "TEXT", "VARCHAR", "DOUBLE", "REAL", "FLOAT8"});
        if (converts) {
            statement_.edits.insert(begin_of(operand), "CAST(");
            statement_.edits.replace(range(i, i + 1), " AS ");
            statement_.edits.insert(tokens_.list[past - 1].end, ")");
        } else {
            statement_.edits.erase(range(i, past));
        }
    }
}

void Reader::read_query(std::size_t at) {
    statement_.kind = StatementKind::Query;
    for (std::size_t i = at; i < end_; ++i) {
        if (is_any(i, {"PG_ADVISORY_XACT_LOCK", "PG_TRY_ADVISORY_XACT_LOCK"}) && is(i + 1, "(")) {
            return read_advisory_lock(at);
        }
    }
    read_locking_clauses();
    if (statement_.locking) {
        statement_.kind = StatementKind::LockingQuery;
        read_top_locking_clause(at, *statement_.locking);
    }
}

void Reader::read_advisory_lock(std::size_t at) {
    AdvisoryLock lock{.tries = is(at + 1, "PG_TRY_ADVISORY_XACT_LOCK")};
    std::size_t argument = at + 3;
    lock.hashes = is(argument, "HASHTEXT") && is(argument + 1, "(");
    if (lock.hashes) argument += 2;
    if (!lock.hashes && is(argument, "-")) {
        lock.argument = "-";
        ++argument;
    }
    const std::string_view text = tokens_.at(argument);
    const Token::Kind kind = argument < end_ ? tokens_.list[argument].kind : Token::Kind::Symbol;
    const bool readable = kind == Token::Kind::Parameter ||
                          kind == (lock.hashes ? Token::Kind::String : Token::Kind::Number);
    lock.argument += kind == Token::Kind::String ? text.substr(1, text.size() - 2) : text;
    const std::size_t past = argument + (lock.hashes ? 3 : 2);
    const bool closed = is(argument + 1, ")") && (!lock.hashes || is(argument + 2, ")"));
    if (at > 0 || !is(at + 2, "(") || !readable || !closed || past != end_) {
        return fail(
            unsupported("an advisory lock that is not a statement of its own with one "
                        "number, parameter or hashtext()"));
    }
    statement_.advisory_lock = std::move(lock);
}

void Reader::read_write(std::size_t at) {
    statement_.kind = StatementKind::Write;
    if (is(at, "INSERT")) {
        read_insert(at);
    } else {
        const std::size_t odd = find(at, end_, 0, {"LIMIT", "ORDER", "INDEXED"});
        if (odd < end_) fail_at(odd);
        if (is(at, "UPDATE")) statement_.update_end = tokens_.list[at].end;
        if (is(at, "UPDATE") && is(at + 1, "OR")) fail_at(at + 1);
        read_target(at);
        read_subqueries();
    }
    read_locking_clauses();
    if (statement_.locking) fail_at(find(at, end_, 0, {"FOR"}));
}

// UPDATE t [AS a] SET … [FROM …] [WHERE …] and DELETE FROM t [AS a] [WHERE …].
void Reader::read_target(std::size_t at) {
    std::size_t i = at + (is(at, "UPDATE") ? 1 : 2);
    if (i >= end_) return;
    if (is(i + 1, ".")) i += 2;
    RowCondition target;
    target.table = target.qualifier = tokens_.name(i++);
    if (is(i, "AS")) ++i;
    if (i < end_ && !is_any(i, {"SET", "WHERE", "RETURNING"})) target.qualifier = tokens_.name(i++);
    const std::size_t where = find(i, end_, 0, {"WHERE"});
    const std::size_t past = find(i, end_, 0, {"RETURNING"});
    target.where_at = tokens_.list[past - 1].end;
    if (where + 1 < past) target.condition = range(where + 1, past);
    statement_.target = std::move(target);
}

void Reader::read_insert(std::size_t at) {
    InsertParts parts;
    parts.with = {0, begin_of(at)};
    if (!is(at + 1, "INTO")) return fail_at(at + 1);
    std::size_t i = at + 2;
    if (is(i + 1, ".")) i += 2;
    parts.table = tokens_.name(i++);
    parts.qualifier = parts.table;
    if (is(i, "AS")) {
        parts.qualifier = tokens_.name(i + 1);
        i += 2;
    }
    if (is(i, "(") && !is_any(i + 1, {"SELECT", "WITH", "VALUES"})) {
        const std::size_t close = tokens_.closing(i);
        for (++i; i < close; ++i) {
            if (!is(i, ",")) parts.columns.push_back(tokens_.name(i));
        }
        ++i;
    }
    if (is(i, "OVERRIDING")) {
        parts.overriding = true;
        statement_.edits.erase(range(i, i + 3));
        i += 3;
    }
    if (is(i, "DEFAULT") && is(i + 1, "VALUES")) {
        parts.body = {begin_of(i), begin_of(i)};
        i += 2;
    } else {
        const std::size_t body = i;
        while (i < end_ &&
               !(depth(i) == 0 && ((is(i, "ON") && is(i + 1, "CONFLICT")) || is(i, "RETURNING")))) {
            parts.computed |= is_any(i, {"SELECT", "DB_NOW_US"});
            ++i;
        }
        parts.body = range(body, i);
        // Without a WHERE, SQLite would read the ON of ON CONFLICT as that of a join.
        if (is(i, "ON") && is(body, "SELECT") &&
            find(body, i, 0, {"WHERE", "GROUP", "ORDER", "LIMIT"}) == i) {
            statement_.edits.insert(parts.body.end, " WHERE TRUE ");
        }
    }
    if (is(i, "ON")) {
        if (is(i + 2, "ON")) fail(unsupported("ON CONFLICT ON CONSTRAINT"));
        read_on_conflict(i, parts);
    }
    statement_.insert = std::move(parts);
}

// ON CONFLICT [(columns)] DO NOTHING or DO UPDATE SET … [WHERE …], from its ON.
void Reader::read_on_conflict(std::size_t at, InsertParts& parts) {
    const std::size_t action = find(at, end_, 0, {"DO"}) + 1;
    if (!is_any(action, {"NOTHING", "UPDATE"})) return fail_at(action);
    parts.on_conflict = is(action, "NOTHING") ? ConflictAction::Nothing : ConflictAction::Update;
    const auto read_names = [&](std::size_t open, std::vector<std::string>& names) {
        for (std::size_t i = open + 1; i < tokens_.closing(open); ++i) {
            if (!is(i, ",")) names.push_back(tokens_.name(i));
        }
    };
    if (is(at + 2, "(")) read_names(at + 2, parts.target);
    if (parts.on_conflict == ConflictAction::Nothing) return;
    if (!is(action + 1, "SET")) return fail_at(action + 1);
    const std::size_t past = find(action, end_, 0, {"WHERE", "RETURNING"});
    parts.assignments = range(action + 2, past);
    if (is(past, "WHERE")) {
        parts.condition = range(past + 1, find(past, end_, 0, {"RETURNING"}));
    }
    for (std::size_t i = action + 1; i < past; ++i) {
        if (!is(i, "SET") && !(is(i, ",") && depth(i) == 0)) continue;
        if (is(i + 1, "(")) {
            read_names(i + 1, parts.assigned);
        } else if (i + 1 < past) {
            parts.assigned.push_back(tokens_.name(i + 1));
        }
    }
}

void Reader::read_subqueries() {
    for (std::size_t i = 0; i + 1 < end_; ++i) {
        if (!is(i, "(") || !is_any(i + 1, {"SELECT", "WITH"})) continue;
        const std::size_t close = tokens_.closing(i);
        statement_.subqueries.push_back(range(i, close + 1));
        i = close;
    }
}

// Reads UPDATE, NO KEY UPDATE, SHARE or KEY SHARE at `at`; answers the index past it, or `at`.
std::size_t Reader::read_lock_strength(std::size_t at, LockMode& mode) const {
    if (is(at, "UPDATE")) {
        mode = LockMode::Update;
        return at + 1;
    }
    if (is(at, "NO") && is(at + 1, "KEY") && is(at + 2, "UPDATE")) {
        mode = LockMode::NoKeyUpdate;
        return at + 3;
    }
    if (is(at, "SHARE")) {
        mode = LockMode::Share;
        return at + 1;
    }
    if (is(at, "KEY") && is(at + 1, "SHARE")) {
        mode = LockMode::KeyShare;
        return at + 2;
    }
    return at;
}

void Reader::read_locking_clauses() {
    for (std::size_t i = 0; i < end_; ++i) {
        if (!is(i, "FOR")) continue;
        LockingClause clause;
        std::size_t past = read_lock_strength(i + 1, clause.mode);
        if (past == i + 1) continue;
        if (is(past, "OF")) past += 2;
        if (is(past, "NOWAIT")) {
            clause.wait = RowLockWait::NoWait;
            past += 1;
        } else if (is(past, "SKIP") && is(past + 1, "LOCKED")) {
            clause.wait = RowLockWait::SkipLocked;
            past += 2;
        }
        statement_.edits.erase(range(i, past));
        if (depth(i) == 0) {
            if (statement_.locking) fail(unsupported("more than one locking clause"));
            statement_.locking = clause;
        } else {
            read_nested_locking_clause(i);
        }
    }
}

// The single table of a FROM clause whose items start at `from`; answers the index past it.
std::size_t Reader::read_single_table(std::size_t from, std::size_t to, std::string& table,
                                      std::string& qualifier) {
    std::size_t i = from;
    if (is(i + 1, ".")) i += 2;
    table = qualifier = tokens_.name(i++);
    if (is(i, "AS")) ++i;
    if (i < to &&
        !is_any(i, {"WHERE", "ORDER", "LIMIT", "OFFSET", "FOR", "GROUP", "HAVING", "UNION", "FETCH",
                    ",", "JOIN", "INNER", "LEFT", "RIGHT", "CROSS", "NATURAL"})) {
        qualifier = tokens_.name(i++);
    }
    if (i < to && !is_any(i, {"WHERE", "ORDER", "LIMIT", "OFFSET", "FOR"})) {
        fail(unsupported("FOR UPDATE with anything but a plain query of one table"));
    }
    return i;
}

std::optional<std::string> Reader::take_operand(std::size_t keyword) {
    const Token::Kind kind =
        keyword + 1 < end_ ? tokens_.list[keyword + 1].kind : Token::Kind::Symbol;
    if (kind != Token::Kind::Number && kind != Token::Kind::Parameter) {
        fail(
            unsupported("LIMIT or OFFSET of anything but a number or a parameter with FOR UPDATE"));
        return std::nullopt;
    }
    std::size_t past = keyword + 2;
    if (is(past, "ROWS") || is(past, "ROW")) ++past;
    statement_.edits.erase(range(keyword, past));
    return std::string(tokens_.at(keyword + 1));
}

void Reader::read_top_locking_clause(std::size_t select, LockingClause clause) {
    const std::size_t from = find(select, end_, 0, {"FROM"});
    if (from == end_ || select != 0 || is(1, "DISTINCT")) {
        return fail(unsupported("FOR UPDATE with anything but a plain query of one table"));
    }
    clause.select_list_end = tokens_.list[from - 1].end;
    read_single_table(from + 1, end_, clause.table, clause.qualifier);
    const std::size_t limit = find(from, end_, 0, {"LIMIT"});
    if (limit < end_) clause.limit = take_operand(limit);
    const std::size_t offset = find(from, end_, 0, {"OFFSET"});
    if (offset < end_) clause.offset = take_operand(offset);
    if (find(from, end_, 0, {"FETCH"}) < end_) fail(unsupported("FETCH FIRST with FOR UPDATE"));
    statement_.locking = std::move(clause);
}

// `WHERE id = (SELECT … FOR UPDATE)` runs first, as a query of its own.
void Reader::read_nested_locking_clause(std::size_t at) {
    for (const TextRange range : statement_.subqueries) {
        if (begin_of(at) < range.begin || begin_of(at) >= range.end) continue;
        statement_.locking_subqueries.push_back(range);
        return;
    }
    fail(unsupported("FOR UPDATE inside a query"));
}

}  // namespace

Statement read_statement(const Tokens& tokens) {
    return Reader(tokens).read();
}

}  // namespace fencepost::model::database
