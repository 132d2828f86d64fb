// Virtual time: the true time of a simulated world, in nanoseconds since the Unix epoch.
//
// No clock of this machine is ever read. A node's own clocks are derived from it (sim/node.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace fencepost::sim {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::sys_time<Duration>;

using namespace std::chrono_literals;

// `from` + `by`, or the last instant that there is when that is later still. `by` is not negative.
constexpr Time later(Time from, Duration by) {
    return from < Time{} || by < Time::max() - from ? from + by : Time::max();
}

// "5s", "250ms", "1m30s", "0s": the shortest exact text, and its inverse. Units: ns us ms s m h.
std::string to_text(Duration duration);
std::optional<Duration> parse_duration(std::string_view text);

// "2026-03-02T18:00:00Z", with up to nine digits of a fraction where there is one, and its inverse
// (from the year 1677 to 2262: what 64 bits of nanoseconds hold).
std::string to_text(Time time);
std::optional<Time> parse_time(std::string_view text);

}  // namespace fencepost::sim
