// Probes: states that a scenario wants to see reached, found in the history. A sweep that never
// reached one of its probes has not tested what it claims to test.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/history.h"

namespace fencepost::scenarios {

struct Probe {
    std::string_view name;      // "lease expired under a live holder"
    std::string_view sentence;  // what was seen when it is reached
    bool (*reached)(const sim::History& history);
};

std::span<const Probe> all_probes();
const Probe* find_probe(std::string_view name);

// Those of `names` that the history reached, in their order.
std::vector<std::string> reached_probes(const sim::History& history,
                                        const std::vector<std::string>& names);

}  // namespace fencepost::scenarios
