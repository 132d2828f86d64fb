// SQLite's errors as PostgreSQL's.
#pragma once

#include <string_view>

#include "model/database/outcome.h"
#include "model/database/schema.h"

namespace fencepost::model::database {

// Of a statement that could not be prepared.
[[nodiscard]] SqlFailure prepare_failure(std::string_view message);

// Of a statement that failed while it ran. `code` is SQLite's extended result code.
[[nodiscard]] SqlFailure run_failure(int code, std::string_view message, const Schema& schema);

// The unique index that a message of a unique violation is about, as its position in the table.
struct ViolatedIndex {
    const TableInfo* table = nullptr;
    std::size_t index = 0;
};
[[nodiscard]] ViolatedIndex violated_index(std::string_view message, const Schema& schema);

[[nodiscard]] bool is_unique_violation(int code);
[[nodiscard]] bool is_foreign_key_violation(int code);

}  // namespace fencepost::model::database
