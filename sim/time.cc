#include "sim/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace fencepost::sim {
namespace {

struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
};
constexpr std::array<Unit, 6> kUnits{{{"h", 3'600'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"s", 1'000'000'000},
                                      {"ms", 1'000'000},
                                      {"us", 1'000},
                                      {"ns", 1}}};

constexpr auto kFirstSecond = std::chrono::ceil<std::chrono::seconds>(Time::min());
constexpr auto kLastSecond = std::chrono::floor<std::chrono::seconds>(Time::max());

// Reads exactly `digits` decimal digits at `at`, which must lie within the text.
std::optional<int> fixed_number(std::string_view text, std::size_t at, std::size_t digits) {
    if (text.size() < at + digits) return std::nullopt;
    int value = 0;
    for (const char c : text.substr(at, digits)) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

// With leading zeros. The names of tasks hold instants: a format string takes ten times as long.
void append_number(std::string& text, std::int64_t number, std::size_t digits) {
    text.append(digits, '0');
    for (auto digit = text.rbegin(); number > 0; number /= 10, ++digit) {
        *digit = static_cast<char>('0' + number % 10);
    }
}

bool has_at(std::string_view text, std::size_t at, char expected) {
    return at < text.size() && text[at] == expected;
}

}  // namespace

std::string to_text(Duration duration) {
    if (duration == Duration::zero()) return "0s";
    std::string text = duration < Duration::zero() ? "-" : "";
    // Without a sign: the least duration has no positive counterpart.
    auto rest = static_cast<std::uint64_t>(duration.count());
    if (duration < Duration::zero()) rest = 0 - rest;
    for (const Unit& unit : kUnits) {
        const auto scale = static_cast<std::uint64_t>(unit.nanoseconds);
        const std::uint64_t count = rest / scale;
        rest %= scale;
        if (count != 0) text += fmt::format("{}{}", count, unit.name);
    }
    return text;
}

std::optional<Duration> parse_duration(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    std::int64_t total = 0;  // never positive, so that the least duration fits
    while (!text.empty()) {
        std::int64_t count = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        if (error != std::errc{} || count < 0) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        const std::size_t letters = std::min(text.find_first_of("0123456789"), text.size());
        const std::string_view name = text.substr(0, letters);
        std::int64_t scale = 0;
        for (const Unit& unit : kUnits) {
            if (unit.name == name) scale = unit.nanoseconds;
        }
        std::int64_t part = 0;
        if (scale == 0 || __builtin_mul_overflow(count, scale, &part) ||
            __builtin_sub_overflow(total, part, &total)) {
            return std::nullopt;
        }
        text.remove_prefix(letters);
    }
    if (negative) return Duration{total};
    if (total == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    return Duration{-total};
}

std::string to_text(Time time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    std::string text;
    append_number(text, static_cast<int>(date.year()), 4);
    text += '-';
    append_number(text, static_cast<unsigned>(date.month()), 2);
    text += '-';
    append_number(text, static_cast<unsigned>(date.day()), 2);
    text += 'T';
    append_number(text, clock.hours().count(), 2);
    text += ':';
    append_number(text, clock.minutes().count(), 2);
    text += ':';
    append_number(text, clock.seconds().count(), 2);
    if (clock.subseconds().count() != 0) {
        text += '.';
        append_number(text, clock.subseconds().count(), 9);
        while (text.ends_with('0')) text.pop_back();
    }
    return text + 'Z';
}

std::optional<Time> parse_time(std::string_view text) {
    const auto year = fixed_number(text, 0, 4);
    const auto month = fixed_number(text, 5, 2);
    const auto day = fixed_number(text, 8, 2);
    const auto hour = fixed_number(text, 11, 2);
    const auto minute = fixed_number(text, 14, 2);
    const auto second = fixed_number(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second || !has_at(text, 4, '-') ||
        !has_at(text, 7, '-') || !has_at(text, 10, 'T') || !has_at(text, 13, ':') ||
        !has_at(text, 16, ':')) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
    std::size_t at = 19;
    std::int64_t fraction = 0;
    if (has_at(text, at, '.')) {
        std::size_t digits = 0;
        while (at + 1 + digits < text.size() && text[at + 1 + digits] != 'Z') ++digits;
        const auto value =
            digits >= 1 && digits <= 9 ? fixed_number(text, at + 1, digits) : std::nullopt;
        if (!value) return std::nullopt;
        fraction = *value;
        for (std::size_t i = digits; i < 9; ++i) fraction *= 10;
        at += 1 + digits;
    }
    if (!has_at(text, at, 'Z') || at + 1 != text.size()) return std::nullopt;
    const std::chrono::sys_seconds seconds =
        std::chrono::sys_days{date} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
        std::chrono::seconds{*second};
    // Nanoseconds in 64 bits reach from 1677 to 2262.
    if (seconds <= kFirstSecond || seconds >= kLastSecond) return std::nullopt;
    return Time{seconds} + Duration{fraction};
}

}  // namespace fencepost::sim
