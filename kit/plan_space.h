// The plans of a scenario and handler, for property tests: draws them, makes them smaller and runs
// them. Everything happens in this process: a handler that crashes takes the test with it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kit/candidate.h"
#include "kit/saving.h"
#include "scenarios/search/random_plan.h"
#include "sim/plan.h"

namespace fencepost::kit {

// What all plans that were made from one have in common: the seed that it was drawn by, and the
// failure that is being made small. Without it, a plan that breaks another invariant would pass for
// a smaller one of the same failure.
struct Lineage {
    std::uint64_t seed = 0;
    std::uint64_t faults = 0;  // of the plan that was drawn
    std::string checker;       // of the first failure; empty: none so far
    std::string key;
    std::optional<sim::Plan> least;  // that scenarios::shrink() leads to
    bool proven = false;             // no fault of it can be taken away
};

struct DrawnPlan {
    sim::Plan plan;
    std::shared_ptr<Lineage> lineage;

    operator const sim::Plan&() const { return plan; }
    bool operator==(const DrawnPlan& other) const { return plan == other.plan; }
};

class PlanSpace {
public:
    // Makes some hundred runs, to find out where faults can strike. `parameters` override those of
    // the scenario. Throws std::invalid_argument when the handler cannot take part, or when there
    // is no such scenario or parameter.
    PlanSpace(std::string_view scenario, Candidate candidate,
              std::map<std::string, std::int64_t, std::less<>> parameters = {});
    ~PlanSpace();
    PlanSpace(const PlanSpace&) = delete;
    PlanSpace& operator=(const PlanSpace&) = delete;

    // The plan that a sweep draws from the seed. With FENCEPOST_REPLAY, that of the file.
    [[nodiscard]] DrawnPlan draw(std::uint64_t seed) const;

    // Plans that are simpler, in the order in which they are to be tried: for one that fails, the
    // least that scenarios::shrink() leads to; then one fault less, simpler faults, smaller
    // parameters, a smaller seed.
    [[nodiscard]] std::vector<DrawnPlan> smaller(const DrawnPlan& drawn) const;

    // Runs the plan. Nothing when every checker holds; else the failure, which is saved under one
    // name for all plans of the lineage, so that the last that failed is there in the end. Of a
    // lineage that has failed, only the same checker counts.
    [[nodiscard]] std::optional<SavedFailure> broken_by(const DrawnPlan& drawn) const;

    // One run, for properties of one's own.
    [[nodiscard]] scenarios::RunResult run(const sim::Plan& plan) const;

    [[nodiscard]] const scenarios::Scenario& scenario() const;
    [[nodiscard]] const Candidate& candidate() const { return candidate_; }

private:
    void find_least(const DrawnPlan& drawn) const;

    Candidate candidate_;
    scenarios::Subject subject_;
    scenarios::PlanRunner runner_;
    std::unique_ptr<scenarios::PlanSource> source_;
    std::optional<scenarios::Failure> again_;
};

// The candidates of one step alone, without any run.
std::vector<sim::Plan> simpler_plans(const scenarios::Scenario& scenario, const sim::Plan& plan);

}  // namespace fencepost::kit
