// What a healthy cluster of Quartz 2.3.2 on PostgreSQL 15 was seen to do, fact by fact. Durations
// are in units of the check-in interval, the margin (7.5 s), the misfire threshold and the idle
// wait. The facts that are outside the model stand in docs/fidelity.md.
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class QuartzClusterFacts : public SchedulerRun {
protected:
    static ScheduledJob every(sim::Duration interval, const std::string& job = "reconcile",
                              std::uint32_t count = Schedule::kForEver) {
        return {.tenant = "acme",
                .job = job,
                .schedule = Schedule::every(kStart + interval, interval, count),
                .disallow_concurrent = false,
                .trigger = {}};
    }
    static std::vector<ScheduledJob> crons(int count, sim::Duration interval) {
        std::vector<ScheduledJob> jobs;
        for (int i = 0; i < count; ++i) jobs.push_back(every(interval, "job" + std::to_string(i)));
        return jobs;
    }
    // Ten jobs due together every two seconds, for two minutes. A simulated node computes in no
    // time; the hiccups, a few a second and up to 80 ms long, are those of a real one.
    void run_ten_jobs(SchedulerOptions options) {
        runs_.clear();
        boot(crons(10, 2s), options);
        const sim::Random random{seed_};
        for (int i = 0; i < 1000; ++i) {
            const std::string name = i % 2 == 0 ? "A" : "B";
            const auto when = random.between(1s, 120s, sim::hash_of("when"), i);
            const auto lasting = random.between(5ms, 80ms, sim::hash_of("lasting"), i);
            at(when, [this, name, lasting] { kernel().pause(node(name), lasting); });
        }
        run_until(121s);
    }
    sim::Duration lateness(const JobRun& run) { return run.started - run.fire.scheduled_fire_time; }
    long runs_on(std::string_view node) { return std::ranges::count(runs_, node, &JobRun::node); }
};

TEST_F(QuartzClusterFacts, Q_ID_1_AnInstanceIdOfItsOwnForEachStart) {
    boot({due_at({60s})}, {.instance_ids = InstanceIds::PerIncarnation}, {"A"});
    run_until(1s);
    const std::string first = stored("SELECT instance_name FROM qrtz_scheduler_state");
    kernel().crash(node("A"), 1s);
    run_until(5s);
    EXPECT_TRUE(first.starts_with("A"));
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_scheduler_state"), "2");
}

TEST_F(QuartzClusterFacts, Q_STEADY_1_OneJobEachSecondFiresOnceWithoutGaps) {
    boot({every(1s, "reconcile", 20)});
    run_until(30s);
    ASSERT_EQ(runs_.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(scheduled()[i], 1s * (i + 1));
        EXPECT_LT(lateness(runs_[i]), 55ms);
    }
    EXPECT_EQ(duplicates(), 0);
    // The node that fired is the first to look again.
    EXPECT_TRUE(runs_on("A") == 20 || runs_on("B") == 20);
}

TEST_F(QuartzClusterFacts, Q_STEADY_2_SixJobsEachSecondSpreadOverBothNodes) {
    boot(crons(6, 1s));
    run_until(60s);
    EXPECT_GE(runs_.size(), 6U * 59);
    EXPECT_GT(runs_on("A"), static_cast<long>(runs_.size()) / 5);
    EXPECT_GT(runs_on("B"), static_cast<long>(runs_.size()) / 5);
    for (const JobRun& run : runs_) EXPECT_LT(lateness(run), 800ms);
}

TEST_F(QuartzClusterFacts, Q_STATE_2_AllTriggersOfANonConcurrentJobAreBlockedWhileItRuns) {
    job_time_ = 3s;
    auto second = due_at({50s});
    second.trigger = "second";
    boot({due_at({2s, 60s}), second}, {}, {"A"});
    run_until(1s);
    EXPECT_EQ(trigger_state(), "ACQUIRED");
    run_until_a_job_runs();
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_triggers WHERE trigger_state = 'BLOCKED'"), "2");
    EXPECT_EQ(stored("SELECT state FROM qrtz_fired_triggers"), "EXECUTING");
    // Unblocked in the transaction that deletes the fired row: never the one without the other.
    for (sim::Duration now = 4900ms; now < 5200ms; now += 1ms) {
        run_until(now);
        const bool fired =
            stored("SELECT COUNT(*) FROM qrtz_fired_triggers WHERE state = 'EXECUTING'") == "1";
        const bool blocked =
            stored("SELECT COUNT(*) FROM qrtz_triggers WHERE trigger_state = 'BLOCKED'") != "0";
        EXPECT_EQ(fired, blocked) << sim::to_text(now);
    }
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_triggers WHERE trigger_state = 'BLOCKED'"), "0");
}

TEST_F(QuartzClusterFacts, Q_STATE_3_AOneShotIsCompleteWhileItRunsAndDeletedAtItsEnd) {
    job_time_ = 3s;
    boot({due_at({2s})});
    run_until_a_job_runs();
    EXPECT_EQ(trigger_state(), "COMPLETE");
    EXPECT_EQ(stored("SELECT next_fire_time FROM qrtz_triggers"), "-1");
    run_until(6s);
    EXPECT_EQ(trigger_state(), "none");
}

TEST_F(QuartzClusterFacts, Q_ACQ_2_AnIdleNodeFindsANewTriggerWithItsNextLook) {
    boot({due_at({300s})}, {.editable = true}, {"B"});
    auto added = due_at({3s});
    added.job = added.trigger = "added";
    operate(1s, [&](SchedulerOperator& scheduler) { scheduler.replace(added); });
    run_until(60s);
    const auto added_runs = runs_of("added");
    ASSERT_EQ(added_runs.size(), 1U);
    // Its last look was at the start; the next comes an idle wait later, less up to 7 s.
    EXPECT_GE(added_runs[0].started, kStart + 23s);
    EXPECT_LE(added_runs[0].started, kStart + 31s);
    EXPECT_EQ(added_runs[0].fire.scheduled_fire_time, kStart + 3s);
}

TEST_F(QuartzClusterFacts, Q_ACQ_3_OrItsLookForMisfiresFindsItFirst) {
    constexpr sim::Duration kThreshold = 3s;
    boot({due_at({300s})}, {.misfire_threshold = kThreshold, .editable = true}, {"B"});
    auto added = due_at({3s});
    added.job = added.trigger = "added";
    operate(1s, [&](SchedulerOperator& scheduler) { scheduler.replace(added); });
    run_until(60s);
    const auto added_runs = runs_of("added");
    ASSERT_EQ(added_runs.size(), 1U);
    EXPECT_GE(added_runs[0].started, kStart + 3s + kThreshold);
    EXPECT_LE(added_runs[0].started, kStart + 3s + 2 * kThreshold + 200ms);
    EXPECT_GE(added_runs[0].fire.scheduled_fire_time, kStart + 3s + kThreshold);
}

TEST_F(QuartzClusterFacts, Q_RACE_1_WithoutTheLockHealthyNodesFireSomeInstantsTwice) {
    int twice = 0;
    int instants = 0;
    for (seed_ = 1; seed_ <= 5; ++seed_) {
        run_ten_jobs({});
        twice += duplicates();
        instants += 10 * 59;
    }
    RecordProperty("duplicates", twice);
    EXPECT_GT(twice, 0);
    EXPECT_LT(twice, instants / 20);
}

TEST_F(QuartzClusterFacts, Q_RACE_1_ASingleJobIsNotFiredTwice) {
    boot(crons(1, 2s));
    run_until(120s);
    EXPECT_EQ(duplicates(), 0);
}

TEST_F(QuartzClusterFacts, Q_RACE_2_WithinTheLockNothingIsFiredTwice) {
    for (seed_ = 1; seed_ <= 5; ++seed_) {
        run_ten_jobs({.acquire_within_lock = true});
        EXPECT_EQ(duplicates(), 0);
        EXPECT_GE(runs_.size(), 590U);
    }
}

// A has read that the second trigger waits, and stands still before it takes it.
TEST_F(QuartzClusterFacts, Q_RACE_4_ANodeStoppedBetweenLookingAndTakingFiresAnOldInstant) {
    set_up(crons(4, 5s), {.check_in = 1s, .misfire_threshold = 3s});
    boot_node("B");
    at(500ms, [this] { boot_node("A"); });
    stop_at("A#1/scheduler/db.execute/1", sim::Phase::Before, 15s);
    run_until(14s);
    ASSERT_TRUE(fault_struck());
    const auto before = runs_.size();
    run_until(40s);
    std::optional<JobRun> late;
    for (const JobRun& run : runs_ | std::views::drop(before)) {
        if (run.node == "A" && run.fire.scheduled_fire_time == kStart + 5s) late = run;
    }
    ASSERT_TRUE(late.has_value());
    EXPECT_GT(lateness(*late), 10s);
    // The next fire time went back with it: one more fire, off the grid, before the schedule's own.
    const auto of_job = runs_of(late->fire.job);
    const auto after =
        std::ranges::find(of_job, late->fire.fire_instance_id,
                          [](const JobRun& run) { return run.fire.fire_instance_id; });
    ASSERT_NE(after, of_job.end());
    ASSERT_NE(after + 1, of_job.end());
    EXPECT_LT((after + 1)->started, late->started + 5s);
}

TEST_F(QuartzClusterFacts, Q_RACE_5_WithinTheLockAStoppedNodeStopsTheClusterAndNothingIsDoubled) {
    for (const sim::Duration stopped : {5s, 14s}) {
        runs_.clear();
        plan_.faults.clear();
        set_up(crons(4, 5s), {.check_in = 1s, .acquire_within_lock = true});
        boot_node("B");
        at(500ms, [this] { boot_node("A"); });
        stop_at("A#1/scheduler/db.execute/1", sim::Phase::Before, stopped);
        run_until(stopped);
        ASSERT_TRUE(fault_struck());
        EXPECT_TRUE(runs_.empty());
        run_until(40s);
        EXPECT_EQ(duplicates(), 0);
        EXPECT_GE(lateness(runs_[0]), stopped - 5s);
        EXPECT_EQ(runs_of("job0").front().fire.scheduled_fire_time, kStart + 5s);
    }
}

TEST_F(QuartzClusterFacts, Q_RACE_5_TheLockOfAKilledNodeIsFreeAtOnce) {
    set_up(crons(4, 5s), {.check_in = 1s, .acquire_within_lock = true});
    boot_node("B");
    at(500ms, [this] { boot_node("A"); });
    stop_at("A#1/scheduler/db.execute/1", sim::Phase::Before, 60s);
    run_until(6s);
    EXPECT_TRUE(runs_.empty());
    kernel().crash(node("A"), std::nullopt);
    run_until(6s + 100ms);
    EXPECT_EQ(runs_.size(), 4U);
    EXPECT_EQ(duplicates(), 0);
}

TEST_F(QuartzClusterFacts, Q_BOOT_4_AReplacedScheduleFiresAnInstantOfItsSecondAgain) {
    const auto fires_after_replacing = [this](sim::Duration after_the_instant) {
        runs_.clear();
        ScheduledJob job = due_at({});
        job.schedule = Schedule::cron("0/5 * * * * ?", "UTC", {.from = kStart + 1s});
        boot({job}, {.editable = true});
        operate(10s + after_the_instant,
                [&](SchedulerOperator& scheduler) { scheduler.replace(job); });
        run_until(60s);
        int fires = 0;
        for (const JobRun& run : runs_) {
            if (run.fire.scheduled_fire_time == kStart + 10s) ++fires;
        }
        return fires;
    };
    EXPECT_EQ(fires_after_replacing(300ms), 2);
    EXPECT_EQ(fires_after_replacing(700ms), 2);
    EXPECT_EQ(fires_after_replacing(-300ms), 1);
    EXPECT_EQ(fires_after_replacing(1200ms), 1);
    EXPECT_EQ(fires_after_replacing(2500ms), 1);
}

TEST_F(QuartzClusterFacts, Q_DOWN_2_ANodeThatStopsChecksInUntilItsJobsHaveEnded) {
    job_time_ = 12s;
    boot({due_at({2s})}, {.check_in = 1s});
    sim::Node& runner = run_until_a_job_runs();
    kernel().stop_gracefully(runner, 60s, std::nullopt);
    run_until(40s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_TRUE(runs_[0].ended.has_value());
}

TEST_F(QuartzClusterFacts, Q_RAM_1_WithoutAClusterEachInstantFiresOnEveryNode) {
    boot({every(1s, "reconcile", 22)}, {.mode = SchedulerMode::EveryNode});
    run_until(30s);
    EXPECT_EQ(runs_on("A"), 22);
    EXPECT_EQ(runs_on("B"), 22);
}

}  // namespace
}  // namespace fencepost::model
