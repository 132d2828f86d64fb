// Many runs, on worker processes: a sweep over seeds, or any list of plans.
//
// What comes back depends on the scenario, the handler and the plans alone, not on the number of
// workers, unless the search was interrupted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/search/plan_runner.h"
#include "scenarios/search/random_plan.h"
#include "scenarios/search/totals.h"
#include "scenarios/search/workers.h"

namespace fencepost::scenarios {

struct SearchProgress {
    std::uint64_t done = 0;
    std::uint64_t planned = 0;      // 0: not known beforehand
    double part = 0;                // of the work, where the number is not known
    std::uint64_t failed_runs = 0;  // as far as results are in order
    std::uint64_t mishaps = 0;
};

struct SearchOptions {
    PoolOptions pool;
    TotalsOptions totals;
    bool verify = false;  // run everything twice and compare
    // Stop when so many runs have failed; runs of the same range as the last are still counted.
    std::uint64_t stop_after_failures = kNoItem;
    // A handler that takes every worker down would keep a sweep busy with restarts.
    std::uint64_t stop_after_mishaps = 20;
    // Asked now and then; stops the search with what it has, like a number of failures does.
    std::function<bool()> time_is_over{};
    std::function<void(const SearchProgress&)> progress;
    MakePlanRunner make_runner = fresh_runner;  // called in each worker
};

struct FoundFailure {
    FailingRun run;
    sim::Plan plan;
};

struct FoundMishap {
    Mishap mishap;
    sim::Plan plan;
};

struct SearchResult {
    PoolEnd end = PoolEnd::Completed;
    std::string problem;        // of PoolEnd::CouldNotStart
    std::uint64_t planned = 0;  // items
    std::uint64_t done = 0;     // items whose outcome is known: runs and mishaps
    Totals totals;
    std::vector<FoundFailure> failures;  // in order; which are kept: see TotalsOptions
    std::vector<FoundMishap> mishaps;    // in order
    std::uint64_t workers_replaced = 0;

    [[nodiscard]] bool interrupted() const { return end == PoolEnd::Interrupted; }
    // The harness itself failed: it did not start, contradicted itself, was not deterministic, or
    // lost a worker outside any simulated task.
    [[nodiscard]] bool harness_failed() const;
    // No run reached these.
    [[nodiscard]] std::vector<std::string> probes_missed() const;
    // Checkers that judged nothing in any run.
    [[nodiscard]] std::vector<std::string> never_judged() const;
};

// A numbered list of plans that need not exist all at once. Called in the workers, too.
struct PlanList {
    std::uint64_t count = 0;
    std::function<sim::Plan(std::uint64_t index)> plan;
    // What totals call the item: its seed, say. Grows with the index.
    std::function<std::uint64_t(std::uint64_t index)> item = [](std::uint64_t index) {
        return index;
    };
};

SearchResult run_plans(const Scenario& scenario, const PlanList& plans,
                       const SearchOptions& options);
SearchResult run_plans(const Scenario& scenario, const std::vector<sim::Plan>& plans,
                       const SearchOptions& options);

struct SeedRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // included

    bool operator==(const SeedRange&) const = default;
};

// One random plan a seed. Throws sim::PlanError when the subject names what there is not.
SearchResult sweep(const Scenario& scenario, const Subject& subject, SeedRange seeds,
                   const SearchOptions& options);

// The catalogue for a PlanSource, made in workers. On a mishap of the very first run, without any
// fault, there is none: it is added to `result`.
std::optional<Catalogue> catalogue_in_workers(const Scenario& scenario, const Subject& subject,
                                              const SearchOptions& options, SearchResult& result);

// How a pool ended, as far as it concerns the search.
void note_end(const PoolReport& report, SearchResult& result);

// What one plan reaches, found out in a worker; the same on a mishap.
std::optional<Reached> reached_in_worker(const sim::Plan& plan, const SearchOptions& options,
                                         SearchResult& result);

}  // namespace fencepost::scenarios
