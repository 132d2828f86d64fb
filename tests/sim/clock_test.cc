// Goal: the clocks of a party drift and jump as told, and sleepers never wake too early on them.
#include <gtest/gtest.h>

#include "tests/sim/test_world.h"

namespace fencepost::sim::test {
namespace {

TEST(DriftingClockTest, AJumpMovesTheWallClockAndNotTheMonotonicOne) {
    DriftingClock clock{kStart};
    clock.jump(1h);
    clock.jump(-10min);
    EXPECT_EQ(clock.wall(kStart + 1s), kStart + 1s + 50min);
    EXPECT_EQ(clock.steady(kStart + 1s), kStart + 1s);
}

TEST(DriftingClockTest, DriftMovesBothClocksFromThenOn) {
    DriftingClock clock{kStart};
    clock.set_drift(kStart + 10s, 100'000);
    EXPECT_EQ(clock.steady(kStart + 10s), kStart + 10s);
    EXPECT_EQ(clock.steady(kStart + 20s), kStart + 21s);
    clock.set_drift(kStart + 20s, -100'000);
    EXPECT_EQ(clock.steady(kStart + 30s), kStart + 30s);
    clock.set_drift(kStart + 30s, 0);
    EXPECT_EQ(clock.steady(kStart + 40s), kStart + 40s);
    EXPECT_EQ(clock.wall(kStart + 40s), kStart + 40s);
}

TEST(DriftingClockTest, TheMonotonicClockNeverGoesBack) {
    const Random random{1};
    DriftingClock clock{kStart};
    Time now = kStart;
    Time shown = clock.steady(now);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        if (random.chance(200'000, 1, i)) {
            clock.set_drift(now,
                            static_cast<std::int64_t>(random.below(1'000'001, 2, i)) - 500'000);
        }
        if (random.chance(100'000, 3, i)) clock.jump(random.between(-1h, 1h, 4, i));
        now += Duration{static_cast<std::int64_t>(random.below(5, 5, i))};
        ASSERT_GE(clock.steady(now), shown);
        shown = clock.steady(now);
    }
}

TEST(DriftingClockTest, AfterIsTheFirstTimeAtWhichTheClockHasAdvanced) {
    const Random random{2};
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        DriftingClock clock{kStart};
        clock.set_drift(kStart, static_cast<std::int64_t>(random.below(1'000'001, 1, i)) - 500'000);
        const Time now = kStart + Duration{static_cast<std::int64_t>(random.below(1'000, 2, i))};
        const Duration local{1 + static_cast<std::int64_t>(random.below(5'000'000'000, 3, i) >>
                                                           random.below(33, 4, i))};
        const Time at = clock.after(now, local);
        ASSERT_GT(at, now);
        ASSERT_GE(clock.steady(at) - clock.steady(now), local);
        ASSERT_LE(clock.steady(at - 2ns) - clock.steady(now), local);
    }
}

TEST(DriftingClockTest, AnEndlessWaitDoesNotOverflow) {
    for (const std::int64_t ppm : {-500'000, 0, 500'000}) {
        DriftingClock clock{kStart};
        clock.set_drift(kStart, ppm);
        EXPECT_GT(clock.after(kStart + 1s, Duration::max()), kStart + 24h * 365 * 100) << ppm;
    }
}

TEST(NodeClockTest, ASleeperOnAFastClockWakesEarlyInTrueTime) {
    TestWorld world;
    Node& node = world.add("A", [&](Incarnation&) {
        world.kernel.sleep(11s);
        world.note("woke");
    });
    node.clock.set_drift(kStart, 100'000);
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"10s woke"}));
}

TEST(NodeClockTest, ASleeperOnASlowClockWakesLateInTrueTime) {
    TestWorld world;
    Node& node = world.add("A", [&](Incarnation&) {
        world.kernel.sleep(9s);
        world.note("woke");
    });
    node.clock.set_drift(kStart, -100'000);
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"10s woke"}));
}

TEST(NodeClockTest, AJumpDoesNotWakeASleeper) {
    TestWorld world;
    Node& node = world.add("A", [&](Incarnation&) {
        world.kernel.sleep(10s);
        world.note("woke");
    });
    world.kernel.schedule(kStart + 1s, [&] { node.clock.jump(1h); });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"10s woke"}));
}

TEST(NodeClockTest, WaitingForADeadlineOnADriftingClockGetsThereInFewSteps) {
    for (const std::int64_t ppm : {-500'000, -333'333, -1, 1, 7, 333'333, 500'000}) {
        TestWorld world;
        Node* node = &world.add("A", [&](Incarnation&) {
            const Time deadline = node->clock.steady(world.kernel.now()) + 1s;
            for (Time now{}; (now = node->clock.steady(world.kernel.now())) < deadline;)
                world.kernel.sleep(deadline - now);
            world.note("done");
        });
        node->clock.set_drift(kStart, ppm);
        world.start_and_run_for(1min);
        EXPECT_EQ(world.log.size(), 1U) << ppm;
        EXPECT_LE(world.kernel.steps(), 3U) << ppm;
    }
}

}  // namespace
}  // namespace fencepost::sim::test
