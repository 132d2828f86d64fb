#include "model/database/sql_errors.h"

#include <sqlite3.h>

#include <optional>
#include <string>

namespace fencepost::model::database {

namespace {

std::optional<std::string> after_prefix(std::string_view message, std::string_view prefix) {
    if (!message.starts_with(prefix)) return std::nullopt;
    return std::string(message.substr(prefix.size()));
}

struct Names {
    std::string table;
    std::vector<std::string> columns;
};

// "t.a, t.b"
Names read_names(std::string_view list) {
    Names names;
    std::size_t at = 0;
    while (at < list.size()) {
        const std::size_t comma = std::min(list.find(", ", at), list.size());
        const std::string_view item = list.substr(at, comma - at);
        const std::size_t dot = item.find('.');
        if (dot == std::string_view::npos) break;
        names.table = item.substr(0, dot);
        names.columns.emplace_back(item.substr(dot + 1));
        at = comma + 2;
    }
    return names;
}

}  // namespace

SqlFailure prepare_failure(std::string_view message) {
    if (const auto name = after_prefix(message, "no such table: ")) {
        return {"42P01", "relation \"" + *name + "\" does not exist"};
    }
    if (const auto name = after_prefix(message, "no such column: ")) {
        return {"42703", "column \"" + *name + "\" does not exist"};
    }
    if (const auto name = after_prefix(message, "ambiguous column name: ")) {
        return {"42702", "column reference \"" + *name + "\" is ambiguous"};
    }
    if (const auto name = after_prefix(message, "no such function: ")) {
        std::string text = "function " + *name + "() does not exist in the simulated database";
        if (*name == "now" || *name == "clock_timestamp") text += ": use db_now_us()";
        return {"42883", text};
    }
    if (message.ends_with("syntax error")) {
        const std::size_t quote = message.find('"');
        const std::size_t end = message.rfind('"');
        if (quote != std::string_view::npos && end > quote) {
            return {"42601", "syntax error at or near " +
                                 std::string(message.substr(quote, end - quote + 1))};
        }
    }
    if (message.find("has no column named") != std::string_view::npos) {
        return {"42703", std::string(message)};
    }
    if (message.find("ON CONFLICT clause does not match") != std::string_view::npos) {
        return {
            "42P10",
            "there is no unique or exclusion constraint matching the ON CONFLICT specification"};
    }
    if (message.find("already exists") != std::string_view::npos) {
        return {"42P07", std::string(message)};
    }
    return {"42601", std::string(message)};
}

ViolatedIndex violated_index(std::string_view message, const Schema& schema) {
    const auto list = after_prefix(message, "UNIQUE constraint failed: ");
    if (!list) return {};
    if (list->starts_with("index '")) {
        const std::string name = list->substr(7, list->size() - 8);
        for (const TableInfo& table : schema.tables) {
            for (std::size_t i = 0; i < table.uniques.size(); ++i) {
                if (table.uniques[i].name == name) return {&table, i};
            }
        }
        return {};
    }
    const Names names = read_names(*list);
    const TableInfo* table = schema.find(names.table);
    if (table == nullptr) return {};
    // A partial index is named by its columns as well; it is the one left if no other fits.
    std::optional<std::size_t> partial;
    for (std::size_t i = 0; i < table->uniques.size(); ++i) {
        if (!table->uniques[i].key_query.empty()) partial = i;
        std::vector<std::string> columns;
        for (const std::uint16_t column : table->uniques[i].columns) {
            columns.push_back(table->columns[column].name);
        }
        if (columns == names.columns) return {table, i};
    }
    return partial ? ViolatedIndex{table, *partial} : ViolatedIndex{};
}

bool is_unique_violation(int code) {
    return code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ||
           code == SQLITE_CONSTRAINT_ROWID;
}

bool is_foreign_key_violation(int code) {
    return code == SQLITE_CONSTRAINT_FOREIGNKEY;
}

SqlFailure run_failure(int code, std::string_view message, const Schema& schema) {
    if (is_unique_violation(code)) {
        const ViolatedIndex violated = violated_index(message, schema);
        const std::string name =
            violated.table != nullptr ? violated.table->uniques[violated.index].name : "unknown";
        return {"23505", "duplicate key value violates unique constraint \"" + name + "\""};
    }
    if (code == SQLITE_CONSTRAINT_NOTNULL) {
        const auto list = after_prefix(message, "NOT NULL constraint failed: ");
        const Names names = read_names(list.value_or(""));
        const std::string column = names.columns.empty() ? "" : names.columns.front();
        return {"23502", "null value in column \"" + column + "\" of relation \"" + names.table +
                             "\" violates not-null constraint"};
    }
    if (code == SQLITE_CONSTRAINT_CHECK) {
        const auto name = after_prefix(message, "CHECK constraint failed: ");
        return {"23514", "new row violates check constraint \"" + name.value_or("") + "\""};
    }
    if (code == SQLITE_CONSTRAINT_FOREIGNKEY) {
        return {"23503", "insert, update or delete violates a foreign key constraint"};
    }
    if (code == SQLITE_INTERRUPT) {
        return {"57014",
                "the statement comes to no end: it was given up after so many steps that "
                "take seconds"};
    }
    if ((code & 0xff) == SQLITE_MISMATCH) return {"42804", std::string(message)};
    return {"XX000", std::string(message)};
}

}  // namespace fencepost::model::database
