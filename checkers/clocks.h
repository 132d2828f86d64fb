// Clocks that a run has changed. Who goes by a clock that was changed under it cannot know better.
#pragma once

#include <string_view>

#include "sim/events.h"

namespace fencepost::checkers {

// Whether a fault has set a clock, or made one run fast or slow: that of `whose`, or any.
inline bool clock_was_changed(const sim::History& history, std::string_view whose = {}) {
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        if (history.kind_of(id) != sim::FaultStruck::kKind) continue;
        // "clock-jump database at …"
        std::string_view fault = history[id].as<sim::FaultStruck>()->fault;
        if (!fault.starts_with("clock-")) continue;
        fault.remove_prefix(fault.find(' ') + 1);
        if (fault.starts_with(whose)) return true;
    }
    return false;
}

}  // namespace fencepost::checkers
