// What an operator does to the schedule while the cluster runs.
#include "model/scheduler/tenant_group.h"
#include "tests/model/scheduler/scheduler_run.h"

namespace fencepost::model {
namespace {

class OperatorTest : public SchedulerRun {
protected:
    static constexpr SchedulerOptions kEditable{.editable = true};
    const TriggerKey trigger_{"acme", "reconcile"};
    const JobKey job_{"acme", "reconcile"};
};

TEST_F(OperatorTest, APausedTriggerFiresOnlyOnceResumed) {
    boot({due_at({5s, 60s})});
    operate(1s, [&](SchedulerOperator& scheduler) { scheduler.pause(trigger_); });
    run_until(20s);
    EXPECT_EQ(trigger_state(), "PAUSED");
    EXPECT_TRUE(runs_.empty());
    EXPECT_TRUE(idle());
    operate(20s, [&](SchedulerOperator& scheduler) { scheduler.resume(trigger_); });
    run_until(100s);
    // Missed by less than the threshold, the instant keeps its time.
    EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{5s, 60s}));
    EXPECT_GE(runs_[0].started, kStart + 20s);
}

TEST_F(OperatorTest, AnInstantThatWasMissedWhilePausedIsAMisfireAtOnce) {
    boot({due_at({5s, 10s, 300s})}, {}, {"A"});
    operate(1s, [&](SchedulerOperator& scheduler) { scheduler.pause(job_); });
    operate(100s, [&](SchedulerOperator& scheduler) { scheduler.resume(job_); });
    run_until(99s);
    EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_fired_triggers"), "0");
    run_until(101s);
    EXPECT_GE(stored("SELECT next_fire_time FROM qrtz_triggers"),
              std::to_string((kStart + 100s).time_since_epoch() / 1ms));
    run_until(200s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_GE(scheduled()[0], 100s);
    EXPECT_LT(scheduled()[0], 101s);
}

TEST_F(OperatorTest, PausedWhileItsJobRunsItStaysPausedAfterwards) {
    job_time_ = 5s;
    boot({due_at({2s, 10s})});
    run_until_a_job_runs();
    operate(3s, [&](SchedulerOperator& scheduler) { scheduler.pause(trigger_); });
    run_until(4s);
    EXPECT_EQ(trigger_state(), "PAUSED_BLOCKED");
    run_until(30s);
    EXPECT_EQ(trigger_state(), "PAUSED");
    EXPECT_EQ(runs_.size(), 1U);
}

TEST_F(OperatorTest, AResumedTriggerOfARunningJobIsBlocked) {
    job_time_ = 10s;
    boot({due_at({2s, 8s})});
    run_until_a_job_runs();
    operate(3s, [&](SchedulerOperator& scheduler) { scheduler.pause(trigger_); });
    operate(5s, [&](SchedulerOperator& scheduler) { scheduler.resume(trigger_); });
    run_until(6s);
    EXPECT_EQ(trigger_state(), "BLOCKED");
    run_until(60s);
    ASSERT_EQ(runs_.size(), 2U);
    EXPECT_FALSE(runs_[1].overlaps(runs_[0]));
}

TEST_F(OperatorTest, ADeletedJobFiresNoMoreThoughANodeHeldItsTrigger) {
    for (const bool editable : {false, true}) {
        runs_.clear();
        boot({due_at({5s, 10s})}, {.editable = editable});
        bool removed = false;
        operate(2s, [&](SchedulerOperator& scheduler) { removed = scheduler.remove(job_); });
        run_until(60s);
        EXPECT_TRUE(removed);
        EXPECT_TRUE(runs_.empty());
        EXPECT_EQ(trigger_state(), "none");
        EXPECT_EQ(stored("SELECT COUNT(*) FROM qrtz_fired_triggers"), "0");
        EXPECT_TRUE(idle());
    }
}

TEST_F(OperatorTest, ScheduleZoneAndParametersAreReplacedAllAtOnce) {
    auto before = due_at({5s, 100s, 200s});
    before.parameters = "region=old";
    std::vector<std::string> parameters;
    listener_ = [&](const jobs::Fire& fire) { parameters.push_back(fire.parameters); };
    boot({before}, kEditable);
    auto after = before;
    after.schedule = Schedule::cron("0 1 2 * * ?", "Asia/Shanghai");  // 18:01 UTC
    after.parameters = "region=new";
    operate(10s, [&](SchedulerOperator& scheduler) { scheduler.replace(after); });
    run_until(120s);
    EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{5s, 60s}));
    EXPECT_EQ(parameters, (std::vector<std::string>{"region=old", "region=new"}));
    EXPECT_EQ(stored("SELECT schedule FROM qrtz_trigger_definitions"),
              "cron 0 1 2 * * ? Asia/Shanghai");
    // The row of whoever held the trigger for 100 s stays until then, and goes.
    EXPECT_TRUE(idle());
}

TEST_F(OperatorTest, AJobThatWasNotThereIsAdded) {
    boot({due_at({5s})}, kEditable);
    auto added = due_at({30s});
    added.job = added.trigger = "close-day";
    operate(1s, [&](SchedulerOperator& scheduler) { scheduler.replace(added); });
    run_until(60s);
    ASSERT_EQ(runs_of("close-day").size(), 1U);
    EXPECT_EQ(runs_of("close-day")[0].fire.scheduled_fire_time, kStart + 30s);
}

// The node writes back the whole trigger that it has in memory.
TEST_F(OperatorTest, ANodeThatStillHoldsAReplacedTriggerUndoesTheEditByFiring) {
    boot({due_at({20s, 300s})}, kEditable, {"A"});
    run_until(1s);
    EXPECT_EQ(trigger_state(), "ACQUIRED");
    operate(2s, [&](SchedulerOperator& scheduler) { scheduler.replace(due_at({25s, 80s})); });
    at(3s, [this] { boot_node("B"); });
    run_until(19s);
    EXPECT_EQ(trigger_state(), "ACQUIRED");
    EXPECT_EQ(stored("SELECT instance_name FROM qrtz_fired_triggers ORDER BY sched_time DESC"),
              "B");
    run_until(21s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_EQ(runs_[0].node, "A");
    EXPECT_EQ(runs_[0].fire.scheduled_fire_time, kStart + 20s);
    EXPECT_EQ(stored("SELECT schedule FROM qrtz_trigger_definitions"),
              Schedule::at({kStart + 20s, kStart + 300s}).text());
    run_until(200s);
    EXPECT_EQ(runs_.size(), 1U);  // nothing of the new schedule is left
}

TEST_F(OperatorTest, OfTriggersDueAtOnceTheHighestPriorityGoesFirst) {
    std::vector<ScheduledJob> jobs;
    for (const int priority : {1, 9, 5}) {
        auto job = due_at({5s});
        job.job = "p" + std::to_string(priority);
        job.priority = priority;
        jobs.push_back(job);
    }
    boot(jobs, kEditable, {"A"});
    run_until(10s);
    ASSERT_EQ(runs_.size(), 3U);
    EXPECT_EQ(runs_[0].fire.job, "p9");
    EXPECT_EQ(runs_[1].fire.job, "p5");
    EXPECT_EQ(runs_[2].fire.job, "p1");
}

TEST_F(OperatorTest, ATriggerThatNobodyKnowsIsInErrorUntilReset) {
    boot({due_at({5s})});
    operate(1s, [&](SchedulerOperator&) {});
    sim::Node& client = kernel().add_node("client", [this](sim::Incarnation& incarnation) {
        world_.ports_of(incarnation)
            .database.connect()
            ->execute(
                "UPDATE qrtz_triggers SET trigger_name = 'unknown', trigger_state = 'WAITING'");
    });
    at(500ms, [&] { kernel().boot(client); });
    run_until(40s);
    EXPECT_EQ(trigger_state(), "ERROR");
    EXPECT_FALSE(idle());
    operate(41s, [&](SchedulerOperator& scheduler) {
        scheduler.reset_from_error({"acme", "unknown"});
    });
    run_until(42s);
    EXPECT_EQ(trigger_state(), "WAITING");
}

TEST_F(OperatorTest, AnIntervalWithACountThatMisfiredBeginsAnewWithWhatIsLeft) {
    const ScheduledJob job{.tenant = "acme",
                           .job = "reconcile",
                           .schedule = Schedule::every(kStart + 10s, 20s, 4),
                           .trigger = {}};
    set_up({job}, kEditable);
    at(120s, [this] { boot_node("A"); });
    run_until(300s);
    ASSERT_EQ(runs_.size(), 4U);
    const sim::Duration first = scheduled()[0];
    EXPECT_GT(first, 120s);
    EXPECT_EQ(scheduled(), (std::vector{first, first + 20s, first + 40s, first + 60s}));
    EXPECT_TRUE(idle());
}

TEST_F(OperatorTest, AnEndlessIntervalThatMisfiredGoesOnOnItsGrid) {
    const ScheduledJob job{.tenant = "acme",
                           .job = "reconcile",
                           .schedule = Schedule::every(kStart + 10s, 50s, Schedule::kForEver),
                           .trigger = {}};
    set_up({job});
    at(130s, [this] { boot_node("A"); });
    run_until(220s);
    EXPECT_EQ(scheduled(), (std::vector<sim::Duration>{160s, 210s}));
}

TEST_F(OperatorTest, TenantsWithJobsOfOneNameAreKeptApartByTheirGroups) {
    auto one = due_at({2s});
    one.group = tenant_group(one.tenant);
    auto other = due_at({2s});
    other.tenant = "Acme";  // reads the same, and is another
    other.group = tenant_group(other.tenant);
    boot({one, other});
    operate(1s, [&](SchedulerOperator& scheduler) {
        scheduler.pause(JobKey{one.group_name(), "reconcile"});
    });
    run_until(10s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_EQ(runs_[0].fire.tenant, "Acme");
}

TEST_F(OperatorTest, AJobOfTheLegacyGroupBelongsToTheTenantThatItsDataNames) {
    auto legacy = due_at({2s});
    legacy.group = kLegacyGroup;
    boot({legacy});
    run_until(10s);
    ASSERT_EQ(runs_.size(), 1U);
    EXPECT_EQ(runs_[0].fire.tenant, "acme");
    EXPECT_TRUE(idle());
}

TEST(TenantGroupTest, ANameIsReadableAndItsDigestTellsLookalikesApart) {
    EXPECT_TRUE(tenant_group("Acme Ltd.").starts_with("acme-ltd_"));
    EXPECT_NE(tenant_group("Acme Ltd."), tenant_group("acme ltd"));
    EXPECT_EQ(tenant_group("acme"), tenant_group("acme"));
    EXPECT_EQ(tenant_group(std::string(100, 'x')).size(), 32U + 1 + 16);
}

}  // namespace
}  // namespace fencepost::model
