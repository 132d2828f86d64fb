// Instants that nobody fired in time.
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class MisfireTest : public SchedulerRun {
protected:
    // No node is up until two minutes after the start.
    void start_late(std::vector<sim::Duration> due, MisfirePolicy policy) {
        auto job = due_at(std::move(due));
        job.misfire = policy;
        set_up({job});
        at(120s, [this] { boot_node("A"); });
        at(120s, [this] { boot_node("B"); });
    }
};

TEST_F(MisfireTest, SmartFiresOnceWithTheMomentOfHandling) {
    start_late({10s, 20s, 30s, 150s}, MisfirePolicy::Smart);
    run_until(200s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_GT(scheduled()[0], 120s);
    EXPECT_LT(scheduled()[0], 121s);
    EXPECT_EQ(scheduled()[1], 150s);
    EXPECT_TRUE(idle());
}

TEST_F(MisfireTest, AOneShotThatMisfiredFiresNow) {
    start_late({10s}, MisfirePolicy::Smart);
    run_until(200s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_GT(scheduled()[0], 120s);
    EXPECT_TRUE(idle());
}

TEST_F(MisfireTest, DoNothingDropsWhatWasMissed) {
    start_late({10s, 20s, 150s}, MisfirePolicy::DoNothing);
    run_until(200s);
    EXPECT_EQ(scheduled(), std::vector<sim::Duration>{150s});
    EXPECT_TRUE(idle());
}

TEST_F(MisfireTest, IgnoreFiresEachMissedInstantWithItsOwnTime) {
    start_late({10s, 20s, 150s}, MisfirePolicy::Ignore);
    run_until(200s);
    EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{10s, 20s, 150s}));
    EXPECT_LT(runs_[1].started, kStart + 122s);
}

TEST_F(MisfireTest, WithinTheThresholdNothingMisfires) {
    start_late({70s, 80s}, MisfirePolicy::DoNothing);
    run_until(200s);
    EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{70s, 80s}));
}

TEST_F(MisfireTest, AJobThatIsStillRunningStaysBlocked) {
    job_time_ = 200s;
    boot({due_at({2s, 10s, 20s})});
    run_until(500s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_FALSE(runs_[1].overlaps(runs_[0]));
}

TEST_F(MisfireTest, EveryNodeAppliesThePolicyToo) {
    job_time_ = 100s;
    boot({due_at({2s, 10s, 20s})}, {.mode = SchedulerMode::EveryNode}, {"A"});
    run_until(300s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_GE(scheduled()[1], 102s);
    EXPECT_TRUE(idle());
}

}  // namespace
}  // namespace fencepost::model
