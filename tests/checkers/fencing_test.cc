// fencing: no write of a stale holder after a newer one's, whether the row keeps a token or not.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kFencing = "fencing";

TEST(FencingTest, PassesTokensThatGrow) {
    World world = ReconcileRun{}.run();
    const Judgement judgement = world.judged(kFencing);
    EXPECT_EQ(judgement.verdict, Verdict::Pass);
    EXPECT_EQ(judgement.reason, "3 fenced writes, none by a stale holder");
}

TEST(FencingTest, RejectsATokenThatGoesBack) {
    World world = ReconcileRun{}
                      .after("second batch",
                             [](World& w) {
                                 w.builder.commit(w.a, {update("balances", balance(2, integer(2)),
                                                               balance(9, integer(1)))});
                             })
                      .run();
    const Judgement judgement = world.judged(kFencing);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "balances (1)");
    EXPECT_EQ(judgement.findings[0].message,
              "balances (1) went back from token 2 (written by B#1/reconcile at "
              "2026-03-02T18:00:08Z (record 15)) to token 1, written by A#1/reconcile at "
              "2026-03-02T18:00:09Z (record 17).");
}

TEST(FencingTest, RejectsAStaleHolderWhereTheRowKeepsNoToken) {
    World world;
    const auto claimed = [](model::Cell owner, std::int64_t token) {
        return claim("running", owner, integer(token), kNull);
    };
    world.builder.commit(world.a, {insert("claims", claimed("A", 1))});
    world.builder.commit(world.b, {update("claims", claimed("A", 1), claimed("B", 2))});
    world.builder.commit(world.b, {update("balances", balance(0, kNull), balance(1, kNull))});
    world.builder.commit(world.a_renewal,
                         {update("balances", balance(1, kNull), balance(2, kNull))});
    const Judgement judgement = world.judged(kFencing);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "balances (1) was changed by A#1/lease-renewal at 2026-03-02T18:00:04Z (record 7), "
              "which holds the stale token 1 of claim acme/reconcile@2026-03-02T18:00:00Z, after "
              "the holder of token 2, B#1/reconcile at 2026-03-02T18:00:03Z (record 6), had "
              "written to it.");
}

TEST(FencingTest, PassesALateWriteBeforeTheNewHolderWrote) {
    World world = ReconcileRun{}
                      .after("takeover",
                             [](World& w) {
                                 w.builder.commit(w.a, {update("balances", balance(1, integer(1)),
                                                               balance(5, integer(1)))});
                             })
                      .run();
    EXPECT_EQ(world.judged(kFencing).verdict, Verdict::Pass);
}

TEST(FencingTest, ForgetsAnOldTokenWhenTheTaskClaimsAgain) {
    World world =
        ReconcileRun{}
            .after("second batch",
                   [](World& w) {
                       w.builder.commit(
                           w.a,
                           {update("claims", claim("running", "B", integer(2), "2"),
                                   claim("running", "A", integer(3), "2")),
                            update("balances", balance(2, integer(2)), balance(3, integer(3)))});
                   })
            .without("third batch")
            .run();
    EXPECT_EQ(world.judged(kFencing).verdict, Verdict::Pass);
}

TEST(FencingTest, DoesNotCompareTokensOfDifferentClaims) {
    World world;
    const auto row = [](std::string_view key, std::string_view owner, std::int64_t token) {
        return model::Cells{key, "running", owner, integer(token), kNull};
    };
    world.builder.commit(world.b, {insert("claims", row("monday", "B", 7))});
    world.builder.commit(world.b, {update("balances", balance(0, kNull), balance(1, kNull))});
    world.builder.commit(world.a, {insert("claims", row("tuesday", "A", 1))});
    world.builder.commit(world.a, {update("balances", balance(1, kNull), balance(2, kNull))});
    EXPECT_EQ(world.judged(kFencing).verdict, Verdict::Pass);
}

TEST(FencingTest, RejectsTheDeletionByAStaleHolder) {
    World world =
        ReconcileRun{}
            .after("second batch",
                   [](World& w) {
                       w.builder.commit(w.a, {remove("balances", balance(2, integer(2)))});
                   })
            .run();
    EXPECT_EQ(world.judged(kFencing).findings.size(), 1U);
}

TEST(FencingTest, KnowsTheTokenOfARowFromBeforeTheRun) {
    World world;
    world.builder.commit(world.a,
                         {update("balances", balance(0, integer(9)), balance(1, integer(4)))});
    const Judgement judgement = world.judged(kFencing);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("token 9 (there before the run) to token 4"),
              std::string::npos);
}

TEST(FencingTest, IsUnknownWhenNothingWasWrittenOrNoTokenIsKnown) {
    World world;
    world.builder.end();
    EXPECT_EQ(world.judged(kFencing).verdict, Verdict::Unknown);
    world.builder.commit(world.a, {update("balances", balance(0, kNull), balance(1, kNull))});
    EXPECT_EQ(world.judged(kFencing).verdict, Verdict::Unknown);
}

TEST(FencingTest, IsNotApplicableWithoutAFencedTable) {
    World world = ReconcileRun{}.run();
    Expectations expectations = reconcile_expectations();
    expectations.fenced.clear();
    EXPECT_EQ(world.judged(kFencing, expectations).verdict, Verdict::NotApplicable);
}

}  // namespace
}  // namespace fencepost::checkers
