// A guided search: plans whose runs cover something new (scenarios/search/coverage.h) are kept and
// changed further, instead of drawing every plan afresh.
//
// Runs are made in generations of a fixed size. The plans of a generation are made from what is
// known when it begins and are run on worker processes; what they cover is merged in the order of
// the plans. So the result depends on the scenario, the handler, the parameters, the seed and the
// number of runs alone, not on the number of workers, unless the search was interrupted.
#pragma once

#include <array>
#include <cstdint>

#include "scenarios/scenario.h"
#include "scenarios/search/coverage.h"
#include "scenarios/search/random_plan.h"
#include "scenarios/search/sweep.h"

namespace fencepost::scenarios {

struct GuidedOptions {
    std::uint64_t seed = 1;  // of all that is drawn
    std::uint64_t runs = 1000;
    SearchOptions search;
};

struct GuidedResult {
    SearchResult search;         // its items are the numbers of the runs, from 1
    std::uint64_t kept = 0;      // plans that covered something new
    std::uint64_t children = 0;  // runs whose plan was made of a kept one
    std::array<std::uint64_t, kFeatureKinds> features{};  // covered, by kind
};

// Throws sim::PlanError when the subject names what there is not.
GuidedResult guided_search(const Scenario& scenario, const Subject& subject,
                           const GuidedOptions& options);
// The same with a catalogue that was made before.
GuidedResult guided_search(const Scenario& scenario, const Subject& subject,
                           const Catalogue& catalogue, const GuidedOptions& options);

}  // namespace fencepost::scenarios
