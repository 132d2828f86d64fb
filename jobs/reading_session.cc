#include "jobs/reading_session.h"

#include <fmt/format.h>

#include "jobs/misuse.h"
#include "jobs/statement_kind.h"

namespace fencepost::jobs {

sql::Result ReadingSession::run(std::string_view statement,
                                std::span<const sql::Value> parameters) {
    if (!only_reads(statement)) {
        throw Misuse(fmt::format(
            "\"{}\" would change data outside the fence: put it into the transaction that commit() "
            "hands to its batch",
            statement));
    }
    return session_.run(statement, parameters);
}

}  // namespace fencepost::jobs
