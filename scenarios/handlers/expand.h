// Expand and contract: how a schema changes while two versions of a program run on it.
//
// The new version only ever adds (a nullable column, a table) and the old one goes on beside it;
// what nobody uses any more is taken away by a later version. The steps are idempotent, since every
// node takes them at every start.
#pragma once

#include <string_view>
#include <vector>

#include "jobs/backoff.h"
#include "jobs/ports/ports.h"

namespace fencepost::scenarios {

// Takes the steps in order, until all of them are done. May suspend for as long as that takes.
inline void expand_schema(const jobs::Ports& ports, const std::vector<std::string_view>& steps) {
    constexpr jobs::Backoff kBackoff;
    for (std::int64_t attempt = 1;; ++attempt) {
        try {
            const auto session = ports.database.connect();
            for (const std::string_view step : steps) session->execute(step);
            return;
        } catch (const jobs::AttemptError&) {
            ports.clock.sleep_for(kBackoff.before_attempt(attempt + 1));
        }
    }
}

}  // namespace fencepost::scenarios
