#include "model/database/schema.h"

#include <sqlite3.h>

#include <algorithm>

#include "model/database/ddl.h"
#include "model/database/sql_text.h"
#include "sim/require.h"

namespace fencepost::model {

std::optional<std::uint16_t> TableInfo::column(std::string_view column_name) const {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == column_name) return static_cast<std::uint16_t>(i);
    }
    return std::nullopt;
}

const TableInfo* Schema::find(std::string_view table_name) const {
    for (const TableInfo& table : tables) {
        if (table.name == table_name) return &table;
    }
    return nullptr;
}

bool Schema::has_relation(std::string_view relation) const {
    const auto is_it = [relation](const auto& index) { return index.name == relation; };
    for (const TableInfo& table : tables) {
        if (table.name == relation || std::ranges::any_of(table.uniques, is_it) ||
            std::ranges::any_of(table.indexes, is_it)) {
            return true;
        }
    }
    return false;
}

}  // namespace fencepost::model

namespace fencepost::model::database {

namespace {

// Runs a query that is part of the machinery and cannot fail.
class Rows {
public:
    Rows(sqlite3* connection, const char* sql, const std::string& argument = {}) {
        sim::require(sqlite3_prepare_v2(connection, sql, -1, &statement_, nullptr) == SQLITE_OK,
                     "a query about the schema fails");
        if (sqlite3_bind_parameter_count(statement_) == 1) {
            sqlite3_bind_text(statement_, 1, argument.c_str(), -1, SQLITE_TRANSIENT);
        }
    }
    ~Rows() { sqlite3_finalize(statement_); }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    bool next() { return sqlite3_step(statement_) == SQLITE_ROW; }
    [[nodiscard]] std::string text(int column) const {
        const unsigned char* value = sqlite3_column_text(statement_, column);
        return value == nullptr ? std::string() : reinterpret_cast<const char*>(value);
    }
    [[nodiscard]] std::int64_t integer(int column) const {
        return sqlite3_column_int64(statement_, column);
    }

private:
    sqlite3_stmt* statement_ = nullptr;
};

// SQLite's rules (datatype3.html, 3.1).
ColumnInfo::Affinity affinity_of(const std::string& declared) {
    std::string type;
    for (const char c : declared) type += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    const auto has = [&](const char* part) { return type.find(part) != std::string::npos; };
    if (has("INT")) return ColumnInfo::Affinity::Integer;
    if (has("CHAR") || has("CLOB") || has("TEXT")) return ColumnInfo::Affinity::Text;
    if (has("BLOB") || type.empty()) return ColumnInfo::Affinity::Blob;
    if (has("REAL") || has("FLOA") || has("DOUB")) return ColumnInfo::Affinity::Real;
    return ColumnInfo::Affinity::Numeric;
}

void read_columns(sqlite3* connection, TableInfo& table) {
    std::vector<std::pair<std::int64_t, std::uint16_t>> primary;
    Rows rows(connection, "SELECT name, type, dflt_value, pk FROM pragma_table_info(?1)",
              table.name);
    while (rows.next()) {
        ColumnInfo column;
        column.name = rows.text(0);
        column.affinity = affinity_of(rows.text(1));
        column.default_expression = rows.text(2);
        column.generated_always = is_generated_always(column.default_expression);
        column.sequence = sequence_of(column.default_expression);
        if (rows.integer(3) > 0) {
            primary.emplace_back(rows.integer(3), static_cast<std::uint16_t>(table.columns.size()));
        }
        table.columns.push_back(std::move(column));
    }
    std::sort(primary.begin(), primary.end());
    UniqueIndex index;
    index.name = table.name + "_pkey";
    for (const auto& [position, column] : primary) index.columns.push_back(column);
    table.uniques.push_back(std::move(index));
}

std::string parameter_row(const TableInfo& table) {
    std::string row = "SELECT ";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (i > 0) row += ", ";
        row += "$" + std::to_string(i + 1) + " AS " + quoted(table.columns[i].name);
    }
    return row;
}

// `CREATE UNIQUE INDEX name ON t (expressions) WHERE predicate` as a query over one row.
std::string key_query_of(const std::string& create_index, const TableInfo& table) {
    const Tokens tokens = tokenize(create_index);
    std::size_t open = 0;
    while (!tokens.is(open, "(")) ++open;
    const std::size_t close = tokens.closing(open);
    const auto text = [&](std::size_t first, std::size_t past) {
        const std::size_t begin = tokens.list[first].begin;
        return create_index.substr(begin, tokens.list[past - 1].end - begin);
    };
    std::string query = "SELECT " + text(open + 1, close) + " FROM (" + parameter_row(table) + ")";
    if (tokens.is(close + 1, "WHERE")) query += " " + text(close + 1, tokens.list.size());
    return query;
}

std::string default_name(const TableInfo& table, const UniqueIndex& index) {
    std::string name = table.name;
    for (const std::uint16_t column : index.columns) name += "_" + table.columns[column].name;
    return name + "_key";
}

void read_unique_indexes(sqlite3* connection, TableInfo& table, const std::string& create_table) {
    Rows indexes(
        connection,
        "SELECT l.name, l.partial, s.sql FROM pragma_index_list(?1) l JOIN sqlite_schema s "
        "ON s.name = l.name AND s.type = 'index' "
        "WHERE l.\"unique\" AND l.origin <> 'pk' ORDER BY s.rowid",
        table.name);
    while (indexes.next()) {
        UniqueIndex index;
        const std::string name = indexes.text(0);
        bool plain = indexes.integer(1) == 0;
        Rows keys(connection, "SELECT cid FROM pragma_index_info(?1) ORDER BY seqno", name);
        while (keys.next()) {
            plain = plain && keys.integer(0) >= 0;
            index.columns.push_back(
                static_cast<std::uint16_t>(std::max<std::int64_t>(keys.integer(0), 0)));
        }
        const std::string sql = indexes.text(2);
        if (!plain) {
            index.key_query = key_query_of(sql, table);
            index.columns.clear();
        }
        index.name = sql.empty() ? default_name(table, index) : name;
        table.uniques.push_back(std::move(index));
    }
    for (const NamedConstraint& constraint : named_constraints(create_table)) {
        for (UniqueIndex& index : table.uniques) {
            std::vector<std::string> names;
            for (const std::uint16_t column : index.columns)
                names.push_back(table.columns[column].name);
            if (names == constraint.columns) index.name = constraint.name;
        }
    }
}

void read_indexes(sqlite3* connection, TableInfo& table) {
    Rows rows(connection,
              "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?1 AND sql "
              "IS NOT NULL ORDER BY rowid",
              table.name);
    while (rows.next()) {
        const std::string create = rows.text(1);
        const Tokens tokens = tokenize(create);
        std::size_t open = 0;
        while (!tokens.is(open, "(")) ++open;
        table.indexes.push_back({.name = rows.text(0),
                                 .definition = create.substr(tokens.list[open].begin),
                                 .unique = tokens.is(1, "UNIQUE")});
    }
}

void read_foreign_keys(sqlite3* connection, const Schema& schema, TableInfo& table) {
    Rows rows(connection,
              "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update "
              "FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq",
              table.name);
    std::int64_t last = -1;
    std::vector<std::uint16_t> targets;
    const auto finish = [&] {
        if (last < 0) return;
        ForeignKey& key = table.foreign_keys.back();
        const auto& uniques = schema.tables[key.parent].uniques;
        for (std::size_t i = 0; i < uniques.size(); ++i) {
            if (uniques[i].columns == targets) key.parent_index = static_cast<std::uint8_t>(i);
        }
    };
    while (rows.next()) {
        const TableInfo* parent = schema.find(rows.text(1));
        if (parent == nullptr) continue;
        if (rows.integer(0) != last) {
            finish();
            last = rows.integer(0);
            targets.clear();
            const auto follows = [](const std::string& action) {
                return action != "NO ACTION" && action != "RESTRICT";
            };
            table.foreign_keys.push_back(
                {parent->id, 0, {}, follows(rows.text(4)), follows(rows.text(5))});
        }
        const std::string target = rows.text(3);
        targets.push_back(target.empty() ? parent->primary_key()[targets.size()]
                                         : parent->column(target).value_or(0));
        table.foreign_keys.back().columns.push_back(table.column(rows.text(2)).value_or(0));
    }
    finish();
}

}  // namespace

std::string quoted(std::string_view name) {
    std::string result = "\"";
    for (const char c : name) {
        if (c == '"') result += '"';
        result += c;
    }
    return result += '"';
}

std::uint64_t new_schema_id() {
    static std::uint64_t last = 0;
    return ++last;
}

Schema read_schema(sqlite3* connection, std::vector<std::string>& known) {
    Schema schema;
    schema.id = new_schema_id();
    schema.tables.resize(known.size());
    Rows tables(
        connection,
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
        "ESCAPE '\\' ORDER BY rowid");
    while (tables.next()) {
        const std::string name = tables.text(0);
        const auto id = static_cast<std::size_t>(std::ranges::find(known, name) - known.begin());
        if (id == known.size()) {
            known.push_back(name);
            schema.tables.emplace_back();
        }
        TableInfo& table = schema.tables[id];
        table.id = static_cast<TableId>(id);
        table.name = name;
        read_columns(connection, table);
        read_unique_indexes(connection, table, tables.text(1));
        read_indexes(connection, table);
    }
    for (TableInfo& table : schema.tables) {
        if (!table.name.empty()) read_foreign_keys(connection, schema, table);
    }
    for (const TableInfo& child : schema.tables) {
        for (std::size_t i = 0; i < child.foreign_keys.size(); ++i) {
            schema.tables[child.foreign_keys[i].parent].referrers.push_back({child.id, i});
        }
    }
    return schema;
}

}  // namespace fencepost::model::database
