// One hand-over of work by the scheduler.
#pragma once

#include <string>

#include "jobs/ports/time.h"

namespace fencepost::jobs {

// The scheduled fire time names the business act and is the same on every rerun. The fire instance
// id traces one execution: a fire that is recovered, or handed out twice, carries another one.
struct Fire {
    std::string tenant;
    std::string job;               // the job key's name: "daily-reconcile"
    std::string fire_instance_id;  // read-only for the job; never an idempotency key
    WallTime scheduled_fire_time;  // UTC
    bool recovering = false;       // handed out again because its node was declared dead
    std::string parameters;        // of the job as the schedule has it at this fire
    // The scheduled instant as the node's scheduler wrote it, in its own zone:
    // "2026-03-03T02:00:00+08:00" (jobs/instant_text.h). Empty where there is none.
    std::string scheduled_text{};
};

}  // namespace fencepost::jobs
