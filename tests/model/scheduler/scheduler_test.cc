// A healthy cluster, and faults that end no process.
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class SchedulerTest : public SchedulerRun {};

TEST_F(SchedulerTest, ADueInstantFiresOnceOnOneOfTwoNodes) {
    boot({due_at({2s})});
    run_until(4s);

    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_GE(runs_[0].started, kStart + 2s);
    EXPECT_LT(runs_[0].started, kStart + 2s + 50ms);
    EXPECT_EQ(runs_[0].fire.tenant, "acme");
    EXPECT_EQ(runs_[0].fire.job, "reconcile");
    EXPECT_EQ(runs_[0].fire.scheduled_fire_time, kStart + 2s);
    EXPECT_FALSE(runs_[0].fire.recovering);
    EXPECT_EQ(count<FireStarted>(), 1);
    EXPECT_EQ(count<FireEnded>(), 1);
    EXPECT_EQ(trigger_state(), "none");
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, ARunWithoutFaultsTakesFewStatements) {
    boot({due_at({2s})});
    run_until(4s);

    int all = 0;
    for (const auto& [operation, times] : statements()) {
        if (operation != "db.connect") all += times;
        RecordProperty(operation, times);
    }
    EXPECT_LE(all, 45);
    EXPECT_LE(statements()["db.connect"], 4);
}

TEST_F(SchedulerTest, EachInstantFiresOnceAndTheTaskBearsItsName) {
    boot({{.tenant = "acme",
           .job = "reconcile",
           .schedule = Schedule::every(kStart + 2s, 5s, 10),
           .trigger = {}}});
    run_until(60s);

    ASSERT_EQ(runs_.size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(runs_[i].fire.scheduled_fire_time, kStart + 2s + i * 5s);
        EXPECT_LT(runs_[i].started, kStart + 2s + i * 5s + 100ms);
    }
    const sim::History& history = kernel().history();
    EXPECT_EQ(std::ranges::count_if(
                  std::views::iota(sim::TaskId{0}, static_cast<sim::TaskId>(history.tasks())),
                  [&](sim::TaskId id) {
                      return history.task(id).name == "reconcile@2026-03-02T18:00:07Z";
                  }),
              1);
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, TasksAreNamedByTenantWhereThereAreSeveral) {
    auto other = due_at({2s});
    other.tenant = "globex";
    boot({due_at({2s}), other});
    run_until(4s);

    EXPECT_EQ(runs_.size(), 2U);
    EXPECT_EQ(cluster_->name_of(other, kStart + 2s), "globex:reconcile@2026-03-02T18:00:02Z");
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, ANonConcurrentJobNeverOverlapsWithItselfAndLosesNoInstant) {
    job_time_ = 3s;
    boot({due_at({2s, 3s, 4s, 5s})});
    run_until(60s);

    ASSERT_EQ(runs_.size(), 4U);
    for (std::size_t i = 1; i < 4; ++i) {
        EXPECT_FALSE(runs_[i].overlaps(runs_[i - 1]));
        EXPECT_EQ(runs_[i].fire.scheduled_fire_time, kStart + 2s + i * 1s);
    }
}

TEST_F(SchedulerTest, AConcurrentJobRunsBesideItself) {
    job_time_ = 3s;
    auto job = due_at({2s, 3s});
    job.disallow_concurrent = false;
    boot({job});
    run_until(10s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_TRUE(runs_[1].overlaps(runs_[0]));
}

TEST_F(SchedulerTest, OtherTriggersOfANonConcurrentJobWaitOnItsNode) {
    job_time_ = 5s;
    auto second = due_at({4s});
    second.trigger = "second";
    boot({due_at({2s}), second}, {}, {"A"});
    run_until(60s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_FALSE(runs_[1].overlaps(runs_[0]));
    EXPECT_EQ(runs_[1].fire.scheduled_fire_time, kStart + 4s);
}

// As in Quartz (its issue 674): the peer that holds the blocked trigger is refused its fire, and
// giving the trigger back unblocks it.
TEST_F(SchedulerTest, ATriggerThatAPeerHoldsOverlapsWithTheRunOfANonConcurrentJob) {
    job_time_ = 5s;
    auto second = due_at({4s});
    second.trigger = "second";
    boot({due_at({2s}), second});
    run_until(60s);

    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_TRUE(runs_[1].overlaps(runs_[0]));
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, AFailingJobIsRecordedAndTheScheduleGoesOn) {
    listener_ = [](const jobs::Fire&) { throw std::runtime_error("no ledger"); };
    boot({due_at({2s, 4s})});
    run_until(6s);

    std::vector<std::string> outcomes;
    for (sim::RecordId id = 0; id < kernel().history().size(); ++id) {
        if (const auto ended = kernel().history()[id].as<FireEnded>()) {
            outcomes.emplace_back(ended->outcome);
        }
    }
    EXPECT_EQ(outcomes, (std::vector<std::string>{"failed: no ledger", "failed: no ledger"}));
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, BatchesAreTakenWithinTheLock) {
    std::vector<ScheduledJob> jobs;
    for (int i = 0; i < 5; ++i) {
        jobs.push_back(due_at({2s, 4s}));
        jobs.back().job = "job-" + std::to_string(i);
    }
    boot(jobs, {.batch = 3});
    run_until(8s);

    EXPECT_EQ(runs_.size(), 10U);
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, OpenWorkNamesWhatIsNotDone) {
    job_time_ = 5s;
    boot({due_at({2s, 60s})});
    run_until(1s);
    EXPECT_TRUE(idle());
    run_until(3s);
    EXPECT_FALSE(idle());
    const auto lines = open_work();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0], runs_[0].node + " runs reconcile@2026-03-02T18:00:02Z");
    EXPECT_EQ(lines[1], "fire " + runs_[0].fire.fire_instance_id +
                            " of acme.reconcile@2026-03-02T18:00:02Z is EXECUTING on " +
                            runs_[0].node);
    run_until(10s);
    EXPECT_EQ(open_work(), std::vector<std::string>{});
}

TEST_F(SchedulerTest, AGracefulStopWaitsForTheJobAndChecksInMeanwhile) {
    job_time_ = 40s;
    boot({due_at({2s})});
    sim::Node& runner = run_until_a_job_runs();
    kernel().stop_gracefully(runner, 60s, std::nullopt);
    run_until(41s);
    EXPECT_TRUE(runner.up());
    run_until(43s);
    EXPECT_FALSE(runner.up());
    run_until(80s);
    EXPECT_EQ(runs_.size(), 1U);
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, AStoppingNodeFiresNothingNew) {
    boot({due_at({5s})});
    run_until(1s);
    kernel().stop_gracefully(node("A"), 1s, std::nullopt);
    kernel().stop_gracefully(node("B"), 1s, std::nullopt);
    run_until(10s);
    EXPECT_EQ(runs_.size(), 0U);
    EXPECT_FALSE(idle());
    boot_node("C");
    run_until(50s);
    EXPECT_EQ(runs_.size(), 1U);
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, ADatabaseThatIsAwayForAWhileDelaysFiresAndLosesNone) {
    boot({due_at({4s, 6s, 8s})});
    at(3s, [this] { world_.database().restart(4s); });
    run_until(80s);
    ASSERT_EQ(runs_.size(), 3U);
    EXPECT_EQ(count<NodeDeclaredFailed>(), 0);
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, AJobThatEndsWhileTheDatabaseIsAwayIsCompletedByARetry) {
    job_time_ = 4s;
    boot({due_at({2s, 8s})});
    at(5s, [this] { world_.database().restart(3s); });
    run_until(15s);
    EXPECT_EQ(trigger_state(), "BLOCKED");
    run_until(60s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_GE(runs_[1].started, kStart + 21s);
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, TwoRunsFromOneSeedAreTheSame) {
    const auto fingerprint = [this] {
        runs_.clear();
        boot({due_at({2s, 7s, 40s})});
        run_until(60s);
        return kernel().history().fingerprint();
    };
    const std::uint64_t first = fingerprint();
    EXPECT_EQ(fingerprint(), first);
    seed_ = 2;
    EXPECT_NE(fingerprint(), first);
}

TEST_F(SchedulerTest, ARefireHandsOneFireToBothNodes) {
    boot({due_at({2s, 6s})});
    cluster_->refire_next(node("B"));
    run_until(10s);

    ASSERT_EQ(runs_.size(), 3U);
    EXPECT_NE(runs_[0].node, runs_[1].node);
    EXPECT_EQ(runs_[0].fire.scheduled_fire_time, runs_[1].fire.scheduled_fire_time);
    EXPECT_NE(runs_[0].fire.fire_instance_id, runs_[1].fire.fire_instance_id);
    EXPECT_TRUE(runs_[0].overlaps(runs_[1]));
    EXPECT_TRUE(idle());
}

TEST_F(SchedulerTest, ADelayedFireReachesItsJobLate) {
    boot({due_at({2s, 30s})});
    cluster_->delay_next_fire(node("A"), 10s);
    cluster_->delay_next_fire(node("B"), 10s);
    run_until(20s);

    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_GE(runs_[0].started, kStart + 12s);
    EXPECT_EQ(runs_[0].fire.scheduled_fire_time, kStart + 2s);
}

}  // namespace
}  // namespace fencepost::model
