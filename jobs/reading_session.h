// A session for reading: what would change data outside the fence is refused before it is sent.
#pragma once

#include "jobs/ports/sql.h"

namespace fencepost::jobs {

// Whether the statement only reads: SELECT, VALUES, TABLE, SHOW, or WITH around nothing that
// writes. Locking reads (FOR UPDATE) are; functions with side effects cannot be told.
bool only_reads(std::string_view statement);

class ReadingSession : public sql::Session {
public:
    // `session` outlives this; it stays the caller's.
    explicit ReadingSession(sql::Session& session) : session_(session) {}

    // As the session does. Throws Misuse for a statement that does not only read.
    sql::Result run(std::string_view statement, std::span<const sql::Value> parameters) override;

private:
    sql::Session& session_;
};

}  // namespace fencepost::jobs
