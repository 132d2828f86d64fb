// PostgreSQL's CREATE, ALTER and DROP as SQLite's.
//
// Every table is WITHOUT ROWID and needs a PRIMARY KEY: rows are told apart by it. Identity columns
// and BIGSERIAL draw from a sequence that rollbacks do not turn back, as PostgreSQL's do; SQLite
// sees them as `DEFAULT (fencepost_next_id(n))`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/database/outcome.h"
#include "model/database/schema.h"

namespace fencepost::model::database {

inline constexpr const char* kNextIdFunction = "fencepost_next_id";
// fencepost_is_candidate(table id, primary key …): whether the waiting statement had found the row.
inline constexpr const char* kIsCandidateFunction = "fencepost_is_candidate";

// PostgreSQL's table locks, as far as they differ here (documentation, table 13.2).
enum class TableLock : std::uint8_t {
    None,       // CREATE TABLE: nobody else knows the table yet
    Read,       // ACCESS SHARE and ROW SHARE: SELECT, also FOR UPDATE
    Write,      // ROW EXCLUSIVE: INSERT, UPDATE, DELETE
    Share,      // CREATE INDEX: writers wait, readers and other indexes do not
    Exclusive,  // ACCESS EXCLUSIVE: ALTER TABLE, DROP
};
[[nodiscard]] bool conflict(TableLock one, TableLock other);

struct Ddl {
    std::string sqlite;   // empty: there is nothing to do
    std::string table;    // what it is about; empty if it cannot be told (DROP INDEX)
    std::string creates;  // the name of the table or index that it makes; empty for others
    TableLock lock = TableLock::Exclusive;  // on `table`, until the transaction ends
    bool if_not_exists = false;
    bool drops = false;         // takes something away that others may be using
    std::size_t sequences = 0;  // how many new sequences it uses, numbered from `next_sequence`
    // What it is answered with once it has its lock.
    std::optional<SqlFailure> failure{};

    [[nodiscard]] bool creates_index() const { return lock == TableLock::Share; }
};

// `next_sequence` is the number of the first free sequence.
[[nodiscard]] std::variant<Ddl, SqlFailure> translate_ddl(std::string_view sql,
                                                          const Schema& schema,
                                                          std::size_t next_sequence);

// Whether a default expression is that of GENERATED ALWAYS AS IDENTITY.
[[nodiscard]] bool is_generated_always(std::string_view default_expression);
// The number of the sequence that a default expression draws from.
[[nodiscard]] std::optional<std::size_t> sequence_of(std::string_view default_expression);

struct NamedConstraint {
    std::string name;
    std::vector<std::string> columns;
};

// The CONSTRAINT … UNIQUE and CONSTRAINT … PRIMARY KEY of a CREATE TABLE.
[[nodiscard]] std::vector<NamedConstraint> named_constraints(std::string_view create_table);

}  // namespace fencepost::model::database
