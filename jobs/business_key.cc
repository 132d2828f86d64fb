#include "jobs/business_key.h"

#include <fmt/format.h>

namespace fencepost::jobs {

std::string utc_day(WallTime instant) {
    const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(instant)};
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string utc_text(WallTime instant) {
    const auto day = std::chrono::floor<std::chrono::days>(instant);
    const std::chrono::hh_mm_ss clock{instant - day};
    std::string text = fmt::format("{}T{:02}:{:02}:{:02}", utc_day(instant), clock.hours().count(),
                                   clock.minutes().count(), clock.seconds().count());
    if (clock.subseconds().count() != 0) {
        text += fmt::format(".{:09}", clock.subseconds().count());
        while (text.ends_with('0')) text.pop_back();
    }
    return text + "Z";
}

BusinessKey BusinessKey::of(const Fire& fire) {
    return BusinessKey{fire.tenant + "/" + fire.job + "@" + utc_text(fire.scheduled_fire_time)};
}

}  // namespace fencepost::jobs
