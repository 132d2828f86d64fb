// Cron expressions as Quartz 2.3.2 has them (org.quartz.CronExpression): seconds, minutes, hours,
// day of month, month, day of week, and perhaps years; with lists, ranges that may wrap around,
// steps, names, `?`, `L`, `L-3`, `LW`, `15W`, `6L` and `6#3`.
//
// Exactly one of day of month and day of week is `?`.
//
// When it comes to summer time this is Quartz too, which does its search on a lenient calendar:
// - A time in the gap in spring does not exist. Which hours are left out and which come an hour
//   later depends on where the search starts; mostly a daily time in the gap is left out that day.
// - In the overlap in autumn the first of the two hours is passed over: a daily time in it comes
//   once, in the second, and "every ten minutes" pauses for an hour.
//
// Where Quartz takes a text and silently ignores part of it, or loops for ever, it is refused here.
#pragma once

#include <bitset>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "model/scheduler/cron_time_zone.h"

namespace fencepost::model {

struct CronError {
    std::size_t position =
        0;  // in the expression, counted from 1; one past its end: something is missing
    std::string sentence;  // what is wrong and what would be right

    // "at position 8: …"
    [[nodiscard]] std::string text() const;
};

// What the fields of an expression allow. A bit is a value.
struct CronFields {
    static constexpr int kFirstYear = 1970;
    static constexpr int kLastYear = 2199;

    std::uint64_t seconds = 0;
    std::uint64_t minutes = 0;
    std::uint64_t hours = 0;
    std::uint64_t days = 0;       // of the month
    std::uint64_t months = 0;     // 1 is January
    std::uint64_t week_days = 0;  // 1 is Sunday
    std::bitset<kLastYear - kFirstYear + 1> years;

    bool by_week_day = false;          // day of month is `?`
    bool last_day = false;             // L
    int before_last_day = 0;           // L-n
    bool nearest_working_day = false;  // W
    bool last_of_week_day = false;     // nL
    int nth_of_week_day = 0;           // n#k
};

class CronExpression {
public:
    static std::expected<CronExpression, CronError> parse(std::string_view text);

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const CronFields& fields() const { return fields_; }

    // The first instant later than that one; nothing when there is none within a hundred years. A
    // pure function, with no look at the system.
    [[nodiscard]] std::optional<std::chrono::sys_seconds> next_after(
        std::chrono::sys_seconds instant, const CronTimeZone& zone) const;

private:
    std::string text_;
    CronFields fields_;
};

}  // namespace fencepost::model
