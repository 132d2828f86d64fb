// Every plan with one fault: at every point that a run without faults reaches, in every phase that
// the call comes to there, every kind of fault that applies, with the few arguments that matter
// (scenarios/search/fault_menu.h: the essential ones). Faults of the scheduler have no points; they
// strike at the start, right before each due instant and after the last call.
//
// What it proves is said by its certificate: for this scenario, handler, parameters and seed, and
// for these kinds and arguments, nothing was left out but what it counts as skipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/points.h"
#include "scenarios/search/random_plan.h"
#include "scenarios/search/sweep.h"
#include "sim/fault.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct KindCount {
    sim::FaultKind kind{};
    std::uint64_t plans = 0;
    std::uint64_t struck = 0;
    std::uint64_t took_effect = 0;

    bool operator==(const KindCount&) const = default;
};

struct Enumeration {
    std::vector<ReachedPoint> points;
    std::vector<sim::Plan> plans;  // by point, phase and kind
    std::vector<KindCount> kinds;  // in the order of the table of kinds; planned alone is known
};

struct ExhaustOptions {
    int faults = 1;
    std::uint64_t seed = 0;
    SearchOptions search;
};

// `reached` is what the subject's plan without faults reaches. Throws sim::PlanError when more than
// one fault a plan is asked for.
Enumeration enumerate(const Scenario& scenario, const Subject& subject, Reached reached,
                      int faults = 1, std::uint64_t seed = 0);

struct Certificate {
    std::string scenario;
    std::string handler;
    std::uint64_t seed = 0;
    int faults = 1;
    std::uint64_t points = 0;
    std::uint64_t planned = 0;  // plans, the one without faults included
    std::uint64_t run = 0;
    std::uint64_t skipped = 0;         // not run: interrupted, stopped early or a mishap
    std::uint64_t inert = 0;           // the fault never struck
    std::uint64_t without_effect = 0;  // it struck at most, and changed nothing
    std::uint64_t violating = 0;
    std::vector<KindCount> kinds;

    // Everything was run and held, and no fault was planned in vain.
    [[nodiscard]] bool complete() const { return skipped == 0 && inert == 0; }
    bool operator==(const Certificate&) const = default;
};

struct ExhaustResult {
    Certificate certificate;
    SearchResult search;  // its items are the numbers of the plans; 0 is the one without faults
};

ExhaustResult exhaust(const Scenario& scenario, const Subject& subject,
                      const ExhaustOptions& options);

}  // namespace fencepost::scenarios
