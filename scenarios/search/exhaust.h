// Every plan with up to three faults: at every point that a run reaches, in every phase that the
// call comes to there, every kind of fault that applies, with the few arguments that matter
// (scenarios/search/fault_menu.h: the essential ones); then, in what follows the first fault, every
// second one, also at points that are there only because of the first; then every third. Which
// faults those are stands in scenarios/search/next_faults.h.
//
// Plans are made where they are run and are never all there at once: what can follow a fault is
// read from the run of the plan with it. They are counted in the order of the enumeration, and all
// that comes back is the same whatever the number of workers, and whether or not the search was
// interrupted and went on.
//
// What it proves is said by its certificate: for this scenario, handler, parameters and seed, and
// for these kinds and arguments, nothing was left out but what it counts as skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/equal_plans.h"
#include "scenarios/search/random_plan.h"
#include "scenarios/search/sweep.h"
#include "sim/fault.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct KindCount {
    sim::FaultKind kind{};
    std::uint64_t planned = 0;  // faults in plans, also in those that need not be run
    std::uint64_t struck = 0;
    std::uint64_t took_effect = 0;

    bool operator==(const KindCount&) const = default;
};

inline constexpr int kMostFaultsEnumerated = 3;

struct ExhaustOptions {
    int faults = 1;  // a plan, at most
    std::uint64_t seed = 0;
    std::vector<sim::FaultKind> kinds{};  // these alone; none: all that the scenario allows
    // Whether plans are left out that are equal to others; of more than one fault.
    bool leave_out_equals = true;
    // Stop when at least so many plans are done, or when what they came to is enough.
    std::uint64_t most_plans = kNoItem;
    std::function<bool(const Totals&)> enough{};
    SearchOptions search;

    // Where to note now and then how far the search is; empty: nowhere. With `resume` it goes on
    // from what is noted there, if anything is.
    std::string state_file{};
    bool resume = false;
    // Called when it cannot be noted, with what is wrong; the search goes on, and notes no more.
    // Where nothing is given the search ends with a PlanError.
    std::function<void(const std::string&)> not_noted{};
    std::uint64_t plans_between_notes = 5'000;
    std::string version{};  // of the program, for the certificate
    // Seconds of real time since the search began, for the certificate.
    std::function<double()> seconds{};
};

struct Certificate {
    std::string scenario;
    std::string handler;
    std::map<std::string, std::int64_t, std::less<>> parameters;  // that are not as usual
    std::uint64_t seed = 0;
    int faults = 1;
    bool all_kinds = true;
    std::uint64_t points = 0;          // that the run without faults reaches
    std::uint64_t further_points = 0;  // that only runs with a fault reach, and where others strike
    std::uint64_t planned = 0;         // plans, the one without faults included
    std::uint64_t run = 0;
    std::uint64_t skipped = 0;         // mishaps, and what is known to be missing
    bool cut_short = false;            // interrupted or stopped: more than is known may be missing
    std::uint64_t inert = 0;           // run, and a fault never struck
    std::uint64_t without_effect = 0;  // run, and all faults struck at most, and changed nothing
    std::uint64_t violating = 0;       // of those run
    std::vector<std::pair<Equal, std::uint64_t>> equal;  // not run; reasons that there were
    std::vector<KindCount> kinds;                        // in the order of the table of kinds
    std::string version;
    double seconds = 0;

    // Everything was run, or is equal to what was, and no fault was planned in vain.
    [[nodiscard]] bool complete() const { return skipped == 0 && !cut_short && inert == 0; }
};

struct ExhaustResult {
    Certificate certificate;
    SearchResult search;  // its items are the numbers of the plans; 0 is the one without faults
};

// Throws sim::PlanError when the subject or the options ask for what there is not, and when what is
// noted is of another search or of another program.
ExhaustResult exhaust(const Scenario& scenario, const Subject& subject,
                      const ExhaustOptions& options);

// The plans with one fault more than `plan`, in the order of the enumeration: by point, phase and
// kind. In this process.
std::vector<sim::Plan> plans_after(const Scenario& scenario, const Subject& subject,
                                   const sim::Plan& plan, const PlanRunner& runner);

}  // namespace fencepost::scenarios
