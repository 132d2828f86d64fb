#include "model/scheduler/cron_time_zone.h"

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

}  // namespace fencepost::model
