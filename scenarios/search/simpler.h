// Faults that are simpler to say than a given one: shorter and rounder arguments, or none.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/fault.h"

namespace fencepost::scenarios {

// What can be simpler about a fault, one thing for itself: whether it restarts, its duration, …
inline constexpr std::size_t kAspects = 9;

// The fault with that aspect simpler, the simplest first; none when it is as simple as can be.
// Of these the first that will do is meant to be taken.
std::vector<sim::Fault> simpler_faults(const sim::Fault& fault, std::size_t aspect);

}  // namespace fencepost::scenarios
