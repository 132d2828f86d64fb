// A time zone for cron schedules: the system's zone data (IANA), and what
// java.util.GregorianCalendar in its lenient mode makes of a wall clock time, which is what Quartz
// computes with.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fencepost::model {

using LocalSeconds = std::chrono::local_seconds;

// Immutable, cheap to copy. The zone's data is read when it is looked up, never later. It ends with
// 2037: the offset of that moment goes on.
class CronTimeZone {
public:
    // "Europe/Berlin", "UTC"; nothing when the system does not know it. Java takes GMT instead.
    // Throws std::runtime_error when the system has no usable zone data at all.
    static std::optional<CronTimeZone> find(std::string_view name);
    // "2025b": the version of the system's zone data, "unknown" where it does not tell.
    static std::string data_version();

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] LocalSeconds to_local(std::chrono::sys_seconds instant) const;
    // A time in the gap of a change to summer time is read with the offset before it: 02:30 comes
    // out as 03:30. One in the overlap of the change back is the later of the two.
    [[nodiscard]] std::chrono::sys_seconds to_instant(LocalSeconds wall) const;

    // "2026-03-03T02:00:00+08:00", or with a Z where the offset is none; parts of a second only
    // where there are any.
    [[nodiscard]] std::string text(std::chrono::sys_time<std::chrono::nanoseconds> instant) const;

private:
    struct Period {
        std::chrono::sys_seconds begin;
        LocalSeconds wall_begin;  // on the clock of this period
        std::chrono::seconds offset;
    };

    std::string name_;
    std::shared_ptr<const std::vector<Period>> periods_;
};

}  // namespace fencepost::model
