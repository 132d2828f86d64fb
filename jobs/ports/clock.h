// The clock port: the only way a job learns the time or waits.
#pragma once

#include "jobs/ports/time.h"

namespace fencepost::jobs {

class Clock {
public:
    virtual ~Clock() = default;

    // What this node's calendar clock says. May jump in either direction; never compare it with the
    // clock of another node, of Redis or of the database.
    virtual WallTime wall_now() = 0;

    // Grows at about one second a second for the life of the process, also across wall-clock jumps.
    virtual MonotonicTime monotonic_now() = 0;

    // Suspends the caller for at least `duration`; not at all when it is zero or negative.
    virtual void sleep_for(Duration duration) = 0;
};

}  // namespace fencepost::jobs
