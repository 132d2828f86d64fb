// When a trigger is due: a sorted list of instants, or a start, an interval and a count.
//
// Instants are whole milliseconds, the resolution of the job store. A cron expression would be one
// more kind: callers ask only first() and next_after().
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "sim/time.h"

namespace fencepost::model {

class Schedule {
public:
    // Due at each of these, in any order, duplicates counted once; at least one.
    static Schedule at(std::vector<sim::Time> instants);
    // Due `count` times, at least once: at the start and after each interval.
    static Schedule every(sim::Time start, sim::Duration interval, std::uint32_t count);

    [[nodiscard]] sim::Time first() const;
    // The first instant later than that; nothing when the schedule is over.
    [[nodiscard]] std::optional<sim::Time> next_after(sim::Time instant) const;
    // Every instant up to that one, itself included.
    [[nodiscard]] std::vector<sim::Time> instants_until(sim::Time last) const;

private:
    struct Instants {
        std::vector<sim::Time> sorted;
    };
    struct Interval {
        sim::Time start;
        sim::Duration step;
        std::uint32_t count = 1;
    };
    using Rule = std::variant<Instants, Interval>;

    explicit Schedule(Rule rule) : rule_(std::move(rule)) {}

    Rule rule_;
};

}  // namespace fencepost::model
