// What a statement does, as far as its words tell.
#pragma once

#include <string_view>

namespace fencepost::jobs {

// Whether the statement only reads: SELECT, VALUES, TABLE, SHOW, or WITH around nothing that
// writes. Locking reads (FOR UPDATE) are; functions with side effects cannot be told.
bool only_reads(std::string_view statement);

// Whether it begins or ends a transaction: BEGIN, COMMIT, ROLLBACK and their like. Savepoints do
// neither.
bool controls_transaction(std::string_view statement);

}  // namespace fencepost::jobs
