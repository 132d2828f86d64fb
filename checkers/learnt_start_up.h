// What one start-up leaves, where nobody has stated it: what it leaves when it is alone and
// undisturbed.
#pragma once

#include <expected>
#include <string>

#include "checkers/expectations.h"
#include "sim/history.h"

namespace fencepost::checkers {

// Everything that the run's start-ups have left at its end.
[[nodiscard]] StartUpState left_by_start_up(const sim::History& history);

// What two such runs have in common, which differ in their latencies alone: columns and cached
// values that differ (a time, a drawn id) are not compared. Or why they say nothing, in half a
// sentence that goes on after "an undisturbed start-up ".
[[nodiscard]] std::expected<StartUpState, std::string> in_common(const StartUpState& one,
                                                                 const StartUpState& other);

}  // namespace fencepost::checkers
