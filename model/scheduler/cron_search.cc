// The search for the next instant of a cron expression.
//
// Quartz moves a lenient java.util.Calendar forward field by field, from the seconds up; when a
// field has to move it clears those below and starts over. Around a change of the zone's offset the
// outcome depends on when the calendar is brought back to an existing time, so that is kept as it
// is.
#include <bit>

#include "model/scheduler/cron_expression.h"
#include "sim/require.h"

namespace fencepost::model {
namespace {

using std::chrono::sys_seconds;
using namespace std::chrono_literals;

constexpr int kYearsAhead = 100;
constexpr int kMostSteps = 100'000;

int last_day_of(int year, int month) {
    const std::chrono::year_month_day_last last{
        std::chrono::year{year},
        std::chrono::month_day_last{std::chrono::month{static_cast<unsigned>(month)}}};
    return static_cast<int>(static_cast<unsigned>(last.day()));
}

// Fields of a wall clock, which may be out of range until settle().
class WallCalendar {
public:
    WallCalendar(const CronTimeZone& zone, sys_seconds instant) : zone_(&zone) {
        read(zone.to_local(instant));
    }

    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;

    // Months and days beyond their range run over into the next ones.
    [[nodiscard]] LocalSeconds wall() const {
        const int months = month - 1;
        const int years = year + (months >= 0 ? months / 12 : (months - 11) / 12);
        const auto first =
            std::chrono::year{years} /
            std::chrono::month{static_cast<unsigned>(months - (years - year) * 12 + 1)} / 1;
        return LocalSeconds{std::chrono::local_days{first} + std::chrono::days{day - 1} +
                            std::chrono::hours{hour} + std::chrono::minutes{minute} +
                            std::chrono::seconds{second}};
    }
    [[nodiscard]] sys_seconds instant() const { return zone_->to_instant(wall()); }
    // Brings all fields to a time that exists.
    void settle() { read(zone_->to_local(instant())); }

    // 1 is Sunday.
    [[nodiscard]] int week_day() const {
        const auto date = std::chrono::floor<std::chrono::days>(wall());
        return static_cast<int>(std::chrono::weekday{date}.c_encoding()) + 1;
    }

private:
    void read(LocalSeconds local) {
        const auto date = std::chrono::floor<std::chrono::days>(local);
        const std::chrono::year_month_day civil{date};
        year = static_cast<int>(civil.year());
        month = static_cast<int>(static_cast<unsigned>(civil.month()));
        day = static_cast<int>(static_cast<unsigned>(civil.day()));
        const auto rest = static_cast<int>((local - date).count());
        hour = rest / 3600;
        minute = rest / 60 % 60;
        second = rest % 60;
    }

    const CronTimeZone* zone_;
};

// The least value of a set; 0 when it is empty.
int first_of(std::uint64_t set) {
    return set == 0 ? 0 : std::countr_zero(set);
}

// The least value from there on; -1 when there is none.
int next_of(std::uint64_t set, int from) {
    const std::uint64_t rest = from > 63 ? 0 : set >> from << from;
    return rest == 0 ? -1 : std::countr_zero(rest);
}

class Search {
public:
    Search(const CronFields& fields, const CronTimeZone& zone, sys_seconds from)
        : fields_(fields), from_(from), wall_(zone, from) {
        // Setting the milliseconds to nothing is enough to lose which of two equal hours it was.
        wall_.settle();
    }

    std::optional<sys_seconds> run() {
        const int last_year = wall_.year + kYearsAhead;
        for (int step = 0;; ++step) {
            // As Quartz's own for the last working day of a month that the zone left out a day of.
            sim::require(step < kMostSteps, "the search for a cron expression's next instant ends");
            to_second();
            if (!at_minute() || !at_hour() || !at_day()) continue;
            if (wall_.year > last_year) return std::nullopt;
            if (!at_month()) continue;
            const int year = next_year();
            if (year < 0) return std::nullopt;
            if (year == wall_.year) return wall_.instant();
            move_to(year, 1, 1);
        }
    }

private:
    void to_second() {
        const int second = next_of(fields_.seconds, wall_.second);
        if (second < 0) ++wall_.minute;
        wall_.second = second < 0 ? first_of(fields_.seconds) : second;
        wall_.settle();
    }

    // These answer whether the field already fits; if not, the calendar has moved forward.

    bool at_minute() {
        const int minute = next_of(fields_.minutes, wall_.minute);
        if (minute == wall_.minute) return true;
        const int hour = minute < 0 ? wall_.hour + 1 : wall_.hour;
        wall_.minute = minute < 0 ? first_of(fields_.minutes) : minute;
        wall_.second = 0;
        set_hour(hour);
        return false;
    }

    bool at_hour() {
        const int hour = next_of(fields_.hours, wall_.hour);
        if (hour == wall_.hour) return true;
        if (hour < 0) ++wall_.day;
        wall_.minute = 0;
        wall_.second = 0;
        set_hour(hour < 0 ? first_of(fields_.hours) : hour);
        return false;
    }

    bool at_month() {
        const int month = next_of(fields_.months, wall_.month);
        if (month == wall_.month) return true;
        if (month < 0) {
            move_to(wall_.year + 1, first_of(fields_.months), 1);
        } else {
            move_to(wall_.year, month, 1);
        }
        return false;
    }

    [[nodiscard]] int next_year() const {
        for (int year = std::max(wall_.year, CronFields::kFirstYear); year <= CronFields::kLastYear;
             ++year) {
            if (fields_.years[static_cast<std::size_t>(year - CronFields::kFirstYear)]) return year;
        }
        return -1;
    }

    bool at_day() {
        if (fields_.by_week_day) return at_week_day();
        if (fields_.nearest_working_day) return at_working_day();
        if (fields_.last_day) {
            const int day = last_day_of(wall_.year, wall_.month) - fields_.before_last_day;
            if (wall_.day == day) return true;
            if (wall_.day > day) {
                move_to(wall_.year, wall_.month + 1, 1);
            } else {
                move_to(wall_.year, wall_.month, day);
            }
            return false;
        }
        const int day = next_of(fields_.days, wall_.day);
        if (day >= 0 && day <= last_day_of(wall_.year, wall_.month)) {
            if (day == wall_.day) return true;
            move_to(wall_.year, wall_.month, day);
        } else {
            move_to(wall_.year, wall_.month + 1, first_of(fields_.days));
        }
        return false;
    }

    // The working day nearest to one of this month, within the month.
    bool at_working_day() {
        const int last = last_day_of(wall_.year, wall_.month);
        const int wanted =
            fields_.last_day ? last - fields_.before_last_day : first_of(fields_.days);
        WallCalendar target = wall_;
        target.day = wanted;
        target.hour = target.minute = target.second = 0;
        const int week_day = target.week_day();
        int day = wanted;
        if (week_day == 7) day += wanted == 1 ? 2 : -1;
        if (week_day == 1) day += wanted == last ? -2 : 1;

        target = wall_;
        target.day = day;
        if (target.instant() < from_) {
            move_to(wall_.year, wall_.month + 1, fields_.last_day ? 1 : wanted);
            return false;
        }
        if (day == wall_.day) return true;
        move_to(wall_.year, wall_.month, day);
        return false;
    }

    bool at_week_day() {
        const int today = wall_.week_day();
        const bool one = fields_.last_of_week_day || fields_.nth_of_week_day != 0;
        int wanted = one ? -1 : next_of(fields_.week_days, today);
        if (wanted < 0) wanted = first_of(fields_.week_days);
        const int last = last_day_of(wall_.year, wall_.month);
        int day = wall_.day + (wanted - today + 7) % 7;
        if (fields_.last_of_week_day) {
            if (day <= last) day += (last - day) / 7 * 7;
        } else if (fields_.nth_of_week_day != 0) {
            const int nth = (day + 6) / 7;
            day = nth > fields_.nth_of_week_day ? last + 1
                                                : day + (fields_.nth_of_week_day - nth) * 7;
        }
        if (day == wall_.day) return true;
        if (day > last) {
            move_to(wall_.year, wall_.month + 1, 1);
        } else {
            move_to(wall_.year, wall_.month, day);
        }
        return false;
    }

    void move_to(int year, int month, int day) {
        wall_.year = year;
        wall_.month = month;
        wall_.day = day;
        wall_.hour = wall_.minute = wall_.second = 0;
        wall_.settle();
    }

    // In the gap the calendar comes out an hour later and is left at the hour after.
    void set_hour(int hour) {
        wall_.hour = hour;
        wall_.settle();
        if (wall_.hour != hour && hour != 24) {
            wall_.hour = hour + 1;
            wall_.settle();
        }
    }

    const CronFields& fields_;
    sys_seconds from_;
    WallCalendar wall_;
};

}  // namespace

std::optional<sys_seconds> CronExpression::next_after(sys_seconds instant,
                                                      const CronTimeZone& zone) const {
    return Search{fields_, zone, instant + 1s}.run();
}

}  // namespace fencepost::model
