// PostgreSQL's CREATE, ALTER and DROP as SQLite's.
//
// Every table is WITHOUT ROWID and needs a PRIMARY KEY: rows are told apart by it. Identity columns
// and BIGSERIAL draw from a sequence that rollbacks do not turn back, as PostgreSQL's do; SQLite
// sees them as `DEFAULT (fencepost_next_id(n))`.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/database/outcome.h"
#include "model/database/schema.h"

namespace fencepost::model::database {

inline constexpr const char* kNextIdFunction = "fencepost_next_id";
// fencepost_test_row(RowTest, table id, primary key …): what only the engine knows of a row.
inline constexpr const char* kTestRowFunction = "fencepost_test_row";

struct Ddl {
    std::string sqlite;         // empty: there is nothing to do
    std::string table;          // what it is about; empty if it cannot be told (DROP INDEX)
    bool drops = false;         // takes something away that others may be using
    std::size_t sequences = 0;  // how many new sequences it uses, numbered from `next_sequence`
};

// `next_sequence` is the number of the first free sequence.
[[nodiscard]] std::variant<Ddl, SqlFailure> translate_ddl(std::string_view sql,
                                                          const Schema& schema,
                                                          std::size_t next_sequence);

// Whether a default expression is that of GENERATED ALWAYS AS IDENTITY.
[[nodiscard]] bool is_generated_always(std::string_view default_expression);

struct NamedConstraint {
    std::string name;
    std::vector<std::string> columns;
};

// The CONSTRAINT … UNIQUE and CONSTRAINT … PRIMARY KEY of a CREATE TABLE.
[[nodiscard]] std::vector<NamedConstraint> named_constraints(std::string_view create_table);

}  // namespace fencepost::model::database
