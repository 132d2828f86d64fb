// The tables of a simulated database, and the row changes that commits report.
//
// A Schema never changes once it is built; DDL makes another one. Column order is the table's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/database/outcome.h"

struct sqlite3;

namespace fencepost::model {

// The position of a table in its schema. A run never gives it to a table of another name, whatever
// is created side by side, dropped or rolled back: so a schema may have gaps, without a name.
using TableId = std::uint16_t;

struct ColumnInfo {
    // How SQLite converts what is stored here.
    enum class Affinity : std::uint8_t { Text, Integer, Real, Numeric, Blob };

    std::string name;
    Affinity affinity = Affinity::Blob;
    std::string default_expression;         // empty: NULL
    bool generated_always = false;          // GENERATED ALWAYS AS IDENTITY
    std::optional<std::size_t> sequence{};  // from which its default is drawn
};

// A unique index or constraint; the first of a table is its primary key.
struct UniqueIndex {
    std::string name;                    // PostgreSQL's name: ledger_pkey, ledger_account_key
    std::vector<std::uint16_t> columns;  // empty if the index has expressions
    // For indexes with expressions or a WHERE: a query over one row, given as $1, $2 …, that
    // answers the key, or no row if the index does not hold it. Empty for others.
    std::string key_query;
};

// An index that CREATE INDEX made, or ADD CONSTRAINT.
struct IndexInfo {
    std::string name;
    std::string definition;  // what follows the table's name: "(tenant, job) WHERE owner IS NULL"
    bool unique = false;
};

struct ForeignKey {
    TableId parent = 0;
    std::uint8_t parent_index = 0;  // of the parent's unique indexes
    std::vector<std::uint16_t> columns;
    // Whether the child's rows follow when the parent's row goes or gets another key. Otherwise
    // they forbid it.
    bool follows_delete = false;
    bool follows_update = false;
};

// A foreign key as its parent sees it.
struct Referrer {
    TableId child = 0;
    std::size_t foreign_key = 0;  // of the child's
};

struct TableInfo {
    TableId id = 0;
    std::string name;
    std::vector<ColumnInfo> columns;
    std::vector<UniqueIndex> uniques;
    std::vector<IndexInfo> indexes;  // in the order of creation
    std::vector<ForeignKey> foreign_keys;
    std::vector<Referrer> referrers;  // in the order of the children

    [[nodiscard]] const std::vector<std::uint16_t>& primary_key() const {
        return uniques.front().columns;
    }
    [[nodiscard]] std::optional<std::uint16_t> column(std::string_view column_name) const;
};

struct Schema {
    std::uint64_t id = 0;  // no two schemas of a process have the same
    std::vector<TableInfo> tables;

    [[nodiscard]] const TableInfo* find(std::string_view table_name) const;
    // Whether a table or an index has this name: they share one space of names.
    [[nodiscard]] bool has_relation(std::string_view relation) const;
};

// One row that a commit changed: whole rows, empty where there was or is none. The spans are valid
// during the call of the observer that gets it.
struct RowChange {
    enum class Kind : std::uint8_t { Insert, Update, Delete };

    Kind kind = Kind::Insert;
    const TableInfo* table = nullptr;
    std::span<const SqlValue> before;
    std::span<const SqlValue> after;
};

namespace database {

// Reads the schema of the connection's database as it is now. `known` holds the names of all tables
// that the run has had, each at its id; new ones are added.
[[nodiscard]] Schema read_schema(sqlite3* connection, std::vector<std::string>& known);

[[nodiscard]] std::uint64_t new_schema_id();

// A name as SQL text, in double quotes.
[[nodiscard]] std::string quoted(std::string_view name);

}  // namespace database

}  // namespace fencepost::model
