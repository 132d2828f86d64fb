// Fault points that have moved because the code around them has changed: a further query before it
// makes a task's third query the fourth, and a further call on the way lets the other node come
// first. A failure whose plan strikes where its call was is looked for where the call may be now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/search/failure.h"
#include "scenarios/search/plan_runner.h"

namespace fencepost::scenarios {

// How many calls of its operation a point may have moved, earlier or later.
inline constexpr int kFurthestMove = 3;

// The plan with points moved, nearest first: to whichever node comes to them; by some calls, all of
// them by as much, then each by itself; and both. None for a plan without points.
std::vector<sim::Plan> nearby_plans(const sim::Plan& plan);

// "A#1 db.query/3 is now *#1 db.query/4", for each point that differs.
std::string moves_between(const sim::Plan& before, const sim::Plan& after);

struct NearbyReplay {
    sim::Plan plan;  // that was run last
    Replay replay;
    RunResult result;
    bool moved = false;  // the plan is not that of the failure
};

// Runs the failure's plan. When the failure's invariant does not break, runs those nearby, until it
// does; when it breaks by none, the outcome is that of the failure's own plan.
NearbyReplay replay_nearby(const Failure& failure, const RunPlan& run);

}  // namespace fencepost::scenarios
