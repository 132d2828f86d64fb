// Doubling waits between attempts, up to a bound.
#pragma once

#include <algorithm>

#include "jobs/ports/time.h"

namespace fencepost::jobs {

struct Backoff {
    Duration first = std::chrono::milliseconds{200};
    Duration last = std::chrono::seconds{5};

    // What to wait before an attempt; attempts count from 1, and the first two waits are the same.
    [[nodiscard]] Duration before_attempt(std::int64_t attempt) const {
        Duration wait = first;
        for (std::int64_t i = 2; i < attempt && wait < last; ++i) wait *= 2;
        return std::min(wait, last);
    }
};

}  // namespace fencepost::jobs
