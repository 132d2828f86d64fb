// Without a cluster each node fires by itself.
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class EveryNodeTest : public SchedulerRun {
protected:
    static constexpr SchedulerOptions kEveryNode{.mode = SchedulerMode::EveryNode};
};

TEST_F(EveryNodeTest, EachInstantFiresOnEveryNodeUnderAnIdOfItsOwn) {
    boot({due_at({2s, 40s})}, kEveryNode);
    run_until(50s);

    ASSERT_EQ(runs_.size(), 4U);
    EXPECT_NE(runs_[0].node, runs_[1].node);
    EXPECT_EQ(runs_[0].fire.scheduled_fire_time, runs_[1].fire.scheduled_fire_time);
    EXPECT_NE(runs_[0].fire.fire_instance_id, runs_[1].fire.fire_instance_id);
    EXPECT_EQ(runs_[2].fire.scheduled_fire_time, kStart + 40s);
    EXPECT_TRUE(statements().empty());
    EXPECT_TRUE(idle());
}

TEST_F(EveryNodeTest, EachNodeWritesTheInstantInItsOwnZoneAndOneWithoutAZoneWritesNone) {
    SchedulerOptions options = kEveryNode;
    options.zones = {{"A", "Asia/Shanghai"}};
    boot({due_at({2s})}, options);
    run_until(10s);

    ASSERT_EQ(runs_.size(), 2U);
    for (const JobRun& run : runs_) {
        EXPECT_EQ(run.fire.scheduled_text,
                  run.node == "A" ? CronTimeZone::find("Asia/Shanghai")->text(kStart + 2s) : "");
    }
    EXPECT_EQ(count<InstantWritten>(), 1);
}

TEST_F(EveryNodeTest, EachNodeGoesByItsOwnClock) {
    boot({due_at({10s})}, kEveryNode);
    node("B").clock.set_drift(kStart, 500'000);  // half as fast again
    run_until(20s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[0].node, "B");
    EXPECT_LT(runs_[0].started, kStart + 7s);
    EXPECT_EQ(runs_[1].started, kStart + 10s);
}

TEST_F(EveryNodeTest, ANodeThatIsDownMissesTheInstant) {
    boot({due_at({5s, 30s})}, kEveryNode);
    at(2s, [this] { kernel().crash(node("A"), 10s); });
    run_until(40s);

    ASSERT_EQ(runs_.size(), 3U);
    EXPECT_EQ(runs_[0].node, "B");
    EXPECT_TRUE(idle());
}

TEST_F(EveryNodeTest, ANonConcurrentJobWaitsForItselfOnItsNode) {
    job_time_ = 5s;
    boot({due_at({2s, 4s})}, kEveryNode, {"A"});
    run_until(20s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_FALSE(runs_[1].overlaps(runs_[0]));
}

}  // namespace
}  // namespace fencepost::model
