// The worker's part of an exhaustive search.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/search/equal_plans.h"
#include "scenarios/search/exhaust.h"
#include "scenarios/search/exhaust_batch.h"
#include "scenarios/search/next_faults.h"
#include "scenarios/search/workers.h"

namespace fencepost::scenarios {

// A plan, the faults that can strike next, and which of them need not be tried.
struct Branching {
    sim::Plan plan;
    std::vector<sim::Fault> faults;
    std::vector<EqualPlan> equal;       // one a fault
    std::vector<std::uint64_t> points;  // hashed addresses, in order
    std::uint64_t fingerprint = 0;      // of the plan's run, without the records of faults

    // How many plans: the plan itself, and the plan with each of the faults.
    [[nodiscard]] std::uint64_t items() const { return 1 + faults.size(); }
    [[nodiscard]] sim::Plan item(std::uint64_t index) const;
};

std::string to_bytes(const Branching& branching);
Branching branching_from_bytes(std::string_view bytes);

// Runs the plan to find that out.
Branching branching_of(const sim::Plan& plan, NextFaultFinder& finder, const PlanRunner& runner);

// What becomes of the items of a branching.
enum class Depth : std::uint8_t {
    All,      // each is run
    Needed,   // each is run unless it is equal to another
    Further,  // each is run, and so is each with every further fault, unless that is equal
};

// The session and what it refers to live in one worker.
std::unique_ptr<WorkSession> exhaust_session(const Scenario& scenario, const Subject& subject,
                                             const ExhaustOptions& options,
                                             const Branching& branching, Depth depth);

}  // namespace fencepost::scenarios
