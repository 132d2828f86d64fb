// What a search runs plans with: a Runner, or a stand-in.
#pragma once

#include <functional>
#include <optional>
#include <span>
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

// How another run of the plan differs from the one that had the fingerprint.
std::optional<Difference> difference_to(const sim::Plan& plan, std::uint64_t fingerprint,
                                        const PlanRunner& runner);

// Who was running when the run broke off, as a C string: the task that wrote the last record, since
// no task runs for long without one. For signal handlers: on trouble it is empty.
void describe_last_task(const sim::History& history, std::span<char> out) noexcept;

// "2026-03-02T18:00:00.0012Z A#1/daily-reconcile@… call op=db.commit ordinal=1 …"
std::string record_text(const sim::History& history, sim::RecordId id);

}  // namespace fencepost::scenarios
