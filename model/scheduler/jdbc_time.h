// Instants as the job store keeps them: milliseconds since the epoch, -1 for none.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/time.h"

namespace fencepost::model::jdbc {

inline std::int64_t milliseconds(sim::Time time) {
    return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

inline std::int64_t milliseconds(std::optional<sim::Time> time) {
    return time ? milliseconds(*time) : -1;
}

inline sim::Time from_milliseconds(std::int64_t count) {
    return sim::Time{std::chrono::milliseconds{count}};
}

}  // namespace fencepost::model::jdbc
