// Instants and durations as the jobs see them.
//
// Two clocks that must never be mixed are two types: WallTime is what a calendar says and may jump;
// MonotonicTime only ever grows and means nothing outside one process. Resolution is one
// nanosecond.
#pragma once

#include <chrono>
#include <ratio>

namespace fencepost::jobs {

using Duration = std::chrono::nanoseconds;
using WallTime = std::chrono::sys_time<Duration>;

struct MonotonicClock {
    using rep = Duration::rep;
    using period = Duration::period;
    using duration = Duration;
    using time_point = std::chrono::time_point<MonotonicClock, Duration>;
    static constexpr bool is_steady = true;
};
using MonotonicTime = MonotonicClock::time_point;

}  // namespace fencepost::jobs
