// What a run reached, read from its history: where faults can be planned, and on what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/events.h"
#include "sim/history.h"

namespace fencepost::scenarios {

struct ReachedPoint {
    std::string address;    // "A#1/daily-reconcile@…/db.commit/1"
    std::string node;       // "A"
    std::string operation;  // "db.commit"
    sim::Time at;           // when the call started
    bool of_job = false;   // made by a job's run or on its behalf, not by the scheduler's own tasks
    bool applied = false;  // whether the server did it
    bool answered = false;  // whether the caller got an answer

    // Whether the call came to that phase.
    [[nodiscard]] bool reaches(sim::Phase phase) const {
        if (phase == sim::Phase::Applied) return applied;
        if (phase == sim::Phase::After) return answered;
        return true;
    }
    bool operator==(const ReachedPoint&) const = default;
};

// In the order in which the calls started.
std::vector<ReachedPoint> reached_points(const sim::History& history);

struct Reached {
    std::vector<ReachedPoint> points;
    std::vector<std::string> keys;  // of Redis, in the order in which they were first set

    bool operator==(const Reached&) const = default;
};

Reached reached(const sim::History& history);

// For the way from a worker to its parent.
std::string to_bytes(const Reached& reached);
Reached reached_from_bytes(std::string_view bytes);

}  // namespace fencepost::scenarios
