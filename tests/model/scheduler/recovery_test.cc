// Nodes that die, stand still, or lose an answer; what the cluster makes of it.
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class RecoveryTest : public SchedulerRun {
protected:
    // One fault at the calls of that pattern.
    void arm(std::string at, sim::Phase phase, sim::FaultKind kind) {
        plan_.faults.push_back({});
        plan_.faults.back().at = std::move(at);
        plan_.faults.back().phase = phase;
        plan_.faults.back().kind = kind;
        kernel().arm(plan_, world_);
    }
    void forget_instances() {
        kernel().boot(kernel().add_node("operator", [this](sim::Incarnation& incarnation) {
            world_.ports_of(incarnation)
                .database.connect()
                ->execute("DELETE FROM qrtz_scheduler_state");
        }));
    }
};

TEST_F(RecoveryTest, AKilledNodesFireRunsAgainOnItsPeerAfterDetection) {
    job_time_ = 10s;
    boot({due_at({2s})});
    sim::Node& first = run_until_a_job_runs();
    run_until(4s);
    kernel().crash(first, std::nullopt);
    run_until(60s);

    ASSERT_EQ(runs_.size(), 2U);
    const JobRun& again = runs_[1];
    EXPECT_EQ(again.node, other_than(first).name());
    EXPECT_TRUE(again.fire.recovering);
    EXPECT_EQ(again.fire.scheduled_fire_time, kStart + 2s);
    EXPECT_NE(again.fire.fire_instance_id, runs_[0].fire.fire_instance_id);
    // Its last check-in was at the start; 15 s later the next check-in of its peer finds it.
    EXPECT_GE(again.started, kStart + 15s);
    EXPECT_LE(again.started, kStart + 15s + 8s);
    EXPECT_EQ(count<NodeDeclaredFailed>(), 1);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, AJobThatDoesNotRequestRecoveryIsNotRunAgain) {
    job_time_ = 10s;
    auto job = due_at({2s, 40s});
    job.requests_recovery = false;
    boot({job});
    kernel().crash(run_until_a_job_runs(), std::nullopt);
    run_until(60s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[1].fire.scheduled_fire_time, kStart + 40s);
    EXPECT_FALSE(runs_[1].fire.recovering);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, ATriggerThatADeadNodeHeldIsFreed) {
    boot({due_at({5s})}, {}, {"A"});
    run_until(1s);
    EXPECT_EQ(trigger_state(), "ACQUIRED");
    boot_node("B");
    run_until(2s);
    kernel().crash(node("A"), std::nullopt);
    run_until(60s);

    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_EQ(runs_[0].node, "B");
    EXPECT_EQ(runs_[0].fire.scheduled_fire_time, kStart + 5s);
    EXPECT_FALSE(runs_[0].fire.recovering);
    EXPECT_GE(runs_[0].started, kStart + 15s);
    EXPECT_LE(runs_[0].started, kStart + 24s);
}

TEST_F(RecoveryTest, ANodeThatStartsAgainRecoversItsOwnFiresAtOnce) {
    job_time_ = 5s;
    boot({due_at({2s})});
    sim::Node& first = run_until_a_job_runs();
    kernel().crash(first, 1s);
    run_until(4s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[1].node, first.name());
    EXPECT_TRUE(runs_[1].fire.recovering);
    run_until(60s);
    EXPECT_EQ(runs_.size(), 2U);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, WithInstanceIdsOfTheirOwnOnlyAPeerRecoversIt) {
    job_time_ = 5s;
    boot({due_at({2s})}, {.instance_ids = InstanceIds::PerIncarnation});
    kernel().crash(run_until_a_job_runs(), 1s);
    run_until(60s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_GE(runs_[1].started, kStart + 15s);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, ARecoveryRunThatDiesIsRecoveredWithTheOriginalTime) {
    job_time_ = 10s;
    boot({due_at({2s})});
    kernel().crash(run_until_a_job_runs(), 60s);
    kernel().crash(run_until_a_job_runs(), 5s);
    run_until(120s);

    ASSERT_EQ(runs_.size(), 3U);
    EXPECT_EQ(runs_[2].fire.scheduled_fire_time, kStart + 2s);
    EXPECT_TRUE(runs_[2].fire.recovering);
    EXPECT_TRUE(idle());
    EXPECT_EQ(trigger_state(), "none");
}

TEST_F(RecoveryTest, ANodePausedPastDetectionRunsOnBesideTheRecoveryRun) {
    job_time_ = 10s;
    boot({due_at({2s})});
    sim::Node& first = run_until_a_job_runs();
    kernel().pause(first, 20s);
    run_until(80s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_NE(runs_[1].node, runs_[0].node);
    EXPECT_TRUE(runs_[1].fire.recovering);
    EXPECT_TRUE(runs_[0].overlaps(runs_[1]));
    EXPECT_GE(*runs_[0].ended, kStart + 22s);
    EXPECT_EQ(count<NodeDeclaredFailed>(), 1);
    // It has checked in again and counts as alive.
    const auto states =
        world_.database().read_committed("SELECT instance_name FROM qrtz_scheduler_state");
    EXPECT_EQ(states.rows(), 2U);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, AShortPauseIsNoFailure) {
    job_time_ = 3s;
    boot({due_at({2s})});
    kernel().pause(run_until_a_job_runs(), 6s);
    run_until(60s);
    EXPECT_EQ(runs_.size(), 1U);
    EXPECT_EQ(count<NodeDeclaredFailed>(), 0);
}

// The trigger's state is all that a fire asks for (the known weakness of the store).
TEST_F(RecoveryTest, ANodePausedWithAHeldTriggerFiresItASecondTime) {
    job_time_ = 1s;
    auto job = due_at({5s, 70s, 75s});
    boot({job}, {}, {"A"});
    run_until(1s);
    boot_node("B");
    run_until(2s);
    kernel().pause(node("A"), 50s);
    run_until(45s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_EQ(runs_[0].node, "B");
    run_until(53s);  // B holds the trigger for the next instant by now
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[1].node, "A");
    EXPECT_EQ(runs_[1].fire.scheduled_fire_time, kStart + 5s);
    run_until(160s);
    EXPECT_EQ(runs_.size(), 4U);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, OrphansAreRecoveredByTheFirstCheckInOfANewNode) {
    job_time_ = 3s;
    set_up({due_at({2s})}, {.instance_ids = InstanceIds::PerIncarnation});
    boot_node("A");
    run_until_a_job_runs();
    kernel().crash(node("A"), std::nullopt);
    // Nobody has a row of its own any more: as when it was deleted before the next check-in.
    at(3s, [this] { forget_instances(); });
    at(4s, [this] { boot_node("B"); });
    run_until(5s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[1].node, "B");
    EXPECT_TRUE(runs_[1].fire.recovering);
}

TEST_F(RecoveryTest, ALostAnswerToTheCommitOfAnAcquireIsLookedUp) {
    boot({due_at({5s})}, {}, {"A"});
    arm("A#1/scheduler/db.commit/1", sim::Phase::Applied, sim::FaultKind::Reset);
    run_until(10s);

    EXPECT_TRUE(fault_struck());
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_LT(runs_[0].started, kStart + 5s + 100ms);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, ALostAnswerToTheCommitOfAFireStartsTheJobOnce) {
    boot({due_at({5s})}, {}, {"A"});
    arm("A#1/scheduler/db.commit/2", sim::Phase::Applied, sim::FaultKind::Reset);
    run_until(10s);

    EXPECT_TRUE(fault_struck());
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_LT(runs_[0].started, kStart + 5s + 100ms);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, ACommitOfAFireThatNeverArrivedIsTriedAnew) {
    boot({due_at({5s})}, {}, {"A"});
    arm("A#1/scheduler/db.commit/2", sim::Phase::Sent, sim::FaultKind::Reset);
    run_until(60s);

    EXPECT_TRUE(fault_struck());
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_EQ(runs_[0].fire.scheduled_fire_time, kStart + 5s);
    EXPECT_TRUE(idle());
}

TEST_F(RecoveryTest, ALostAnswerToTheCommitOfACompletionRunsNothingAgain) {
    boot({due_at({5s, 40s})}, {}, {"A"});
    arm("A#1/reconcile@2026-03-02T18:00:05Z/db.commit/1", sim::Phase::Applied,
        sim::FaultKind::Reset);
    run_until(60s);

    EXPECT_TRUE(fault_struck());
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[1].fire.scheduled_fire_time, kStart + 40s);
    EXPECT_TRUE(idle());
}

// Whatever the call at which a node dies: everything due runs, and nothing is left open.
TEST_F(RecoveryTest, ACrashAtAnyCallOfTheSchedulerLeavesNothingOpen) {
    for (const char* task : {"scheduler", "check-in", "reconcile@2026-03-02T18:00:02Z"}) {
        for (const char* operation : {"db.begin", "db.query", "db.execute", "db.commit"}) {
            for (int ordinal = 1; ordinal <= 5; ++ordinal) {
                for (const sim::Phase phase : {sim::Phase::Before, sim::Phase::Applied}) {
                    SCOPED_TRACE(std::string(task) + "/" + operation + "/" +
                                 std::to_string(ordinal) + " " + std::string(sim::name_of(phase)));
                    runs_.clear();
                    plan_.faults.clear();
                    boot({due_at({2s, 8s})});
                    arm("*#1/" + std::string(task) + "/" + operation + "/" +
                            std::to_string(ordinal),
                        phase, sim::FaultKind::Crash);
                    run_until(90s);
                    kernel().heal_nodes();
                    run_until(120s);
                    EXPECT_EQ(open_work(), std::vector<std::string>{});
                    for (const sim::Time due : {kStart + 2s, kStart + 8s}) {
                        EXPECT_TRUE(std::ranges::any_of(runs_, [&](const JobRun& run) {
                            return run.fire.scheduled_fire_time == due;
                        }));
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace fencepost::model
