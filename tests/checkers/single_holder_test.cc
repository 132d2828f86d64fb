// single holder: a lease that stands is changed by its holder alone.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

using model::KeyChangeKind;

constexpr std::string_view kSingleHolder = "single-holder";

void set(World& world, sim::TaskId task, std::string_view before, std::string_view after) {
    world.builder.key(task, {.key = kLease, .before = before, .after = after});
}
void change(World& world, sim::TaskId task, KeyChangeKind kind, std::string_view before) {
    world.builder.key(task, {.change = kind, .key = kLease, .before = before, .after = ""});
}

TEST(SingleHolderTest, PassesLeasesThatAreTakenRenewedExpiredAndReleased) {
    World world = ReconcileRun{}.run();
    EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass);
    EXPECT_EQ(world.judged(kSingleHolder).reason, "2 leases taken, none touched by another task");
}

TEST(SingleHolderTest, RejectsTheReleaseOfSomebodyElsesLease) {
    World world;
    set(world, world.b, "", "1:B");
    change(world, world.a_renewal, KeyChangeKind::Deleted, "1:B");
    const Judgement judgement = world.judged(kSingleHolder);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "While the lease lease:acme/reconcile = 1:B stood, set by B#1/reconcile at "
              "2026-03-02T18:00:01Z (record 4), it was released by A#1/lease-renewal at "
              "2026-03-02T18:00:02Z (record 5).");
}

TEST(SingleHolderTest, RejectsTheRenewalOfSomebodyElsesLease) {
    World world;
    set(world, world.b, "", "1:B");
    change(world, world.a, KeyChangeKind::ExpirySet, "1:B");
    change(world, world.b, KeyChangeKind::Deleted, "1:B");
    EXPECT_EQ(world.judged(kSingleHolder).findings.size(), 1U);
}

TEST(SingleHolderTest, RejectsAnOverwrittenLeaseOnce) {
    World world;
    set(world, world.a, "", "1:A");
    set(world, world.b, "1:A", "1:B");
    change(world, world.b, KeyChangeKind::Deleted, "1:B");
    const Judgement judgement = world.judged(kSingleHolder);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("it was overwritten with 1:B by B#1/reconcile"),
              std::string::npos);
}

TEST(SingleHolderTest, PassesTheNextHolderOfALeaseThatIsNoMore) {
    for (const KeyChangeKind how :
         {KeyChangeKind::Expired, KeyChangeKind::Evicted, KeyChangeKind::Lost}) {
        World world;
        set(world, world.a, "", "1:A");
        change(world, sim::kNoTask, how, "1:A");
        set(world, world.b, "", "1:B");
        change(world, world.b, KeyChangeKind::ExpirySet, "1:B");
        EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass) << name_of(how);
    }
}

TEST(SingleHolderTest, TakesAKeyThatWasEmptyForFree) {
    World world;
    set(world, world.a, "", "1:A");
    set(world, world.b, "", "1:B");
    EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass);
}

TEST(SingleHolderTest, GivesALeaseThatAFailoverBringsBackToItsHolder) {
    World world;
    set(world, world.a, "", "1:A");
    change(world, world.a, KeyChangeKind::Deleted, "1:A");
    set(world, world.b, "", "1:B");
    world.builder.key(
        sim::kNoTask,
        {.change = KeyChangeKind::Lost, .key = kLease, .before = "1:B", .after = "1:A"});
    EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass);
    change(world, world.b, KeyChangeKind::Deleted, "1:A");
    EXPECT_EQ(world.judged(kSingleHolder).findings.size(), 1U);
}

TEST(SingleHolderTest, LooksAtLeasesOnly) {
    World world;
    world.builder.key(world.a, {.key = "cache:x", .before = "", .after = "1"});
    world.builder.key(world.b, {.key = "cache:x", .before = "1", .after = "2"});
    EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Unknown);
}

TEST(SingleHolderTest, IsNotApplicableWithoutLeases) {
    World world = ReconcileRun{}.run();
    Expectations expectations = reconcile_expectations();
    expectations.lease_prefix.clear();
    EXPECT_EQ(world.judged(kSingleHolder, expectations).verdict, Verdict::NotApplicable);
}

// A's lease ends in that way, B takes the next; a transaction of A that began when it did is
// committed at the end.
enum class Begins { BeforeTheNextLease, UnderTheNextLease, AfterTheNextLease };
World late_write(KeyChangeKind how, Begins begins) {
    World world;
    set(world, world.a, "", "1:A");
    change(world, sim::kNoTask, how, "1:A");
    if (begins == Begins::BeforeTheNextLease) world.builder.call(world.a, "db.begin");
    set(world, world.b, "", "2:B");
    if (begins == Begins::UnderTheNextLease) world.builder.call(world.a, "db.begin");
    world.builder.call(world.b, "db.begin");
    if (begins == Begins::AfterTheNextLease) {
        change(world, world.b, KeyChangeKind::Deleted, "2:B");
        world.builder.call(world.a, "db.begin");
    }
    const sim::RecordId commit = world.builder.call(world.a, "db.commit");
    world.builder.commit(world.a, {insert("ledger", ledger(1))}, commit);
    return world;
}

TEST(SingleHolderTest, RejectsAWriteThatBeginsWhenItsLeaseRanOutAndTheNextStands) {
    World world = late_write(KeyChangeKind::Expired, Begins::UnderTheNextLease);
    const Judgement judgement = world.judged(kSingleHolder);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, kLease);
    EXPECT_EQ(judgement.findings[0].message,
              "While the lease lease:acme/reconcile = 2:B stood, set by B#1/reconcile at "
              "2026-03-02T18:00:03Z (record 6), A#1/reconcile at 2026-03-02T18:00:04Z (record 7) "
              "began to write, whose own lease 1:A had run out.");
}

TEST(SingleHolderTest, RejectsASingleStatementThatBeginsThen) {
    World world;
    set(world, world.a, "", "1:A");
    change(world, sim::kNoTask, KeyChangeKind::Expired, "1:A");
    set(world, world.b, "", "2:B");
    const sim::RecordId statement = world.builder.call(world.a, "db.execute");
    world.builder.commit(world.a, {update("balances", balance(0, kNull), balance(1, integer(1)))},
                         statement);
    EXPECT_EQ(world.judged(kSingleHolder).findings.size(), 1U);
}

TEST(SingleHolderTest, PassesAWriteThatBeganBeforeTheNextLeaseOrAfterIt) {
    for (const Begins begins : {Begins::BeforeTheNextLease, Begins::AfterTheNextLease}) {
        World world = late_write(KeyChangeKind::Expired, begins);
        EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass);
    }
}

TEST(SingleHolderTest, PassesAHolderWhoseLeaseRedisLost) {
    for (const KeyChangeKind how : {KeyChangeKind::Lost, KeyChangeKind::Evicted}) {
        World world = late_write(how, Begins::UnderTheNextLease);
        EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass) << name_of(how);
    }
}

TEST(SingleHolderTest, JudgesNoWritesWhereAClockWasChanged) {
    World world = late_write(KeyChangeKind::Expired, Begins::UnderTheNextLease);
    world.builder.strikes("clock-drift A at 2026-03-02T18:00:00Z by -50000 ppm");
    EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass);
}

TEST(SingleHolderTest, PassesAWriterThatHoldsAnotherLease) {
    World world;
    set(world, world.a, "", "1:A");
    change(world, sim::kNoTask, KeyChangeKind::Expired, "1:A");
    set(world, world.b, "", "2:B");
    world.builder.key(world.a, {.key = "lease:acme/other", .before = "", .after = "1:A"});
    const sim::RecordId statement = world.builder.call(world.a, "db.execute");
    world.builder.commit(world.a, {insert("ledger", ledger(1))}, statement);
    EXPECT_EQ(world.judged(kSingleHolder).verdict, Verdict::Pass);
}

}  // namespace
}  // namespace fencepost::checkers
