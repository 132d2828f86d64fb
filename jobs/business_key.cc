#include "jobs/business_key.h"

namespace fencepost::jobs {
namespace {

// With leading zeros. A key is made for every claim: a format string takes ten times as long.
void append_number(std::string& text, std::int64_t number, std::size_t digits) {
    text.append(digits, '0');
    for (auto digit = text.rbegin(); number > 0; number /= 10, ++digit) {
        *digit = static_cast<char>('0' + number % 10);
    }
}

}  // namespace

std::string utc_day(WallTime instant) {
    const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(instant)};
    std::string text;
    append_number(text, static_cast<int>(date.year()), 4);
    text += '-';
    append_number(text, static_cast<unsigned>(date.month()), 2);
    text += '-';
    append_number(text, static_cast<unsigned>(date.day()), 2);
    return text;
}

std::string utc_text(WallTime instant) {
    const auto day = std::chrono::floor<std::chrono::days>(instant);
    const std::chrono::hh_mm_ss clock{instant - day};
    std::string text = utc_day(instant);
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

BusinessKey BusinessKey::of(const Fire& fire) {
    return BusinessKey{fire.tenant + "/" + fire.job + "@" + utc_text(fire.scheduled_fire_time)};
}

}  // namespace fencepost::jobs
