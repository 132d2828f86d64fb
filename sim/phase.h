// The phases of a call across a port, at each of which faults can strike.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fencepost::sim {

enum class Phase : std::uint8_t { Before, Sent, Applied, After };
inline constexpr std::array kPhases{Phase::Before, Phase::Sent, Phase::Applied, Phase::After};

constexpr std::string_view name_of(Phase phase) {
    switch (phase) {
        case Phase::Before:
            return "before";
        case Phase::Sent:
            return "sent";
        case Phase::Applied:
            return "applied";
        case Phase::After:
            return "after";
    }
    return "?";
}

}  // namespace fencepost::sim
