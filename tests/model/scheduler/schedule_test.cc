#include "model/scheduler/schedule.h"

#include <gtest/gtest.h>

#include "sim/require.h"

namespace fencepost::model {
namespace {

using namespace std::chrono_literals;
using sim::Time;

const Time kNoon = *sim::parse_time("2026-03-02T12:00:00Z");

TEST(ScheduleTest, InstantsComeInOrderAndOnce) {
    const Schedule schedule = Schedule::at({kNoon + 2s, kNoon, kNoon + 2s});
    EXPECT_EQ(schedule.first(), kNoon);
    EXPECT_EQ(schedule.next_after(kNoon - 1h), kNoon);
    EXPECT_EQ(schedule.next_after(kNoon), kNoon + 2s);
    EXPECT_EQ(schedule.next_after(kNoon + 2s), std::nullopt);
}

TEST(ScheduleTest, IntervalsStayOnTheirGrid) {
    const Schedule schedule = Schedule::every(kNoon, 10s, 3);
    EXPECT_EQ(schedule.next_after(kNoon - 1ns), kNoon);
    EXPECT_EQ(schedule.next_after(kNoon + 1s), kNoon + 10s);
    EXPECT_EQ(schedule.next_after(kNoon + 19s), kNoon + 20s);
    EXPECT_EQ(schedule.next_after(kNoon + 20s), std::nullopt);
    EXPECT_EQ(schedule.instants_until(kNoon + 10s), (std::vector<Time>{kNoon, kNoon + 10s}));
}

TEST(ScheduleTest, AnInstantFinerThanTheStoreIsRefused) {
    EXPECT_THROW(static_cast<void>(Schedule::at({kNoon + 1us})), sim::BrokenInvariant);
    EXPECT_THROW(static_cast<void>(Schedule::at({})), sim::BrokenInvariant);
}

TEST(ScheduleTest, ACronScheduleIsDueOnTheClockOfItsZone) {
    const Schedule schedule =
        Schedule::cron("0 0 2 * * ?", "Asia/Shanghai", {.from = kNoon, .until = kNoon + 60h});
    EXPECT_EQ(schedule.first(), kNoon + 6h);
    EXPECT_EQ(schedule.next_after(kNoon - 48h), kNoon + 6h);
    EXPECT_EQ(schedule.next_after(kNoon + 6h - 1ns), kNoon + 6h);
    EXPECT_EQ(schedule.next_after(kNoon + 6h), kNoon + 30h);
    EXPECT_EQ(schedule.next_after(kNoon + 54h), std::nullopt);
    EXPECT_EQ(schedule.instants_between(kNoon + 7h, kNoon + 54h),
              (std::vector<Time>{kNoon + 30h, kNoon + 54h}));
}

TEST(ScheduleTest, TheSecondInWhichACronScheduleStartsCountsWhole) {
    const Schedule schedule = Schedule::cron("0 * * * * ?", "UTC", {.from = kNoon + 300ms});
    EXPECT_EQ(schedule.first(), kNoon);
}

TEST(ScheduleTest, ABadCronScheduleIsRefusedInWords) {
    const auto refusal = [](const char* expression, const char* zone, const CronSpan& span = {}) {
        try {
            static_cast<void>(Schedule::cron(expression, zone, span));
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(refusal("0 0 24 * * ?", "UTC"),
              "cron expression \"0 0 24 * * ?\": at position 5: 24 is out of range: hours takes 0 "
              "to 23");
    EXPECT_EQ(refusal("0 0 2 * * ?", "Shanghai"),
              "the system knows no time zone \"Shanghai\"; one is called as \"Europe/Berlin\"");
    EXPECT_EQ(refusal("0 0 2 * * ?", "UTC", {.from = kNoon, .until = kNoon + 1h}),
              "cron expression \"0 0 2 * * ?\" is never due in its span");
}

}  // namespace
}  // namespace fencepost::model
