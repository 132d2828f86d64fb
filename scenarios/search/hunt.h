// Hunting a planted mistake: by which condition it is found, after how many seeds of a random sweep
// and how many one-fault plans, if need be two-fault plans, and the least plan that shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/exhaust.h"
#include "scenarios/search/shrink.h"
#include "scenarios/search/sweep.h"

namespace fencepost::scenarios {

struct HuntOptions {
    std::uint64_t most_seeds = 10'000;  // a scenario
    // With two faults, where one does not find it; 0: not at all.
    std::uint64_t most_two_fault_plans = 200'000;  // a scenario
    SearchOptions search;
};

// What one kind of search found: an invariant that the mistake is meant to break.
struct Catch {
    std::string scenario;
    std::string checker;
    sim::Plan plan;
    std::uint64_t first = 0;  // runs up to and including the first that broke it
    std::uint64_t count = 0;  // of the search's runs, those that broke it
    std::uint64_t runs = 0;
};

struct Hunt {
    std::string mistake;
    std::vector<std::string> scenarios;  // in which it can take part
    std::optional<Catch> by_seeds;       // where it took the fewest
    std::optional<Catch> by_one_fault;   // there, or else where it is found so at all
    std::optional<Catch> by_two_faults;  // where by_one_fault is not
    // The plan of the first of these, made small, or one of fewer faults that breaks the same.
    std::optional<Shrunk> least;
    // Checkers that fail on the least plan.
    std::vector<std::string> failing;
    bool interrupted = false;

    [[nodiscard]] bool found() const { return by_seeds.has_value() && least.has_value(); }
    // The search whose plan is made small.
    [[nodiscard]] const std::optional<Catch>& first_catch() const {
        return by_seeds ? by_seeds : by_one_fault ? by_one_fault : by_two_faults;
    }
};

// Hunts `mistake`, which is_mistake(), in every scenario that it can take part in.
Hunt hunt(const HandlerSpec& mistake, const HuntOptions& options);

}  // namespace fencepost::scenarios
