#include "model/scheduler/cron_time_zone.h"

#include <fmt/format.h>

#include <date/tz.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace fencepost::model {

using std::chrono::sys_seconds;
using namespace std::chrono_literals;

namespace {

LocalSeconds wall(sys_seconds instant, std::chrono::seconds offset) {
    return LocalSeconds{instant.time_since_epoch() + offset};
}

// zic can leave out what a rule at the end of the file implies, which the library does not read.
// New York's summer time of 2030 is among it.
void require_complete_data() {
    const sys_seconds summer = std::chrono::sys_days{std::chrono::year{2030} / 7 / 1};
    if (date::locate_zone("America/New_York")->get_info(summer).save == 0min) {
        throw std::runtime_error(
            "the system's time zone data is of the slim form; install a tzdata package of the fat "
            "one (zic -b fat)");
    }
}

}  // namespace

std::optional<CronTimeZone> CronTimeZone::find(std::string_view name) {
    require_complete_data();
    const auto& zones = date::get_tzdb().zones;
    const auto zone = std::ranges::find(zones, name, &date::time_zone::name);
    if (zone == zones.end()) return std::nullopt;
    std::vector<Period> periods;
    // Nothing of ours is older than the epoch.
    const sys_seconds last = std::chrono::sys_days{std::chrono::year{2100} / 1 / 1};
    for (sys_seconds at{-24h}; at < last;) {
        const date::sys_info info = zone->get_info(at);
        // Periods that differ in name alone are one.
        if (periods.empty() || periods.back().offset != info.offset) {
            periods.push_back({at, wall(at, info.offset), info.offset});
        }
        at = info.end;
    }
    CronTimeZone found;
    found.name_ = name;
    found.periods_ = std::make_shared<const std::vector<Period>>(std::move(periods));
    return found;
}

std::string CronTimeZone::data_version() {
    const std::string& known = date::get_tzdb().version;
    if (!known.empty() && known != "unknown") return known;
    // "# version 2025b"
    std::ifstream rules("/usr/share/zoneinfo/tzdata.zi");
    std::string mark, word, version;
    if (rules >> mark >> word >> version && word == "version") return version;
    return "unknown";
}

LocalSeconds CronTimeZone::to_local(sys_seconds instant) const {
    const auto next = std::ranges::upper_bound(*periods_, instant, {}, &Period::begin);
    const Period& period = next == periods_->begin() ? *next : *std::prev(next);
    return wall(instant, period.offset);
}

sys_seconds CronTimeZone::to_instant(LocalSeconds local) const {
    const auto next = std::ranges::upper_bound(*periods_, local, {}, &Period::wall_begin);
    const Period& period = next == periods_->begin() ? *next : *std::prev(next);
    return sys_seconds{local.time_since_epoch() - period.offset};
}

std::string CronTimeZone::text(std::chrono::sys_time<std::chrono::nanoseconds> instant) const {
    const auto second = std::chrono::floor<std::chrono::seconds>(instant);
    const LocalSeconds local = to_local(second);
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{local - day};
    std::string text =
        fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    time.hours().count(), time.minutes().count(), time.seconds().count());
    if (const auto part = instant - second; part.count() != 0) {
        text += fmt::format(".{:09}", part.count());
        while (text.ends_with('0')) text.pop_back();
    }
    const std::chrono::seconds offset = local.time_since_epoch() - second.time_since_epoch();
    if (offset.count() == 0) return text + "Z";
    const std::chrono::hh_mm_ss ahead{std::chrono::abs(offset)};
    text += fmt::format("{}{:02}:{:02}", offset.count() < 0 ? '-' : '+', ahead.hours().count(),
                        ahead.minutes().count());
    if (ahead.seconds().count() != 0) text += fmt::format(":{:02}", ahead.seconds().count());
    return text;
}

}  // namespace fencepost::model
