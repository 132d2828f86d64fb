#include "scenarios/search/simpler.h"

#include <array>
#include <initializer_list>
#include <optional>

#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::Duration;
using sim::Fault;
using Faults = std::vector<Fault>;

// From the simplest to say to the most particular.
constexpr std::array<Duration, 13> kSimpleDurations{1ms, 10ms, 100ms, 1s,   2s,   5s,  10s,
                                                    15s, 20s,  30s,   1min, 2min, 5min};

Faults never_restarted(const Fault& given) {
    if (!given.restart_after) return {};
    Fault fault = given;
    fault.restart_after.reset();
    return {fault};
}

Faults both_ways(const Fault& given) {
    if (!given.one_way) return {};
    Fault fault = given;
    fault.one_way = false;
    return {fault};
}

Faults keeps_as_usual(const Fault& given) {
    if (given.keep.empty()) return {};
    Fault fault = given;
    fault.keep.clear();
    return {fault};
}

Faults simpler_duration(const Fault& given, std::optional<Duration> Fault::*member) {
    const std::optional<Duration> present = given.*member;
    if (!present || *present == Duration::zero()) return {};
    Faults faults;
    const auto add = [&](Duration duration) {
        faults.push_back(given);
        faults.back().*member = duration;
    };
    // Only a grace period may be none at all.
    if (member == &Fault::grace) add(0s);
    const Duration size = *present < Duration::zero() ? -*present : *present;
    const int sign = *present < Duration::zero() ? -1 : 1;
    for (const Duration simple : kSimpleDurations) {
        if (simple == size) break;
        add(sign * simple);
        // A longer one only when the given one is not round, and then only the next.
        if (simple > size) break;
    }
    return faults;
}

Faults simpler_drift(const Fault& given) {
    if (!given.ppm) return {};
    Faults faults;
    for (const std::int64_t size : {1'000, 10'000, 50'000, 100'000}) {
        const std::int64_t simple = *given.ppm < 0 ? -size : size;
        if (simple == *given.ppm) break;
        faults.push_back(given);
        faults.back().ppm = simple;
    }
    return faults;
}

Faults rounder_time(const Fault& given) {
    if (!given.at_time) return {};
    Faults faults;
    for (const Duration grain : {Duration{1min}, Duration{10s}, Duration{1s}, Duration{100ms},
                                 Duration{10ms}, Duration{1ms}}) {
        const Duration passed = given.at_time->time_since_epoch() % grain;
        if (passed == Duration::zero()) break;
        for (const Duration by : {-passed, grain - passed}) {
            faults.push_back(given);
            faults.back().at_time = *given.at_time + by;
        }
    }
    return faults;
}

}  // namespace

std::vector<sim::Fault> simpler_faults(const sim::Fault& fault, std::size_t aspect) {
    switch (aspect) {
        case 0:
            return never_restarted(fault);
        case 1:
            return both_ways(fault);
        case 2:
            return keeps_as_usual(fault);
        case 3:
            return simpler_duration(fault, &Fault::restart_after);
        case 4:
            return simpler_duration(fault, &Fault::lasting);
        case 5:
            return simpler_duration(fault, &Fault::by);
        case 6:
            return simpler_duration(fault, &Fault::grace);
        case 7:
            return simpler_drift(fault);
        case 8:
            return rounder_time(fault);
        default:
            sim::require(false, "an aspect of a fault has a number below kAspects");
            return {};
    }
}

}  // namespace fencepost::scenarios
