#include "model/scheduler/schedule.h"

#include <algorithm>

#include "sim/require.h"

namespace fencepost::model {
namespace {

using sim::Duration;
using sim::Time;

bool is_whole_milliseconds(Duration duration) {
    return duration % std::chrono::milliseconds{1} == Duration::zero();
}

}  // namespace

Schedule Schedule::at(std::vector<Time> instants) {
    sim::require(!instants.empty(), "a schedule has at least one instant");
    std::ranges::sort(instants);
    const auto repeated = std::ranges::unique(instants);
    instants.erase(repeated.begin(), repeated.end());
    for (const Time instant : instants) {
        sim::require(is_whole_milliseconds(instant.time_since_epoch()),
                     "a schedule's instants are whole milliseconds");
    }
    return Schedule{Instants{std::move(instants)}};
}

Schedule Schedule::every(Time start, Duration interval, std::uint32_t count) {
    sim::require(count > 0, "a schedule has at least one instant");
    sim::require(interval > Duration::zero(), "a schedule's interval is positive");
    sim::require(is_whole_milliseconds(start.time_since_epoch()) && is_whole_milliseconds(interval),
                 "a schedule's instants are whole milliseconds");
    return Schedule{Interval{start, interval, count}};
}

Time Schedule::first() const {
    if (const auto* list = std::get_if<Instants>(&rule_)) return list->sorted.front();
    return std::get<Interval>(rule_).start;
}

std::optional<Time> Schedule::next_after(Time instant) const {
    if (const auto* list = std::get_if<Instants>(&rule_)) {
        const auto next = std::ranges::upper_bound(list->sorted, instant);
        if (next == list->sorted.end()) return std::nullopt;
        return *next;
    }
    const Interval& rule = std::get<Interval>(rule_);
    if (instant < rule.start) return rule.start;
    const auto passed = (instant - rule.start) / rule.step + 1;
    if (passed >= rule.count) return std::nullopt;
    return rule.start + passed * rule.step;
}

std::vector<Time> Schedule::instants_until(Time last) const {
    std::vector<Time> instants;
    for (std::optional<Time> next = first(); next && *next <= last; next = next_after(*next)) {
        instants.push_back(*next);
    }
    return instants;
}

}  // namespace fencepost::model
