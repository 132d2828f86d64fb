// What neighbouring plans of an exhaustive search came to, on its way from a worker to the parent
// and into the file from which the search can go on.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/equal_plans.h"
#include "scenarios/search/sweep.h"
#include "scenarios/search/totals.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct ExhaustBatch {
    ExhaustBatch() = default;
    ExhaustBatch(const Scenario& scenario, TotalsOptions options);

    // Counts a plan, whether it is run or not.
    void plan(const sim::Plan& plan);
    void add(const sim::Plan& plan, const RunResult& result);
    // A plan that would do what another does.
    void add_equal(Equal why) { ++equal.at(static_cast<std::size_t>(why)); }
    void add_mishap(FoundMishap found);
    // `next` are the plans right after these.
    void append(ExhaustBatch next);

    // Its items are the numbers of the plans, in the order of the enumeration, from 0; those that
    // were not run have theirs, too.
    Totals totals;
    std::uint64_t planned = 0;
    std::uint64_t skipped = 0;                                  // mishaps
    std::array<std::uint64_t, kEqualReasons> equal{};           // not run, by reason
    std::array<std::uint64_t, Totals::kKinds> planned_kinds{};  // faults in plans, by kind
    std::set<std::uint64_t> points;  // hashed addresses at which some fault but the first strikes
    std::vector<FoundFailure> failures;  // those that the totals keep
    std::vector<FoundMishap> mishaps;    // the item is the plan's number

    [[nodiscard]] std::uint64_t equals() const;
};

std::string to_bytes(const ExhaustBatch& batch);
ExhaustBatch batch_from_bytes(std::string_view bytes);

}  // namespace fencepost::scenarios
