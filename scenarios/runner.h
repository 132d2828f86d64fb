// The runner: one plan in, one judged history out.
//
//   boot      the nodes start; the faults of the plan are armed
//   faults    until the work is done or the scenario's time for faults is over
//   heal      everything comes back
//   settle    until the work is done or the bound is over
//   audit     what is left open goes into the history
//   judge     the checkers read the history
//
// One runner serves any number of runs; nothing of a run survives into the next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkers/expectations.h"
#include "checkers/judgement.h"
#include "scenarios/scenario.h"
#include "sim/history.h"
#include "sim/kernel.h"
#include "sim/plan.h"

namespace fencepost::model {
class World;
}

namespace fencepost::scenarios {

struct RunOptions {
    // Called after each event of the run, outside any task: may look at the world, by its look()
    // functions and what is const, and must change nothing. What it throws leaves run().
    std::function<void(model::World&)> watch{};
    bool keep_fingerprints = false;  // one a record, to find the first that differs
    // Far beyond any use; the history of so many is 400 MiB, within what a worker may take.
    std::uint64_t step_limit = 1'000'000;
};

// What became of one planned fault.
enum class FaultFate : std::uint8_t { Inert, Struck, TookEffect };

struct RunResult {
    std::uint64_t fingerprint = 0;
    sim::RunEnd end = sim::RunEnd::Quiet;
    std::uint64_t steps = 0;
    std::size_t records = 0;
    sim::Duration virtual_time{};
    std::vector<checkers::Judgement> judgements;  // in the order of the scenario's checkers
    std::vector<FaultFate> faults;                // one a fault of the plan
    std::vector<std::string> probes;              // reached, in the order of the scenario's list

    [[nodiscard]] bool failed() const;
    // The first failing judgement; null when there is none.
    [[nodiscard]] const checkers::Judgement* failure() const;
};

struct ExecutedStatement {
    std::string text;
    std::vector<jobs::sql::Value> parameters;
};

// Makes what the runs of this plan start from and throws it away again. Throws sim::PlanError: for
// what validate() refuses, for a schema that the database refuses, and for effect tables that it
// does not have.
void check_setting(const sim::Plan& plan);

class Runner {
public:
    Runner();
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    // Throws sim::PlanError for a plan that validate() refuses, sim::BrokenInvariant when the
    // harness contradicts itself.
    RunResult run(const sim::Plan& plan, const RunOptions& options = {});

    // The history of the last run; the next one may put another in its place.
    [[nodiscard]] const sim::History& history() const;

    // By what the runs of this plan are judged. Lives as long as the runner.
    [[nodiscard]] const checkers::Expectations& expectations(const sim::Plan& plan) const;

    // For benchmarks: the SQL scripts from which the plan's database is made, and the statements
    // that its clients sent in the last run, in the order in which they were first sent.
    [[nodiscard]] std::vector<std::string> schema_of(const sim::Plan& plan) const;
    [[nodiscard]] std::vector<ExecutedStatement> statements() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace fencepost::scenarios
