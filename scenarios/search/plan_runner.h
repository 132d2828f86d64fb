// What a search runs plans with: a Runner, or a stand-in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/runner.h"
#include "scenarios/search/points.h"

namespace fencepost::scenarios {

using RunPlan = std::function<RunResult(const sim::Plan&, const RunOptions&)>;

struct PlanRunner {
    RunPlan run;
    // Of the last run.
    std::function<const sim::History&()> history;
};

using MakePlanRunner = std::function<PlanRunner()>;

// A Runner of its own, kept by the functions.
PlanRunner fresh_runner();

// Runs the plan and reads what it reached.
Reached reached_by(const sim::Plan& plan, const PlanRunner& runner);

// Two runs of one plan that should have been the same and were not.
struct Difference {
    std::uint64_t record = 0;  // the first record that differs
    std::string first;         // its text in the one run; empty where it had ended
    std::string second;        // and in the other

    bool operator==(const Difference&) const = default;
};

// Runs the plan twice and compares record by record; nullopt when they are the same.
std::optional<Difference> first_difference(const sim::Plan& plan, const PlanRunner& runner);

// "2026-03-02T18:00:00.0012Z A#1/daily-reconcile@… call op=db.commit ordinal=1 …"
std::string record_text(const sim::History& history, sim::RecordId id);

}  // namespace fencepost::scenarios
