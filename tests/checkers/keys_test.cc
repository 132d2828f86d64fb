// key-stability and tenant-isolation: what names an act, and whose its rows are.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kStability = "key-stability";
constexpr std::string_view kIsolation = "tenant-isolation";

TEST(KeyStabilityTest, PassesEffectsAndClaimsUnderTheirOwnKeys) {
    World world = ReconcileRun{}.run();
    const Judgement judgement = world.judged(kStability);
    EXPECT_EQ(judgement.verdict, Verdict::Pass);
    EXPECT_EQ(judgement.reason, "4 keys, each of one act");
}

TEST(KeyStabilityTest, IsUnknownWhenNothingWasWritten) {
    World world;
    world.builder.end();
    EXPECT_EQ(world.judged(kStability).verdict, Verdict::Unknown);
}

TEST(KeyStabilityTest, DoesNotApplyWhereNothingHasAKey) {
    World world = ReconcileRun{}.run();
    Expectations expectations = reconcile_expectations();
    expectations.effects[0].key.clear();
    expectations.claims.reset();
    EXPECT_EQ(world.judged(kStability, expectations).verdict, Verdict::NotApplicable);
}

TEST(KeyStabilityTest, RejectsOneEffectUnderTwoKeys) {
    World world;
    world.builder.commit(world.a, {insert("ledger", ledger(1))});
    world.builder.commit(world.b, {insert("ledger", ledger(1, "2026-03-03T02:00:00/1"))});
    const Judgement judgement = world.judged(kStability);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "acme/reconcile@2026-03-02T18:00:00Z/1/2026-03-02");
    EXPECT_EQ(judgement.findings[0].message,
              "ledger (1, 2026-03-02) has two keys: acme/reconcile@2026-03-02T18:00:00Z/1 from "
              "A#1/reconcile at 2026-03-02T18:00:01Z (record 4) and 2026-03-03T02:00:00/1 from "
              "B#1/reconcile at 2026-03-02T18:00:02Z (record 5).");
}

TEST(KeyStabilityTest, RejectsAnEffectThatComesBackUnderAnotherKeyAfterItWasDeleted) {
    World world;
    world.builder.commit(world.a, {insert("ledger", ledger(1))});
    world.builder.commit(world.a, {remove("ledger", ledger(1))});
    world.builder.commit(world.a, {insert("ledger", ledger(1, "another"))});
    EXPECT_EQ(world.judged(kStability).verdict, Verdict::Fail);
}

TEST(KeyStabilityTest, RejectsTwoEffectsUnderOneKey) {
    World world;
    world.builder.commit(world.a, {insert("ledger", ledger(1, "2026-10-25T02:30:00"))});
    world.builder.commit(world.a, {insert("ledger", ledger(2, "2026-10-25T02:30:00"))});
    const Judgement judgement = world.judged(kStability);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "2026-10-25T02:30:00");
}

TEST(KeyStabilityTest, RejectsARowWhoseKeyStaysAndWhoseMeaningChanges) {
    World world;
    world.builder.commit(world.a, {insert("ledger", ledger(1, "k"))});
    world.builder.commit(world.a, {update("ledger", ledger(1, "k"), ledger(2, "k"))});
    EXPECT_EQ(world.judged(kStability).verdict, Verdict::Fail);
}

TEST(KeyStabilityTest, RejectsAClaimUnderAKeyThatNothingDueHas) {
    World world;
    model::Cells strange = claim("running", "A", integer(1), kNull);
    strange[0] = std::string_view{"acme/reconcile@2026-03-02T18:05:07Z"};
    world.builder.commit(world.a, {insert("claims", strange)});
    const Judgement judgement = world.judged(kStability);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "acme/reconcile@2026-03-02T18:05:07Z");
}

TEST(KeyStabilityTest, DoesNotMindTheSameLineTwiceUnderOneKey) {
    World world;
    world.builder.commit(world.a, {insert("ledger", ledger(1)), insert("ledger", ledger(1))});
    EXPECT_EQ(world.judged(kStability).verdict, Verdict::Pass);
}

void fires(World& world, sim::TaskId task, std::string_view tenant) {
    world.builder.fire(task, {.job = "reconcile", .tenant = tenant, .fire_instance_id = "A1"});
}

TEST(TenantIsolationTest, PassesRowsOfTheTenantWhoseClaimMovesWithThem) {
    World world = ReconcileRun{}.run();
    const Judgement judgement = world.judged(kIsolation);
    EXPECT_EQ(judgement.verdict, Verdict::Pass);
    EXPECT_EQ(judgement.reason, "3 rows written, each by work for its tenant");
}

TEST(TenantIsolationTest, PassesRowsOfTheFiresTenant) {
    World world;
    fires(world, world.a, "acme");
    world.builder.commit(world.a, {insert("ledger", ledger(1))});
    EXPECT_EQ(world.judged(kIsolation).verdict, Verdict::Pass);
}

TEST(TenantIsolationTest, IsUnknownWhereNobodyCanTellWhomARowWasWrittenFor) {
    World world;
    world.builder.commit(world.a, {insert("ledger", ledger(1))});
    EXPECT_EQ(world.judged(kIsolation).verdict, Verdict::Unknown);
}

TEST(TenantIsolationTest, DoesNotApplyWhereRowsHaveNoTenant) {
    World world = ReconcileRun{}.run();
    Expectations expectations = reconcile_expectations();
    expectations.effects[0].tenant.clear();
    EXPECT_EQ(world.judged(kIsolation, expectations).verdict, Verdict::NotApplicable);
}

TEST(TenantIsolationTest, RejectsTheRowOfAnotherTenantThanTheFires) {
    World world;
    fires(world, world.a, "globex");
    world.builder.commit(world.a, {insert("ledger", ledger(1))});
    const Judgement judgement = world.judged(kIsolation);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "ledger (1, 2026-03-02) is acme's and was written by work for globex: A#1/reconcile "
              "at 2026-03-02T18:00:01Z (record 5).");
}

TEST(TenantIsolationTest, RejectsWorkThatTakesAnothersRow) {
    World world;
    fires(world, world.a, "globex");
    world.builder.commit(world.a, {update("ledger", ledger(1), ledger(1, line_key(1), "globex"))});
    EXPECT_EQ(world.judged(kIsolation).findings.size(), 1U);
}

TEST(TenantIsolationTest, RejectsWorkThatDeletesAnothersRow) {
    World world;
    fires(world, world.a, "globex");
    world.builder.commit(world.a, {remove("ledger", ledger(1))});
    EXPECT_EQ(world.judged(kIsolation).verdict, Verdict::Fail);
}

TEST(TenantIsolationTest, GoesByTheFireForTheTasksThatItStarted) {
    World world;
    fires(world, world.a, "globex");
    world.builder.commit(world.a_renewal, {insert("ledger", ledger(1))});
    EXPECT_EQ(world.judged(kIsolation).verdict, Verdict::Fail);
}

}  // namespace
}  // namespace fencepost::checkers
