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

}  // namespace
}  // namespace fencepost::checkers
