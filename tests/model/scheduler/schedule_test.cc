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

}  // namespace
}  // namespace fencepost::model
