// When a trigger is due: a sorted list of instants; a start, an interval and a count; or a cron
// expression in a time zone.
//
// Instants are whole milliseconds, the resolution of the job store. Callers ask only first() and
// next_after().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/scheduler/cron_expression.h"
#include "model/scheduler/cron_time_zone.h"
#include "sim/time.h"

namespace fencepost::model {

// The time in which a cron schedule is due, both ends included.
struct CronSpan {
    sim::Time from{};
    std::optional<sim::Time> until;
    bool operator==(const CronSpan&) const = default;
};

class Schedule {
public:
    // What a schedule is made of.
    struct Instants {
        std::vector<sim::Time> sorted;
        bool operator==(const Instants&) const = default;
    };
    struct Interval {
        sim::Time start;
        sim::Duration step;
        std::uint32_t count = 1;
        bool operator==(const Interval&) const = default;
    };
    struct CronText {
        std::string expression;
        std::string time_zone;
        CronSpan span;
        bool operator==(const CronText&) const = default;
    };
    using Parts = std::variant<Instants, Interval, CronText>;

    // Due at each of these, in any order, duplicates counted once; at least one.
    static Schedule at(std::vector<sim::Time> instants);
    // Due `count` times, at least once: at the start and after each interval.
    static constexpr std::uint32_t kForEver = UINT32_MAX;
    static Schedule every(sim::Time start, sim::Duration interval, std::uint32_t count);
    // Due whenever the expression is, in that zone. Throws std::invalid_argument, with a sentence
    // that says what would be right, for a bad expression, an unknown zone, and when it is never
    // due within its span.
    static Schedule cron(std::string_view expression, std::string_view time_zone,
                         const CronSpan& span = {});

    [[nodiscard]] Parts parts() const;
    bool operator==(const Schedule& other) const { return parts() == other.parts(); }

    // "cron 0 0 2 * * ? Asia/Shanghai", "every 5s from 2026-03-02T18:00:00Z, 3 times", "at 2026-…".
    [[nodiscard]] std::string text() const;

    [[nodiscard]] sim::Time first() const;
    // The first instant later than that; nothing when the schedule is over.
    [[nodiscard]] std::optional<sim::Time> next_after(sim::Time instant) const;
    [[nodiscard]] bool is_endless_interval() const;
    // Of an interval with a count: what is left of it from the instant `missed` on, begun anew at
    // `now`. Nothing for what is no such interval.
    [[nodiscard]] std::optional<Schedule> rest_moved(sim::Time missed, sim::Time now) const;
    // Every instant up to that one, itself included.
    [[nodiscard]] std::vector<sim::Time> instants_until(sim::Time last) const;
    // Every instant between two, both included.
    [[nodiscard]] std::vector<sim::Time> instants_between(sim::Time from, sim::Time last) const;

private:
    struct Cron {
        CronExpression expression;
        CronTimeZone time_zone;
        CronSpan span;
        sim::Time first;

        [[nodiscard]] std::optional<sim::Time> next_after(sim::Time instant) const;
    };
    // A cron schedule is shared: it is large and never changes.
    using Rule = std::variant<Instants, Interval, std::shared_ptr<const Cron>>;

    explicit Schedule(Rule rule) : rule_(std::move(rule)) {}

    Rule rule_;
};

}  // namespace fencepost::model
