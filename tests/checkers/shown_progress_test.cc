// honest status: what a claim shows of its progress, and what a cancel excuses.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kHonest = "honest-status";
constexpr std::string_view kOnce = "once";

struct Shown {
    model::Cell current;
    model::Cell total;
    model::Cell percent;
};

model::Cells task(std::string_view status, const Shown& shown) {
    return {kUnit, status, "A", integer(1), kNull, shown.current, shown.total, shown.percent};
}

Expectations with_progress(std::optional<std::int64_t> total = 3) {
    Expectations expectations = reconcile_expectations();
    expectations.claims->table = "tasks";
    expectations.claims->cancelled = "cancelled";
    expectations.claims->progress =
        ProgressColumns{.current = "current", .total = "total", .percent = "percent", .totals = {}};
    if (total) {
        expectations.claims->progress->totals.push_back(
            {.unit = std::string{kUnit}, .items = *total});
    }
    return expectations;
}

// One claim, of which a test writes what it becomes.
class TaskRun {
public:
    TaskRun() {
        world_.builder.table("tasks",
                             "business_key,status,owner,token,checkpoint,current,total,percent");
        row_ = task("running", {integer(0), kNull, kNull});
        world_.builder.commit(world_.a, {insert("tasks", row_)});
    }
    TaskRun& lines(std::initializer_list<std::int64_t> accounts) {
        for (const std::int64_t account : accounts) {
            world_.builder.commit(world_.a, {insert("ledger", ledger(account))});
        }
        return *this;
    }
    TaskRun& becomes(std::string_view status, const Shown& shown) {
        const model::Cells next = task(status, shown);
        world_.builder.commit(world_.a, {update("tasks", row_, next)});
        row_ = next;
        return *this;
    }
    TaskRun& cancel_asked() {
        world_.builder.cancel_asked(kUnit);
        return *this;
    }
    Judgement judged(std::string_view checker, const Expectations& by = with_progress()) {
        World ended = world_;
        ended.builder.due("acme", "reconcile");
        ended.builder.end();
        return ended.judged(checker, by);
    }

private:
    World world_;
    model::Cells row_;
};

TEST(ShownProgressTest, PassesWhatIsTrue) {
    TaskRun run;
    run.lines({1}).becomes("running", {integer(1), integer(3), integer(33)});
    run.lines({2, 3}).becomes("succeeded", {integer(3), integer(3), integer(100)});
    EXPECT_EQ(run.judged(kHonest).verdict, Verdict::Pass);
}

TEST(ShownProgressTest, OnlySuccessShowsAHundredPercent) {
    for (const std::string_view status : {"running", "failed", "cancelled"}) {
        TaskRun run;
        run.cancel_asked().becomes(status, {integer(0), integer(3), integer(100)});
        const Judgement judgement = run.judged(kHonest);
        ASSERT_EQ(judgement.findings.size(), 1U) << status;
        EXPECT_EQ(judgement.findings[0].message,
                  "Claim acme/reconcile@2026-03-02T18:00:00Z shows 100 % and says " +
                      std::string(status) +
                      ", set by A#1/reconcile at 2026-03-02T18:00:02Z "
                      "(record 7).");
    }
}

TEST(ShownProgressTest, WithoutAPercentageAllDoneIsAHundredPercentInTheEnd) {
    Expectations expectations = with_progress();
    expectations.claims->progress->percent.clear();
    TaskRun running;
    running.lines({1, 2, 3}).becomes("running", {integer(3), integer(3), kNull});
    running.becomes("succeeded", {integer(3), integer(3), kNull});
    EXPECT_EQ(running.judged(kHonest, expectations).verdict, Verdict::Pass);
    TaskRun failed;
    failed.lines({1, 2}).becomes("failed", {integer(3), integer(3), kNull});
    EXPECT_EQ(failed.judged(kHonest, expectations).findings.size(), 1U);
}

TEST(ShownProgressTest, ATotalIsShownOnlyIfItIsKnown) {
    TaskRun run;
    run.lines({1}).becomes("running", {integer(1), integer(3), kNull});
    EXPECT_EQ(run.judged(kHonest, with_progress(std::nullopt)).findings.size(), 1U);
    EXPECT_EQ(run.judged(kHonest, with_progress(3)).verdict, Verdict::Pass);
}

TEST(ShownProgressTest, AShownTotalIsRight) {
    TaskRun run;
    run.lines({1}).becomes("running", {integer(1), integer(2), integer(50)});
    EXPECT_EQ(run.judged(kHonest).findings.size(), 1U);
}

TEST(ShownProgressTest, APercentageNeedsATotal) {
    TaskRun run;
    run.lines({1}).becomes("running", {integer(1), kNull, integer(50)});
    EXPECT_EQ(run.judged(kHonest, with_progress(std::nullopt)).findings.size(), 1U);
    TaskRun ended;
    ended.lines({1, 2, 3}).becomes("succeeded", {integer(3), kNull, integer(100)});
    EXPECT_EQ(ended.judged(kHonest, with_progress(std::nullopt)).verdict, Verdict::Pass);
}

TEST(ShownProgressTest, NoMoreIsDoneThanIsThere) {
    TaskRun run;
    run.lines({1}).becomes("running", {integer(2), integer(3), integer(66)});
    EXPECT_EQ(run.judged(kHonest).findings.size(), 1U);
}

TEST(ShownProgressTest, ACancelNeedsSomebodyWhoAskedForIt) {
    TaskRun asked;
    asked.cancel_asked().becomes("cancelled", {integer(0), kNull, kNull});
    EXPECT_EQ(asked.judged(kHonest).verdict, Verdict::Pass);
    TaskRun unasked;
    unasked.becomes("cancelled", {integer(0), kNull, kNull});
    ASSERT_EQ(unasked.judged(kHonest).findings.size(), 1U);
    EXPECT_NE(unasked.judged(kHonest).findings[0].message.find("nobody had asked for it"),
              std::string::npos);
}

TEST(ShownProgressTest, CancelledWorkMayMissWhatItHadNotDone) {
    TaskRun run;
    run.lines({1}).cancel_asked().becomes("cancelled", {integer(1), integer(3), integer(33)});
    EXPECT_EQ(run.judged(kOnce).reason,
              "1 effect, each there once; 2 of cancelled work left undone");
    TaskRun twice;
    twice.lines({1, 1}).cancel_asked().becomes("cancelled", {integer(1), integer(3), integer(33)});
    EXPECT_EQ(twice.judged(kOnce).findings.size(), 1U);
}

TEST(ShownProgressTest, FailedWorkOrACancelThatNobodyAskedForExcusesNothing) {
    TaskRun failed;
    failed.lines({1}).cancel_asked().becomes("failed", {integer(1), integer(3), integer(33)});
    EXPECT_EQ(failed.judged(kOnce).findings.size(), 2U);
    TaskRun unasked;
    unasked.lines({1}).becomes("cancelled", {integer(1), integer(3), integer(33)});
    EXPECT_EQ(unasked.judged(kOnce).findings.size(), 2U);
}

}  // namespace
}  // namespace fencepost::checkers
