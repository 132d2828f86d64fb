// What the test and the clock of a redis-server share: a page of a file, mapped by both.
#pragma once

#include <atomic>
#include <cstdint>

namespace fencepost::fidelity {

struct ClockPage {
    std::atomic<std::int64_t> wall_us;  // since the epoch
    std::atomic<std::int64_t> step_us;  // that each reading adds; 0: the clock stands still
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

}  // namespace fencepost::fidelity
