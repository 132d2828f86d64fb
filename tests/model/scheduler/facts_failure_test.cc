// What a cluster of Quartz 2.3.2 was seen to do when nodes were killed or stopped, fact by fact.
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class QuartzFailureFacts : public SchedulerRun {
protected:
    static constexpr sim::Duration kCheckIn = 1s;
    static constexpr sim::Duration kMargin = 7500ms;
    static constexpr sim::Duration kThreshold = 3s;
    static constexpr SchedulerOptions kOptions{.check_in = kCheckIn,
                                               .misfire_threshold = kThreshold};
    // After a node has fallen silent: from its last check-in on, and up to the next look of a peer.
    static constexpr sim::Duration kSoonest = kMargin;
    static constexpr sim::Duration kLatest = 2 * kCheckIn + kMargin + 200ms;

    static ScheduledJob every(sim::Duration interval, bool concurrent = true) {
        return {.tenant = "acme",
                .job = "reconcile",
                .schedule = Schedule::every(kStart + interval, interval, 50),
                .disallow_concurrent = !concurrent,
                .trigger = {}};
    }
    // A holds the trigger; B joins.
    void boot_a_first(ScheduledJob job, SchedulerOptions options = kOptions) {
        set_up({std::move(job)}, options);
        boot_node("A");
        at(1s, [this] { boot_node("B"); });
    }
    sim::Duration after_start(const JobRun& run) { return run.started - kStart; }
    std::string executing() {
        return stored("SELECT COUNT(*) FROM qrtz_fired_triggers WHERE state = 'EXECUTING'");
    }
};

TEST_F(QuartzFailureFacts, Q_FAIL_2_RecoveryIsOneTransaction) {
    job_time_ = 30s;
    boot_a_first(due_at({2s, 60s}));
    run_until(3s);
    kernel().crash(node("A"), std::nullopt);
    run_until(20s);
    // Whichever transaction deleted the state row did all the rest too.
    std::map<std::uint32_t, std::vector<std::string>> changes;
    std::vector<std::string> tables;
    std::optional<std::uint32_t> recovery;
    for (sim::RecordId id = 0; id < kernel().history().size(); ++id) {
        const sim::Record record = kernel().history()[id];
        if (const auto table = record.as<TableKnown>()) tables.emplace_back(table->name);
        const auto row = record.as<RowChanged>();
        if (!row) continue;
        changes[row->transaction].push_back(std::string(name_of(row->change)) + " " +
                                            tables[row->table]);
        if (changes[row->transaction].back() == "delete qrtz_scheduler_state") {
            recovery = row->transaction;
        }
    }
    ASSERT_TRUE(recovery.has_value());
    const auto& done = changes[*recovery];
    for (const char* change :
         {"insert qrtz_triggers", "update qrtz_triggers", "delete qrtz_fired_triggers"}) {
        EXPECT_TRUE(std::ranges::find(done, change) != done.end()) << change;
    }
}

TEST_F(QuartzFailureFacts, Q_REC_1_AKilledFireThatRequestsRecoveryRunsAgainOnce) {
    job_time_ = 30s;
    boot_a_first(due_at({2s}));
    run_until(3s);
    kernel().crash(node("A"), std::nullopt);
    run_until(100s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_GE(after_start(runs_[1]), 3s + kSoonest);
    EXPECT_LE(after_start(runs_[1]), 3s + kLatest);
}

TEST_F(QuartzFailureFacts, Q_REC_3_TheRecoveryTriggerTellsOfTheFireThatFailed) {
    job_time_ = 30s;
    auto options = kOptions;
    options.editable = true;
    boot_a_first(due_at({2s}), options);
    run_until(3s);
    const std::string fired = stored("SELECT fired_time FROM qrtz_fired_triggers");
    kernel().crash(node("A"), std::nullopt);
    run_until(20s);
    EXPECT_EQ(stored("SELECT recovery_data FROM qrtz_trigger_definitions"
                     " WHERE trigger_group = 'RECOVERING_JOBS'"),
              "QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME=reconcile\n"
              "QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP=acme\n"
              "QRTZ_FAILED_JOB_ORIG_TRIGGER_FIRETIME_IN_MILLISECONDS_AS_STRING=" +
                  fired +
                  "\nQRTZ_FAILED_JOB_ORIG_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS_AS_STRING=" +
                  std::to_string((kStart + 2s).time_since_epoch() / 1ms) + "\n");
    run_until(100s);
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_trigger_definitions"), "0");
    EXPECT_TRUE(idle());
}

TEST_F(QuartzFailureFacts, Q_REC_4_WithoutRecoveryAOneShotIsLost) {
    job_time_ = 30s;
    auto job = due_at({2s});
    job.requests_recovery = false;
    boot_a_first(job);
    run_until(3s);
    kernel().crash(node("A"), std::nullopt);
    run_until(100s);
    EXPECT_EQ(runs_.size(), 1U);
    EXPECT_EQ(trigger_state(), "none");
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_fired_triggers"), "0");
    EXPECT_TRUE(idle());
}

TEST_F(QuartzFailureFacts, Q_REC_6_WhatTheDeadNodeHeldIsMissedAndThenFiresOnceOffItsGrid) {
    job_time_ = 30s;
    auto job = every(5s);
    job.schedule = Schedule::cron("0/5 * * * * ?", "UTC", {.from = kStart + 1s});
    job.requests_recovery = false;
    boot_a_first(job);
    run_until(5500ms);
    ASSERT_EQ(runs_.size(), 1U);
    kernel().crash(node("A"), std::nullopt);
    run_until(25s);
    ASSERT_GE(runs_.size(), 3U);
    // 10 s was held by the dead node: what comes instead bears the moment of its handling.
    EXPECT_NE((runs_[1].fire.scheduled_fire_time - kStart) % 5s, sim::Duration::zero());
    EXPECT_GE(after_start(runs_[1]), 5500ms + kSoonest);
    EXPECT_LE(after_start(runs_[1]), 5500ms + kLatest + kThreshold);
    EXPECT_EQ((runs_[2].fire.scheduled_fire_time - kStart) % 5s, sim::Duration::zero());
    EXPECT_LE(runs_[2].started - runs_[1].started, 5s + 100ms);
}

TEST_F(QuartzFailureFacts, Q_REC_7_ANonConcurrentJobStaysBlockedUntilItsRecoveryRunIsOver) {
    job_time_ = 6s;
    auto job = every(5s, false);
    job.misfire = MisfirePolicy::Ignore;
    boot_a_first(job);
    run_until(6s);
    kernel().crash(node("A"), std::nullopt);
    run_until(6s + kSoonest - 100ms);
    EXPECT_EQ(trigger_state(), "BLOCKED");
    while (runs_.size() < 2) run_until(kernel().now() - kStart + 50ms);
    EXPECT_TRUE(runs_[1].fire.recovering);
    EXPECT_EQ(trigger_state(), "BLOCKED");
    while (runs_.size() < 3) run_until(kernel().now() - kStart + 50ms);
    EXPECT_FALSE(runs_[2].fire.recovering);
    EXPECT_FALSE(runs_[2].overlaps(runs_[1]));
}

TEST_F(QuartzFailureFacts, Q_REC_9_AFixedInstanceIdRecoversItselfWithItsFirstCheckIn) {
    job_time_ = 30s;
    boot_a_first(due_at({2s}));
    run_until(3s);
    kernel().crash(node("A"), 500ms);
    run_until(4s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_TRUE(runs_[1].fire.recovering);
    EXPECT_LT(after_start(runs_[1]), 3s + 760ms);
}

TEST_F(QuartzFailureFacts, Q_KILL_END_WorkThatWasDoneRunsAgainIfItRequestsRecovery) {
    for (const bool recovery : {true, false}) {
        runs_.clear();
        plan_.faults.clear();
        auto job = due_at({2s});
        job.requests_recovery = recovery;
        boot_a_first(job);
        fault_at("A#1/reconcile@2026-03-02T18:00:02Z/db.begin/1", sim::Phase::Before,
                 sim::FaultKind::Crash);
        arm();
        run_until(60s);
        ASSERT_TRUE(fault_struck());
        EXPECT_TRUE(runs_[0].ended.has_value());
        EXPECT_EQ(runs_.size(), recovery ? 2U : 1U);
    }
}

TEST_F(QuartzFailureFacts, Q_STOP_1_TheRunOfAStoppedNodeOverlapsItsRecovery) {
    job_time_ = 5s;
    boot_a_first(due_at({2s, 100s}));
    run_until(3s);
    kernel().pause(node("A"), 10s);
    run_until(60s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[1].fire.scheduled_fire_time, runs_[0].fire.scheduled_fire_time);
    EXPECT_GE(after_start(runs_[1]), 3s + kSoonest);
    EXPECT_LE(after_start(runs_[1]), 3s + kLatest);
    EXPECT_TRUE(runs_[0].overlaps(runs_[1]));
}

TEST_F(QuartzFailureFacts, Q_STOP_2_TheStoppedNodeComesBackAndGoesOnScheduling) {
    job_time_ = 5s;
    boot_a_first(due_at({2s, 30s}));
    run_until(3s);
    kernel().pause(node("A"), 12s);
    run_until(14900ms);
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_scheduler_state"), "1");
    run_until(15s + kCheckIn + 200ms);
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_scheduler_state"), "2");
    EXPECT_TRUE(runs_[0].ended.has_value());
    kernel().crash(node("B"), std::nullopt);
    run_until(60s);
    ASSERT_EQ(runs_.size(), 3U);
    EXPECT_EQ(runs_[2].node, "A");
}

TEST_F(QuartzFailureFacts, Q_STOP_4_AStopShorterThanDetectionIsNoFailure) {
    job_time_ = 3s;
    boot_a_first(due_at({2s}));
    run_until(3s);
    kernel().pause(node("A"), 6s);
    run_until(60s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_GE(*runs_[0].ended, kStart + 9s);
    EXPECT_EQ(count<NodeDeclaredFailed>(), 0);
}

TEST_F(QuartzFailureFacts, Q_STOP_5_TheOldRunsCompletionUnblocksTheJobOfTheLiveRun) {
    job_time_ = 9s;
    boot_a_first(due_at({2s, 200s}));
    run_until(3s);
    kernel().pause(node("A"), 11s);
    run_until(13900ms);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(trigger_state(), "BLOCKED");
    run_until(14500ms);
    ASSERT_TRUE(runs_[0].ended.has_value());
    ASSERT_FALSE(runs_[1].ended.has_value());
    EXPECT_EQ(trigger_state(), "WAITING");
    EXPECT_EQ(executing(), "1");
}

TEST_F(QuartzFailureFacts, Q_STOP_7_TheLookForMisfiresBlocksItAgain) {
    job_time_ = 14s;
    boot_a_first(due_at({2s, 6s, 8s}));
    run_until(3s);
    kernel().pause(node("A"), 14s);
    run_until(16900ms);
    ASSERT_EQ(runs_.size(), 2U);
    run_until(17s + kThreshold + 200ms);
    ASSERT_TRUE(runs_[0].ended.has_value());
    ASSERT_FALSE(runs_[1].ended.has_value());
    EXPECT_EQ(trigger_state(), "BLOCKED");
    run_until(60s);
    ASSERT_GE(runs_.size(), 3U);
    EXPECT_FALSE(runs_[2].overlaps(runs_[1]));
}

TEST_F(QuartzFailureFacts, Q_STOP_8_ANodeStoppedWithAHeldTriggerFiresItAfterAll) {
    auto job = every(5s);
    job.schedule = Schedule::cron("0/5 * * * * ?", "UTC", {.from = kStart + 3s});
    boot_a_first(job);
    run_until(3s);
    ASSERT_EQ(trigger_state(), "ACQUIRED");
    kernel().pause(node("A"), 11s);
    run_until(13900ms);
    // B was freed of A, made up for the missed instant, and holds the next one.
    ASSERT_GE(runs_.size(), 1U);
    EXPECT_EQ(runs_[0].node, "B");
    EXPECT_EQ(trigger_state(), "ACQUIRED");
    const std::size_t before = runs_.size();
    run_until(14500ms);
    ASSERT_GT(runs_.size(), before);
    EXPECT_EQ(runs_[before].node, "A");
    EXPECT_EQ(runs_[before].fire.scheduled_fire_time, kStart + 5s);
    // It had no row any more, and the schedule went back.
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_fired_triggers"
                     " WHERE instance_name = 'A' AND sched_time = " +
                     std::to_string((kStart + 5s).time_since_epoch() / 1ms)),
              "0");
    run_until(33s);
    EXPECT_TRUE(idle());
}

// In the transaction that acquires: it holds the row of the trigger.
TEST_F(QuartzFailureFacts, Q_STOP_10_APeerBlocksOnARowOfAStoppedNodeUntilItsCheckInsStop) {
    auto job = every(5s);
    job.schedule = Schedule::cron("0/2 * * * * ?", "UTC", {.from = kStart + 1s});
    set_up({job}, kOptions);
    at(1s, [this] { boot_node("B"); });
    boot_node("A");
    stop_at("A#1/scheduler/db.commit/1", sim::Phase::Before, 14s);
    run_until(13s);
    ASSERT_TRUE(fault_struck());
    EXPECT_TRUE(runs_.empty());
    const auto last_check_in = [this] {
        return stored(
            "SELECT last_checkin_time FROM qrtz_scheduler_state"
            " WHERE instance_name = 'B'");
    };
    const std::string before = last_check_in();
    run_until(13900ms);
    EXPECT_EQ(last_check_in(), before);
    run_until(40s);
    EXPECT_NE(last_check_in(), before);
    EXPECT_FALSE(runs_.empty());
    EXPECT_EQ(count<NodeDeclaredFailed>(), 1);
    EXPECT_TRUE(node("A").up());
}

// In the transaction that fires: it holds TRIGGER_ACCESS.
TEST_F(QuartzFailureFacts, Q_STOP_11_ANodeStoppedWhileItFiresStopsAllButCheckIns) {
    set_up({every(3s)}, kOptions);
    boot_node("A");
    at(1s, [this] { boot_node("B"); });
    stop_at("A#1/scheduler/db.commit/2", sim::Phase::Before, 5s);
    run_until(7s);
    ASSERT_TRUE(fault_struck());
    EXPECT_TRUE(runs_.empty());
    EXPECT_GE(
        stored("SELECT last_checkin_time FROM qrtz_scheduler_state WHERE instance_name = 'B'"),
        std::to_string((kStart + 5s).time_since_epoch() / 1ms));
    run_until(8300ms);
    // What is late follows at once.
    EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{3s, 6s}));
    run_until(30s);
    EXPECT_EQ(duplicates(), 0);
}

TEST_F(QuartzFailureFacts, Q_STOP_13_StoppedBetweenFiringAndItsJobItRunsAfterItsOwnRecovery) {
    boot_a_first(due_at({2s}));
    stop_at("A#1/scheduler/db.commit/2", sim::Phase::Applied, 13s);
    run_until(60s);
    ASSERT_TRUE(fault_struck());
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_EQ(runs_[0].node, "B");
    EXPECT_TRUE(runs_[0].fire.recovering);
    EXPECT_GE(after_start(runs_[0]), 2s + kSoonest);
    EXPECT_LE(after_start(runs_[0]), 2s + kLatest);
    EXPECT_EQ(runs_[1].node, "A");
    EXPECT_EQ(duplicates(), 1);
}

TEST_F(QuartzFailureFacts, Q_STOP_14_StoppedWhileItCompletesItIsNotRunAgain) {
    auto job = due_at({2s, 6s});
    boot_a_first(job);
    stop_at("A#1/reconcile@2026-03-02T18:00:02Z/db.commit/1", sim::Phase::Before, 14s);
    run_until(15s);
    ASSERT_TRUE(fault_struck());
    EXPECT_EQ(runs_.size(), 1U);
    run_until(60s);
    // Its commit came first: recovery found nothing to run again.
    EXPECT_EQ(duplicates(), 0);
    EXPECT_TRUE(std::ranges::none_of(runs_, [](const JobRun& run) { return run.fire.recovering; }));
}

TEST_F(QuartzFailureFacts, Q_STOP_15_ShortStopsOfBothNodesLoseNothing) {
    for (const bool within_lock : {false, true}) {
        int twice = 0;
        for (seed_ = 1; seed_ <= 4; ++seed_) {
            runs_.clear();
            std::vector<ScheduledJob> jobs;
            for (int i = 0; i < 6; ++i) {
                jobs.push_back(every(2s));
                jobs.back().job = "job" + std::to_string(i);
            }
            boot(jobs, {.acquire_within_lock = within_lock});
            const sim::Random random{seed_};
            for (int i = 0; i < 50; ++i) {
                const std::string name = i % 2 == 0 ? "A" : "B";
                const auto when = random.between(1s, 58s, sim::hash_of("stop"), i);
                const auto lasting = random.between(50ms, 1500ms, sim::hash_of("lasting"), i);
                at(when, [this, name, lasting] { kernel().pause(node(name), lasting); });
            }
            run_until(62s);
            std::map<std::pair<std::string, sim::Duration>, int> fires;
            for (const JobRun& run : runs_) {
                ++fires[{run.fire.job, run.fire.scheduled_fire_time - kStart}];
                EXPECT_LT(run.started - run.fire.scheduled_fire_time, 4s);
            }
            for (const ScheduledJob& job : jobs) {
                for (sim::Duration due = 2s; due <= 58s; due += 2s) {
                    EXPECT_GE((fires[{job.job, due}]), 1);
                }
            }
            twice += duplicates();
        }
        RecordProperty(within_lock ? "duplicates in lock" : "duplicates", twice);
        if (within_lock) {
            EXPECT_EQ(twice, 0);
        }
        EXPECT_LT(twice, 4 * 6 * 29 / 20);
    }
}

TEST_F(QuartzFailureFacts, Q_BOOT_5_ANewNodeRecoversTheFiresOfANodeWithoutARow) {
    job_time_ = 30s;
    set_up({due_at({2s})}, {.instance_ids = InstanceIds::PerIncarnation, .check_in = 60s});
    boot_node("A");
    at(1s, [this] { boot_node("C"); });
    sim::Node& client = kernel().add_node("client", [this](sim::Incarnation& incarnation) {
        world_.ports_of(incarnation)
            .database.connect()
            ->execute("DELETE FROM qrtz_scheduler_state WHERE instance_name LIKE 'A%'");
    });
    at(3s, [this, &client] {
        kernel().crash(node("A"), std::nullopt);
        kernel().boot(client);
    });
    run_until(5s);
    EXPECT_EQ(runs_.size(), 1U);  // running nodes do not look for orphans
    boot_node("B");
    run_until(5s + 300ms);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_TRUE(runs_[1].fire.recovering);
}

}  // namespace
}  // namespace fencepost::model
