// A session for reading: what would change data outside the fence is refused before it is sent.
#pragma once

#include "jobs/ports/sql.h"

namespace fencepost::jobs {

class ReadingSession : public sql::Session {
public:
    // `session` outlives this; it stays the caller's.
    explicit ReadingSession(sql::Session& session) : session_(session) {}

    // As the session does. Throws Misuse for a statement that does not only read
    // (jobs/statement_kind.h).
    sql::Result run(std::string_view statement, std::span<const sql::Value> parameters) override;

private:
    sql::Session& session_;
};

}  // namespace fencepost::jobs
