// What a run covered, as hashes, so that a search can tell a run that did something new from one
// that did what others have done:
//
//   probes   states that the scenario wants to see reached, each, and all of a run together
//   strikes  which kind of fault struck at which call and phase
//   orders   which call, with which kind of answer, followed which, in one task and across nodes;
//            which table was written after which, by the same node or by another; and all the calls
//            and answers of the jobs of a run together, in whatever order
//
// The finer this is told apart, the more runs look new that are not: what the other nodes were at,
// which fault struck before and how long each lasts were tried, and searches found no more.
//
// Nodes, times, keys and numbers do not count: a run that does the same on the other node, or for
// another account, covers nothing new. Equal histories cover the same, on any machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scenarios/runner.h"
#include "sim/fault.h"
#include "sim/history.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

enum class FeatureKind : std::uint8_t { Probe, Strike, Order };
inline constexpr std::size_t kFeatureKinds = 3;

constexpr std::string_view name_of(FeatureKind kind) {
    constexpr std::array<std::string_view, kFeatureKinds> kNames{"probes", "strikes", "orders"};
    return kNames.at(static_cast<std::size_t>(kind));
}

// A hash whose first bits say its kind.
using Feature = std::uint64_t;
FeatureKind kind_of(Feature feature);

// Each once, in ascending order.
std::vector<Feature> features_of(const sim::Plan& plan, const RunResult& result,
                                 const sim::History& history);

// What a fault is, whatever it strikes: its kind, and its durations to the power of four.
std::uint64_t sort_of(const sim::Fault& fault);
// At which call of which task and in which phase it is to strike, whichever node makes the call;
// of faults at a time, nothing but that.
std::uint64_t place_of(const sim::Fault& fault);

}  // namespace fencepost::scenarios
