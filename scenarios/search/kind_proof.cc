#include "scenarios/search/kind_proof.h"

#include <algorithm>

#include "scenarios/search/exhaust.h"

namespace fencepost::scenarios {
namespace {

SearchForProof proof_by(const HandlerSpec& mistake, const Scenario& scenario, sim::FaultKind kind,
                        const SearchOptions& search) {
    ExhaustOptions options;
    options.kinds = {kind};
    options.search = search;
    const ExhaustResult all = exhaust(scenario, {scenario.name, mistake.name}, options);
    SearchForProof found{.proof = {}, .interrupted = all.search.interrupted()};
    for (const FoundFailure& failure : all.search.failures) {
        for (const std::string& checker : failure.run.failed) {
            if (std::ranges::find(mistake.breaks, checker) == mistake.breaks.end()) continue;
            if (failure.plan.faults.empty()) return found;
            found.proof = KindProof{.kind = kind,
                                    .mistake = mistake.name,
                                    .scenario = scenario.name,
                                    .checker = checker,
                                    .plan = failure.plan};
            return found;
        }
    }
    return found;
}

}  // namespace

SearchForProof proof_of(sim::FaultKind kind, const SearchOptions& search) {
    const sim::FaultFamily family = sim::info_of(kind).family;
    for (const HandlerSpec& mistake : all_handlers()) {
        if (!mistake.is_mistake()) continue;
        for (const Scenario& scenario : all_scenarios()) {
            if (obstacle(scenario, mistake)) continue;
            if (std::ranges::find(scenario.families, family) == scenario.families.end()) continue;
            SearchForProof found = proof_by(mistake, scenario, kind, search);
            if (found.proof || found.interrupted) return found;
        }
    }
    return {};
}

}  // namespace fencepost::scenarios
