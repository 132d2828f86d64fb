// Makes a failing plan small: the fewest faults, nodes and units of work, the shortest and roundest
// arguments, the smallest parameters with which the same checker still fails.
//
// Deterministic: the same plan and run function give the same result. A checker that fails on the
// same business key is preferred to one that fails on another.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "scenarios/scenario.h"
#include "scenarios/search/plan_runner.h"
#include "scenarios/search/workers.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct ShrinkOptions {
    int most_runs = 2000;
    // Parameters to make smaller, with the scenario's values; see shrinkable_parameters and
    // scenarios/reduced.h.
    std::map<std::string, std::int64_t, std::less<>> parameters{};
    bool smaller_seed = true;
    // Called before each run; false stops with what there is. `faults` of the best plan so far.
    std::function<bool(int runs, std::size_t faults)> progress{};
};

// Those of the scenario that count things (accounts, a batch), not times.
std::map<std::string, std::int64_t, std::less<>> shrinkable_parameters(const Scenario& scenario);

// Counts that are worth trying in place of a greater one, the smallest first.
std::vector<std::int64_t> smaller_counts(std::int64_t present);
// Seeds below this one are tried in place of others.
inline constexpr std::uint64_t kSmallSeeds = 4;

struct Shrunk {
    sim::Plan plan;
    std::string checker;
    checkers::Finding finding;  // of that plan's run; on the key that was asked for when possible
    std::uint64_t fingerprint = 0;  // of that plan's run
    int runs = 0;
    std::uint64_t original_faults = 0;
    // Every single fault of the plan was taken away once more, and so were the last node and the
    // first and the last unit of work; without any of these the failure is not there.
    bool proven = false;
    // Whether the plan that was given failed at all; when it did not, it comes back as it was.
    bool reproduced = false;

    bool operator==(const Shrunk&) const = default;
};

// `checker` empty: the first that fails; `key` empty: the first that it fails on.
Shrunk shrink(const sim::Plan& failing, const RunPlan& run, const ShrinkOptions& options = {},
              const std::string& checker = {}, const std::string& key = {});

// The same in a worker process, in case that a smaller plan crashes the handler or hangs; progress
// is not called back.
std::expected<Shrunk, Mishap> shrink_in_worker(const sim::Plan& failing,
                                               const MakePlanRunner& make_runner,
                                               const ShrinkOptions& options = {},
                                               const std::string& checker = {},
                                               const std::string& key = {});

}  // namespace fencepost::scenarios
