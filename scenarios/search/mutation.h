// Plans made of plans: one fault more near what a run came to, one less, another one in its place,
// at another phase or call, for longer or shorter; two plans spliced; the same with other
// latencies.
//
// Draws are keyed: the same parents and the same key give the same child.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/fault_menu.h"
#include "scenarios/search/population.h"
#include "scenarios/search/random_plan.h"
#include "sim/plan.h"
#include "sim/random.h"

namespace fencepost::scenarios {

class Mutator {
public:
    // The faults are those that random plans of the catalogue draw from.
    Mutator(const Scenario& scenario, const Subject& subject, const Catalogue& catalogue);

    // `parent` with one to three changes; `other` is the plan to splice it with. Has no more faults
    // than random plans of the scenario may have, and may be equal to its parent where nothing can
    // be changed. `random` is this child's own.
    [[nodiscard]] sim::Plan child(const Member& parent, const sim::Plan& other,
                                  const sim::Random& random);

private:
    class Change;
    using Options = std::vector<FaultOption>;

    [[nodiscard]] const Options& options_at(const std::string& node, std::string_view operation);

    [[nodiscard]] Options allowed(Options options) const;

    const Scenario& scenario_;
    Profile profile_;
    FaultMenu menu_;
    std::size_t most_faults_;
    std::vector<ReachedPoint> usual_points_;
    std::map<std::string, Options> timed_;  // by node
    std::map<std::pair<std::string, std::string>, Options, std::less<>> at_points_;
};

}  // namespace fencepost::scenarios
