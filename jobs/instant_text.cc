#include "jobs/instant_text.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

namespace fencepost::jobs {
namespace {

// Reads from the front of a text.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool done() const { return rest_.empty(); }
    bool take(char wanted) {
        if (!rest_.starts_with(wanted)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    // Exactly so many digits.
    std::optional<int> number(std::size_t digits) {
        if (rest_.size() < digits) return std::nullopt;
        int value = 0;
        for (const char digit : rest_.substr(0, digits)) {
            if (digit < '0' || digit > '9') return std::nullopt;
            value = value * 10 + (digit - '0');
        }
        rest_.remove_prefix(digits);
        return value;
    }
    // One to nine digits after the decimal point.
    std::optional<std::chrono::nanoseconds> decimals() {
        constexpr int kMost = 9;
        std::int64_t value = 0;
        int digits = 0;
        while (const auto digit = number(1)) {
            if (++digits > kMost) return std::nullopt;
            value = value * 10 + *digit;
        }
        if (digits == 0) return std::nullopt;
        for (; digits < kMost; ++digits) value *= 10;
        return std::chrono::nanoseconds{value};
    }

private:
    std::string_view rest_;
};

std::optional<std::chrono::sys_days> read_date(Reader& in) {
    const auto year = in.number(4);
    if (!year || !in.take('-')) return std::nullopt;
    const auto month = in.number(2);
    if (!month || !in.take('-')) return std::nullopt;
    const auto day = in.number(2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days{date};
}

std::optional<std::chrono::nanoseconds> read_time_of_day(Reader& in) {
    const auto hour = in.number(2);
    if (!hour || *hour > 23 || !in.take(':')) return std::nullopt;
    const auto minute = in.number(2);
    if (!minute || *minute > 59) return std::nullopt;
    std::chrono::nanoseconds time = std::chrono::hours{*hour} + std::chrono::minutes{*minute};
    if (!in.take(':')) return time;
    const auto second = in.number(2);
    if (!second || *second > 59) return std::nullopt;
    time += std::chrono::seconds{*second};
    if (!in.take('.') && !in.take(',')) return time;
    const auto decimals = in.decimals();
    if (!decimals) return std::nullopt;
    return time + *decimals;
}

// What stands after the sign of an offset.
std::optional<std::chrono::seconds> read_offset(Reader& in) {
    const auto hours = in.number(2);
    if (!hours || *hours > 23) return std::nullopt;
    std::chrono::seconds offset = std::chrono::hours{*hours};
    if (in.done()) return offset;
    const bool extended = in.take(':');
    const auto minutes = in.number(2);
    if (!minutes || *minutes > 59) return std::nullopt;
    offset += std::chrono::minutes{*minutes};
    if (!extended || !in.take(':')) return offset;
    const auto seconds = in.number(2);
    if (!seconds || *seconds > 59) return std::nullopt;
    return offset + std::chrono::seconds{*seconds};
}

}  // namespace

std::expected<WallTime, std::string> read_instant(std::string_view text) {
    const auto refused = [text](std::string_view why) {
        return std::unexpected(fmt::format("\"{}\" is no instant: {}", text, why));
    };
    Reader in{text};
    const auto date = read_date(in);
    if (!date) return refused("it must begin with a date, as in 2026-03-03T02:00:00+08:00");
    if (!in.take('T')) return refused("a T and the time of day must come after the date");
    const auto time = read_time_of_day(in);
    if (!time) {
        return refused("the time of day goes from 00:00 to 23:59:59, with up to nine decimals");
    }
    const WallTime local{*date + *time};
    if (in.take('Z')) {
        if (!in.done()) return refused("nothing may come after the Z");
        return local;
    }
    const bool east = in.take('+');
    if (!east && !in.take('-')) {
        return refused(
            "without an offset from UTC it is another time in every zone; end it with Z or with an "
            "offset such as +08:00");
    }
    const auto offset = read_offset(in);
    if (!offset || !in.done()) {
        return refused("the offset from UTC is written as in +08:00 and ends the text");
    }
    if (!east && *offset == std::chrono::seconds{0}) {
        return refused("the offset -00:00 says that the zone is not known; write Z for UTC");
    }
    return east ? local - *offset : local + *offset;
}

Fire as_written(Fire fire) {
    if (fire.scheduled_text.empty()) return fire;
    const auto instant = read_instant(fire.scheduled_text);
    if (!instant) throw std::invalid_argument(instant.error());
    fire.scheduled_fire_time = *instant;
    return fire;
}

}  // namespace fencepost::jobs
