#include "model/database/ddl.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/database/sql_text.h"

namespace fencepost::model::database {

namespace {

SqlFailure unsupported(const std::string& what) {
    return {"0A000", what + " is not supported by the simulated database"};
}

class Translator {
public:
    Translator(std::string_view sql, const Schema& schema, std::size_t next_sequence)
        : sql_(sql), tokens_(tokenize(sql)), schema_(schema), next_sequence_(next_sequence) {
        end_ = tokens_.list.size();
        while (end_ > 0 && tokens_.is(end_ - 1, ";")) --end_;
        if (end_ > 0) text_end_ = tokens_.list[end_ - 1].end;
    }

    std::variant<Ddl, SqlFailure> translate() {
        if (is(0, "CREATE")) {
            create();
        } else if (is(0, "ALTER") && is(1, "TABLE")) {
            alter_table();
        } else if (is(0, "DROP") && (is(1, "TABLE") || is(1, "INDEX"))) {
            drop();
        } else {
            failure_ = unsupported(std::string(tokens_.at(0)) + " " + std::string(tokens_.at(1)));
        }
        if (failure_) return *failure_;
        return std::move(ddl_);
    }

private:
    [[nodiscard]] bool is(std::size_t index, std::string_view word) const {
        return index < end_ && tokens_.is(index, word);
    }
    [[nodiscard]] TextRange range(std::size_t first, std::size_t past) const {
        return {tokens_.list[first].begin, tokens_.list[past - 1].end};
    }
    // Skips IF [NOT] EXISTS.
    bool skip_if_exists(std::size_t& at) const {
        if (!is(at, "IF")) return false;
        at += is(at + 1, "NOT") ? 3 : 2;
        return true;
    }
    void syntax_error(std::size_t at) {
        failure_ = SqlFailure{
            "42601", at < end_ ? "syntax error at or near \"" + std::string(tokens_.at(at)) + "\""
                               : "syntax error at end of input"};
    }
    std::string table_name(std::size_t& at) {
        if (is(at + 1, ".")) {
            edits_.erase(range(at, at + 2));
            at += 2;
        }
        return tokens_.name(at++);
    }
    [[nodiscard]] std::string free_index_name(std::size_t open) const;
    void finish() { ddl_.sqlite = edits_.applied_to(sql_, {0, text_end_}); }

    void create();
    void create_table(std::size_t at);
    void create_index(std::size_t at);
    void alter_table();
    void drop();
    void item(std::size_t first, std::size_t past);
    void column(std::size_t first, std::size_t past);
    void column_type(std::size_t at, std::size_t past);
    void use_sequence(TextRange where, bool always, bool not_null);
    void column_default(std::size_t at, std::size_t past);

    std::string_view sql_;
    Tokens tokens_;
    const Schema& schema_;
    std::size_t next_sequence_;
    std::size_t end_ = 0;
    std::size_t text_end_ = 0;
    TextEdits edits_;
    Ddl ddl_;
    bool has_primary_key_ = false;
    std::optional<SqlFailure> failure_;
};

void Translator::create() {
    if (is(1, "TABLE")) return create_table(2);
    if (is(1, "INDEX")) return create_index(2);
    if (is(1, "UNIQUE") && is(2, "INDEX")) return create_index(3);
    failure_ = unsupported("CREATE " + std::string(tokens_.at(1)));
}

void Translator::create_table(std::size_t at) {
    ddl_.if_not_exists = skip_if_exists(at);
    ddl_.table = ddl_.creates = table_name(at);
    ddl_.lock = TableLock::None;
    if (schema_.has_relation(ddl_.creates)) return;
    if (!is(at, "(")) {
        if (is(at, "AS")) {
            failure_ = unsupported("CREATE TABLE AS");
        } else {
            syntax_error(at);
        }
        return;
    }
    const std::size_t close = tokens_.closing(at);
    const int depth = tokens_.list[at].depth + 1;
    std::size_t first = at + 1;
    for (std::size_t i = first; i <= close; ++i) {
        const bool ends = i == close || (is(i, ",") && tokens_.list[i].depth == depth);
        if (!ends) continue;
        item(first, i);
        first = i + 1;
    }
    if (!has_primary_key_ && !failure_) {
        failure_ = SqlFailure{
            "0A000",
            "table \"" + ddl_.table +
                "\" has no PRIMARY KEY; the simulated database tells rows "
                "apart by it: add one, for example \"id BIGINT GENERATED ALWAYS AS IDENTITY "
                "PRIMARY KEY\""};
    }
    edits_.replace({tokens_.list[close].end, text_end_}, " WITHOUT ROWID");
    finish();
}

// A column or a table constraint of CREATE TABLE.
void Translator::item(std::size_t first, std::size_t past) {
    for (std::size_t i = first; i < past; ++i)
        has_primary_key_ |= is(i, "PRIMARY") && is(i + 1, "KEY");
    for (const std::string_view word : {"CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK"}) {
        if (is(first, word)) return;
    }
    if (is(first, "EXCLUDE") || is(first, "LIKE")) {
        failure_ = unsupported(std::string(tokens_.at(first)) + " in CREATE TABLE");
        return;
    }
    column(first, past);
}

void Translator::column(std::size_t first, std::size_t past) {
    if (first + 1 < past) column_type(first + 1, past);
    for (std::size_t i = first + 1; i < past; ++i) {
        if (is(i, "DEFAULT") && !is(i - 1, "BY")) {
            column_default(i + 1, past);
        } else if (is(i, "GENERATED")) {
            const bool always = is(i + 1, "ALWAYS");
            std::size_t end = i + (always ? 4 : 5);
            if (!is(end - 1, "IDENTITY")) {
                failure_ = unsupported("a generated column other than AS IDENTITY");
                return;
            }
            if (is(end, "(")) end = tokens_.closing(end) + 1;
            use_sequence(range(i, end), always, true);
        }
    }
}

void Translator::column_type(std::size_t at, std::size_t past) {
    if (is(at, "BIGSERIAL") || is(at, "SERIAL") || is(at, "SERIAL8") || is(at, "SERIAL4")) {
        edits_.replace(range(at, at + 1), "BIGINT ");
        const std::size_t end = tokens_.list[at].end;
        use_sequence({end, end}, false, true);
    } else if ((is(at, "TIMESTAMP") || is(at, "TIME"))) {
        std::size_t with = at + 1;
        if (is(with, "(")) with = tokens_.closing(with) + 1;
        if (with < past && (is(with, "WITH") || is(with, "WITHOUT"))) {
            edits_.replace(range(at, with + 3), is(with, "WITH") ? "TIMESTAMPTZ" : "TIMESTAMP");
        }
    } else if (const std::string_view type = replaced_type(tokens_.at(at)); !type.empty()) {
        edits_.replace(range(at, at + 1), std::string(type));
    }
}

void Translator::use_sequence(TextRange where, bool always, bool not_null) {
    edits_.replace(
        where, std::string(not_null ? " NOT NULL" : "") + " DEFAULT (" + kNextIdFunction + "(" +
                   std::to_string(next_sequence_ + ddl_.sequences) + (always ? ", 1))" : ", 0))"));
    ++ddl_.sequences;
}

// SQLite wants parentheses around a default that calls a function.
void Translator::column_default(std::size_t at, std::size_t past) {
    if (at + 1 < past && tokens_.list[at].kind == Token::Kind::Word && is(at + 1, "(")) {
        edits_.insert(tokens_.list[at].begin, "(");
        edits_.insert(tokens_.list[tokens_.closing(at + 1)].end, ")");
    }
    for (const std::string_view word : {"NOW", "CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME",
                                        "RANDOM", "GEN_RANDOM_UUID", "CLOCK_TIMESTAMP"}) {
        if (!is(at, word)) continue;
        failure_ = SqlFailure{"0A000", "DEFAULT " + std::string(tokens_.at(at)) +
                                           " is not supported by the simulated database: use "
                                           "db_now_us() or pass the value as a parameter"};
    }
    if (is(at + 1, "::") && at + 2 < past) edits_.erase(range(at + 1, at + 3));
}

void Translator::create_index(std::size_t at) {
    ddl_.lock = TableLock::Share;
    if (is(at, "CONCURRENTLY")) edits_.erase(range(at, at + 1)), ++at;
    ddl_.if_not_exists = skip_if_exists(at);
    const bool named = !is(at, "ON");
    if (!named && ddl_.if_not_exists) return syntax_error(at);
    if (named) ddl_.creates = table_name(at);
    if (!is(at, "ON")) return syntax_error(at);
    const std::size_t on = at;
    std::size_t table = on + 1;
    if (is(table, "ONLY")) edits_.erase(range(table, table + 1)), ++table;
    ddl_.table = table_name(table);
    if (schema_.find(ddl_.table) == nullptr) {
        ddl_.failure = SqlFailure{"42P01", "relation \"" + ddl_.table + "\" does not exist"};
        return;
    }
    if (is(table, "USING")) edits_.erase(range(table, table + 2)), table += 2;
    if (!named) {
        ddl_.creates = free_index_name(table);
        edits_.insert(tokens_.list[on].begin, quoted(ddl_.creates) + " ");
    }
    finish();
}

// PostgreSQL's choice: table_column_idx (or the name of a function, or "expr"), with the first
// number that makes it free.
std::string Translator::free_index_name(std::size_t open) const {
    std::string base = ddl_.table;
    const std::size_t close = tokens_.closing(open);
    bool starts = true;
    for (std::size_t i = open + 1; i < close; ++i) {
        if (tokens_.list[i].depth != tokens_.list[open].depth + 1) continue;
        if (starts) base += is(i, "(") ? "_expr" : "_" + tokens_.name(i);
        starts = is(i, ",");
    }
    std::string name = base + "_idx";
    for (int number = 1; schema_.has_relation(name); ++number) {
        name = base + "_idx" + std::to_string(number);
    }
    return name;
}

void Translator::alter_table() {
    std::size_t at = 2;
    skip_if_exists(at);
    if (is(at, "ONLY")) ++at;
    const std::size_t name_at = at;
    ddl_.table = table_name(at);
    const TableInfo* table = schema_.find(ddl_.table);
    if (table == nullptr) {
        if (name_at == 2) {
            ddl_.failure = SqlFailure{"42P01", "relation \"" + ddl_.table + "\" does not exist"};
        }
        return;
    }
    for (std::size_t i = at; i < end_; ++i) {
        if (is(i, ",") && tokens_.list[i].depth == 0) {
            failure_ = unsupported("more than one action in ALTER TABLE");
            return;
        }
    }
    if (is(at, "ADD") && is(at + 1, "CONSTRAINT") && is(at + 3, "UNIQUE")) {
        ddl_.creates = tokens_.name(at + 2);
        ddl_.sqlite = "CREATE UNIQUE INDEX " + quoted(ddl_.creates) + " ON " + quoted(ddl_.table) +
                      " " + std::string(sql_.substr(range(at + 4, end_).begin));
        return;
    }
    if (!is(at, "ADD") || is(at + 1, "CONSTRAINT") || is(at + 1, "PRIMARY") ||
        is(at + 1, "UNIQUE")) {
        failure_ = unsupported("ALTER TABLE … " + std::string(tokens_.at(at)) + " " +
                               std::string(tokens_.at(at + 1)));
        return;
    }
    std::size_t definition = at + 1;
    if (is(definition, "COLUMN")) ++definition;
    const bool if_not_exists = skip_if_exists(definition);
    const std::string name = tokens_.name(definition);
    if (table->column(name)) {
        if (!if_not_exists) {
            ddl_.failure = SqlFailure{"42701", "column \"" + name + "\" of relation \"" +
                                                   ddl_.table + "\" already exists"};
        }
        return;
    }
    column(definition, end_);
    ddl_.sqlite = "ALTER TABLE " + quoted(ddl_.table) + " ADD COLUMN " +
                  edits_.applied_to(sql_, range(definition, end_));
}

void Translator::drop() {
    ddl_.drops = true;
    std::size_t at = 2;
    skip_if_exists(at);
    if (is(1, "TABLE")) ddl_.table = tokens_.name(at);
    if (is(end_ - 1, "CASCADE") || is(end_ - 1, "RESTRICT")) edits_.erase(range(end_ - 1, end_));
    finish();
}

}  // namespace

bool conflict(TableLock one, TableLock other) {
    const auto [weaker, stronger] = std::minmax(one, other);
    if (weaker == TableLock::None) return false;
    return stronger == TableLock::Exclusive ||
           (weaker == TableLock::Write && stronger == TableLock::Share);
}

std::variant<Ddl, SqlFailure> translate_ddl(std::string_view sql, const Schema& schema,
                                            std::size_t next_sequence) {
    return Translator(sql, schema, next_sequence).translate();
}

bool is_generated_always(std::string_view default_expression) {
    return default_expression.starts_with(kNextIdFunction) && default_expression.ends_with(", 1)");
}

std::optional<std::size_t> sequence_of(std::string_view default_expression) {
    if (!default_expression.starts_with(kNextIdFunction)) return std::nullopt;
    const std::string_view digits =
        default_expression.substr(std::string_view(kNextIdFunction).size() + 1);
    std::size_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

std::vector<NamedConstraint> named_constraints(std::string_view create_table) {
    std::vector<NamedConstraint> result;
    const Tokens tokens = tokenize(create_table);
    for (std::size_t i = 0; i < tokens.list.size(); ++i) {
        if (!tokens.is(i, "CONSTRAINT")) continue;
        const std::size_t kind = i + 2;
        const bool unique = tokens.is(kind, "UNIQUE");
        if (!unique && !tokens.is(kind, "PRIMARY")) continue;
        NamedConstraint constraint{tokens.name(i + 1), {}};
        const std::size_t open = kind + (unique ? 1 : 2);
        if (tokens.is(open, "(")) {
            const std::size_t close = tokens.closing(open);
            for (std::size_t k = open + 1; k < close; ++k) {
                if (!tokens.is(k, ",")) constraint.columns.push_back(tokens.name(k));
            }
        } else {
            // A constraint of a column: its name opens the item.
            std::size_t start = i;
            while (start > 0 && !(tokens.list[start - 1].depth <= tokens.list[i].depth &&
                                  (tokens.is(start - 1, ",") || tokens.is(start - 1, "(")))) {
                --start;
            }
            constraint.columns.push_back(tokens.name(start));
        }
        result.push_back(std::move(constraint));
    }
    return result;
}

}  // namespace fencepost::model::database
