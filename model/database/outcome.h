// What the database answers to a statement.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "jobs/ports/sql.h"

namespace fencepost::model {

using SqlValue = jobs::sql::Value;
using SqlResult = jobs::sql::Result;

// Never reused within a run. 0 is nobody.
using SessionId = std::uint32_t;

// SqlResult::affected() of a COMMIT that rolled back because its transaction had failed: PostgreSQL
// answers it without an error, with the command tag ROLLBACK.
inline constexpr std::int64_t kRolledBack = -1;

// PostgreSQL's code and, where practical, wording. The statement had no effect.
struct SqlFailure {
    std::string sqlstate;
    std::string message;

    friend bool operator==(const SqlFailure&, const SqlFailure&) = default;
};

// The statement waits for these sessions; it goes on by itself when they end their transactions.
struct Blocked {
    std::vector<SessionId> holders;

    friend bool operator==(const Blocked&, const Blocked&) = default;
};

// As BEGIN ISOLATION LEVEL … names them; READ UNCOMMITTED is READ COMMITTED, as in PostgreSQL.
enum class IsolationLevel : std::uint8_t { ReadCommitted, RepeatableRead, Serializable };

using SqlAnswer = std::variant<SqlResult, SqlFailure>;
using Outcome = std::variant<SqlResult, SqlFailure, Blocked>;

// The answer to a statement that had been blocked.
struct Completion {
    SessionId session;
    SqlAnswer answer;
};

}  // namespace fencepost::model
