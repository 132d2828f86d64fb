// What a cluster of Quartz 2.3.2 was seen to do about misfires, a database that was away, lost
// answers to COMMIT and clocks that differ, fact by fact.
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class QuartzOutageFacts : public SchedulerRun {
protected:
    static constexpr sim::Duration kCheckIn = 1s;
    static constexpr sim::Duration kThreshold = 3s;
    static constexpr sim::Duration kRetry = 15s;
    static constexpr SchedulerOptions kOptions{.check_in = kCheckIn,
                                               .misfire_threshold = kThreshold};

    static ScheduledJob each_five_seconds() {
        ScheduledJob job = due_at({});
        job.schedule = Schedule::cron("0/5 * * * * ?", "UTC", {.from = kStart + 1s});
        job.disallow_concurrent = false;
        return job;
    }
    // Nobody is up before 22 s: the instants 5, 10, 15 and 20 s are missed.
    void start_after_22s(ScheduledJob job, SchedulerOptions options = kOptions) {
        set_up({std::move(job)}, options);
        at(22s, [this] { boot_node("A"); });
        at(22s, [this] { boot_node("B"); });
    }
};

// --- misfires

TEST_F(QuartzOutageFacts, Q_MIS_1_SmartFiresOnceOffTheGridAndThenOnIt) {
    start_after_22s(each_five_seconds());
    run_until(31s);
    ASSERT_EQ(runs_.size(), 3U);
    EXPECT_GE(scheduled()[0], 22s);
    EXPECT_LT(scheduled()[0], 22s + 500ms);
    EXPECT_EQ(scheduled()[1], 25s);
    EXPECT_EQ(scheduled()[2], 30s);
}

TEST_F(QuartzOutageFacts, Q_MIS_3_IgnoreFiresEachMissedInstantWithItsOwnTime) {
    auto job = each_five_seconds();
    job.misfire = MisfirePolicy::Ignore;
    start_after_22s(job);
    run_until(26s);
    EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{5s, 10s, 15s, 20s, 25s}));
    EXPECT_LT(runs_[3].started, kStart + 22s + 500ms);
}

TEST_F(QuartzOutageFacts, Q_MIS_4_WithinTheThresholdEveryFireIsMadeUpInOrder) {
    for (const MisfirePolicy policy :
         {MisfirePolicy::Smart, MisfirePolicy::DoNothing, MisfirePolicy::Ignore}) {
        runs_.clear();
        auto job = each_five_seconds();
        job.misfire = policy;
        auto options = kOptions;
        options.misfire_threshold = 60s;
        start_after_22s(job, options);
        run_until(26s);
        EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{5s, 10s, 15s, 20s, 25s}));
        EXPECT_LT(runs_[3].started, kStart + 22s + 500ms);
    }
}

TEST_F(QuartzOutageFacts, Q_MIS_6_AOneShotThatIsPastFiresOnceNow) {
    start_after_22s(due_at({5s}));
    run_until(60s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_GE(scheduled()[0], 22s);
    EXPECT_LT(scheduled()[0], 22s + 500ms);
}

TEST_F(QuartzOutageFacts, Q_MIS_7_WhatAKilledNodeHeldIsFreedBeforeMisfiresAreHandled) {
    boot({each_five_seconds()}, kOptions, {"A"});
    run_until(3s);
    ASSERT_EQ(trigger_state(), "ACQUIRED");
    kernel().crash(node("A"), std::nullopt);
    at(22s, [this] { boot_node("B"); });
    run_until(26s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_GE(scheduled()[0], 22s);
    EXPECT_LT(scheduled()[0], 22s + 500ms);
    EXPECT_EQ(scheduled()[1], 25s);
}

// --- the database is away

TEST_F(QuartzOutageFacts, Q_DB_1_ARunningJobDoesNotNoticeAShortOutage) {
    job_time_ = 8s;
    boot({due_at({2s})}, kOptions);
    run_until_a_job_runs();
    at(3s, [this] { world_.database().restart(3100ms); });
    run_until(60s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_EQ(count<NodeDeclaredFailed>(), 0);
    EXPECT_TRUE(idle());
}

TEST_F(QuartzOutageFacts, Q_DB_3_ACompletionThatFailedIsRetriedAfterTheRetryInterval) {
    job_time_ = 2s;
    boot({due_at({2s, 6s})}, kOptions);
    run_until_a_job_runs();
    at(3s, [this] { world_.database().restart(1500ms); });
    run_until(4s + kRetry - 200ms);
    EXPECT_EQ(trigger_state(), "BLOCKED");
    EXPECT_EQ(stored("SELECT state FROM qrtz_fired_triggers"), "EXECUTING");
    run_until(60s);
    ASSERT_EQ(runs_.size(), 2U);
    // The instant that it kept blocked has become a misfire.
    EXPECT_GE(scheduled()[1], 4s + kRetry);
    EXPECT_LE(scheduled()[1], 4s + kRetry + kThreshold + 200ms);
}

// With a pool that waits for the database; others are refused and give the trigger back.
TEST_F(QuartzOutageFacts, Q_DB_4_AHeldTriggerFiresLateWithItsTimeAndAWaitingOneMisfires) {
    auto held = each_five_seconds();
    auto waiting = each_five_seconds();
    waiting.job = "waiting";
    auto options = kOptions;
    options.connection_patience = 30s;
    boot({held, waiting}, options, {"A"});
    at(4900ms, [this] { world_.database().restart(9s); });
    run_until(16s);
    const auto late = runs_of("reconcile");
    ASSERT_EQ(late.size(), 3U);
    EXPECT_EQ(late[0].fire.scheduled_fire_time, kStart + 5s);
    EXPECT_GE(late[0].started, kStart + 13900ms);
    EXPECT_GE(late[1].fire.scheduled_fire_time, kStart + 13900ms);  // a misfire
    EXPECT_LT(late[1].started, kStart + 15s);
    EXPECT_EQ(late[2].fire.scheduled_fire_time, kStart + 15s);
    const auto missed = runs_of("waiting");
    ASSERT_EQ(missed.size(), 2U);
    EXPECT_GE(missed[0].fire.scheduled_fire_time, kStart + 13900ms);
    EXPECT_EQ(missed[1].fire.scheduled_fire_time, kStart + 15s);
    EXPECT_EQ(duplicates(), 0);
}

TEST_F(QuartzOutageFacts, Q_DB_6_AnOutageForAllMakesNobodyFail) {
    job_time_ = 30s;
    boot({due_at({2s})}, kOptions);
    run_until_a_job_runs();
    at(3s, [this] { world_.database().restart(14300ms); });
    run_until(100s);
    EXPECT_EQ(count<NodeDeclaredFailed>(), 0);
    EXPECT_EQ(runs_.size(), 1U);
    EXPECT_TRUE(idle());
}

// --- the connection breaks at COMMIT

TEST_F(QuartzOutageFacts, Q_DB_7_AnAcquireWhoseCommitWasLostIsTakenUpEitherWay) {
    for (const sim::Phase phase : {sim::Phase::Sent, sim::Phase::Applied}) {
        runs_.clear();
        plan_.faults.clear();
        boot({due_at({5s})}, kOptions, {"A"});
        fault_at("A#1/scheduler/db.commit/1", phase, sim::FaultKind::Reset);
        arm();
        run_until(1s);
        EXPECT_TRUE(fault_struck());
        EXPECT_EQ(trigger_state(), "ACQUIRED");
        EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_fired_triggers"), "1");
        run_until(10s);
        EXPECT_EQ(scheduled(), std::vector<sim::Duration>{5s});
    }
}

TEST_F(QuartzOutageFacts, Q_DB_9_ACompletionWhoseCommitWasLostIsRepeatedAndRunsNothingAgain) {
    for (const sim::Phase phase : {sim::Phase::Sent, sim::Phase::Applied}) {
        runs_.clear();
        plan_.faults.clear();
        job_time_ = 1s;
        boot({due_at({5s, 100s})}, kOptions, {"A"});
        fault_at("A#1/reconcile@2026-03-02T18:00:05Z/db.commit/1", phase, sim::FaultKind::Reset);
        arm();
        run_until(6s + kRetry - 200ms);
        EXPECT_TRUE(fault_struck());
        EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_fired_triggers"),
                  phase == sim::Phase::Sent ? "1" : "0");
        run_until(6s + kRetry + 200ms);
        EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_fired_triggers"), "0");
        run_until(90s);
        EXPECT_EQ(runs_.size(), 1U);
    }
}

TEST_F(QuartzOutageFacts, Q_DB_9_TheRepeatUnblocksWhateverRunsThen) {
    listener_ = [this](const jobs::Fire& fire) {
        kernel().sleep(fire.scheduled_fire_time == kStart + 5s ? 1s : 30s);
    };
    boot({due_at({5s, 15s, 200s})}, kOptions, {"A"});
    fault_at("A#1/reconcile@2026-03-02T18:00:05Z/db.commit/1", sim::Phase::Applied,
             sim::FaultKind::Reset);
    arm();
    run_until(6s + kRetry - 200ms);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(trigger_state(), "BLOCKED");
    run_until(6s + kRetry + 200ms);
    EXPECT_FALSE(runs_[1].ended.has_value());
    EXPECT_EQ(trigger_state(), "WAITING");
}

TEST_F(QuartzOutageFacts, Q_DB_10_OneBrokenCheckInMakesALiveNodeFail) {
    for (const sim::Phase phase : {sim::Phase::Sent, sim::Phase::Applied}) {
        runs_.clear();
        plan_.faults.clear();
        job_time_ = 40s;
        set_up({due_at({2s})}, kOptions);
        boot_node("A");
        at(1s, [this] { boot_node("B"); });
        fault_at("A#1/check-in/db.execute/6", phase, sim::FaultKind::Reset);
        arm();
        run_until(4s);
        ASSERT_EQ(runs_.size(), 1U);
        ASSERT_EQ(runs_[0].node, "A");
        run_until(60s);
        ASSERT_TRUE(fault_struck());
        ASSERT_EQ(runs_.size(), 2U);
        EXPECT_EQ(runs_[1].node, "B");
        EXPECT_TRUE(runs_[1].fire.recovering);
        EXPECT_TRUE(runs_[0].overlaps(runs_[1]));
        EXPECT_EQ(count<NodeDeclaredFailed>(), 1);
        EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_scheduler_state"), "2");
    }
}

// --- clocks

TEST_F(QuartzOutageFacts, Q_CLK_1_ClocksThatDifferByLessThanTheMarginMakeNobodyFail) {
    for (const sim::Duration offset : {3s, 5s, 7s, -3s, -5s}) {
        runs_.clear();
        boot({due_at({300s})}, kOptions);
        node("B").clock.jump(offset);
        run_until(60s);
        EXPECT_EQ(count<NodeDeclaredFailed>(), 0) << sim::to_text(offset);
    }
}

TEST_F(QuartzOutageFacts, Q_CLK_3_ANodeWhoseClockIsAheadFiresEverythingEarly) {
    set_up({each_five_seconds()}, kOptions);
    boot_node("A");
    boot_node("B");
    node("B").clock.jump(10s);
    run_until(60s);
    // What A held when B came up comes first; from then on B is always there earlier.
    std::size_t of_a = 0;
    for (const JobRun& run : runs_) {
        if (run.node == "A") ++of_a;
        if (run.node == "B" && run.started > kStart + 20s) {
            EXPECT_LE(run.started, run.fire.scheduled_fire_time - 9s);
        }
    }
    EXPECT_LE(of_a, 2U);
    EXPECT_GE(runs_.size(), 10U);
}

TEST_F(QuartzOutageFacts, Q_CLK_4_AClockThatStepsAheadRunsALiveJobAgain) {
    job_time_ = 20s;
    set_up({due_at({2s})}, kOptions);
    boot_node("A");
    at(1s, [this] { boot_node("B"); });
    at(3s, [this] { node("B").clock.jump(10s); });
    run_until(3s + kCheckIn + 300ms);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[0].node, "A");
    EXPECT_EQ(runs_[1].node, "B");
    EXPECT_TRUE(runs_[1].fire.recovering);
    EXPECT_EQ(duplicates(), 1);
}

}  // namespace
}  // namespace fencepost::model
