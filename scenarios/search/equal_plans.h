// Plans that need not be run, because they do what another plan of the same search does.
//
// What is claimed is equality of everything: from its strike on, the fault leaves the world as the
// other plan leaves it, so that the two runs are the same, apart from the records of the fault
// itself, and stay the same whatever strikes later. Equal histories are not enough to claim that: a
// partition that no message has met yet leaves no trace and may still matter. So each reason below
// is one for which the model does nothing, or the same, when the fault strikes, and needs but what
// the history before the strike says for certain.
//
// A reason never reaches back over a strike at the very same phase: what that has changed shows in
// no record yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scenarios/search/next_faults.h"
#include "sim/history.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

enum class Equal : std::uint8_t {
    Unknown,          // it is to be run
    NothingToEvict,   // Redis does not hold the key: the plan without the fault
    NodeIsDown,       // there is no process to strike: the same
    NodeIsStopping,   // it has been asked to stop before: the same
    ServerIsDown,     // a server that is down neither restarts nor evicts: the same
    NothingToLose,    // Redis holds no key: a restart that keeps nothing is one that keeps all
    NothingUnsynced,  // no key changed lately: a restart that loses that is one that keeps all
    AfterAnEqual,     // a fault before it has one of these reasons
};
inline constexpr std::size_t kEqualReasons = 8;

constexpr std::string_view reason_of(Equal equal) {
    switch (equal) {
        case Equal::Unknown:
            return "";
        case Equal::NothingToEvict:
            return "the evicted key is not there: as without the fault";
        case Equal::NodeIsDown:
            return "the node is down: as without the fault";
        case Equal::NodeIsStopping:
            return "the node is stopping already: as without the fault";
        case Equal::ServerIsDown:
            return "the server is down already: as without the fault";
        case Equal::NothingToLose:
            return "Redis holds nothing: restarts that keep nothing and all are the same";
        case Equal::NothingUnsynced:
            return "nothing changed in Redis for 2 s: restarts that lose the last second and "
                   "nothing are the same";
        case Equal::AfterAnEqual:
            return "a fault before has one of these reasons: as after its equal";
    }
    return "";
}

struct EqualPlan {
    static constexpr std::size_t kWithout = ~std::size_t{0};

    Equal why = Equal::Unknown;
    // The plan with this one of the next faults, or the plan without any.
    std::size_t to = kWithout;

    bool operator==(const EqualPlan&) const = default;
};

// For each of the faults that could be added to `plan`, of whose run `history` is.
std::vector<EqualPlan> equal_plans(const sim::Plan& plan, const sim::History& history,
                                   const NextFaults& next);

// Over all records but those of faults: equal for runs that only these tell apart.
std::uint64_t fingerprint_without_faults(const sim::History& history);

}  // namespace fencepost::scenarios
