// Canaries: a run in which everything holds, changed so that exactly one checker must fail.
//
// Goal: every checker can fail, and none is blamed for what another one watches.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

using model::KeyChangeKind;
using Names = std::vector<std::string>;

TEST(CanaryTest, EveryCheckerPassesTheRunInWhichEverythingHolds) {
    const World world = ReconcileRun{}.run();
    for (const Judgement& judgement :
         judge_all(world.builder.history(), reconcile_expectations(), every_checker())) {
        EXPECT_EQ(judgement.verdict, Verdict::Pass) << judgement.checker << judgement.reason;
        EXPECT_TRUE(judgement.findings.empty());
        EXPECT_FALSE(judgement.reason.empty());
    }
}

TEST(CanaryTest, NoCheckerPassesAnEmptyHistory) {
    sim::History history;
    history.clear();
    for (const Judgement& judgement :
         judge_all(history, reconcile_expectations(), every_checker())) {
        EXPECT_EQ(judgement.verdict, Verdict::Unknown) << judgement.checker;
    }
}

TEST(CanaryTest, NoCheckerPassesWhereNothingIsExpected) {
    const World world = ReconcileRun{}.without("due").run();
    for (const Judgement& judgement :
         judge_all(world.builder.history(), Expectations{}, every_checker())) {
        EXPECT_NE(judgement.verdict, Verdict::Pass) << judgement.checker;
        EXPECT_NE(judgement.verdict, Verdict::Fail) << judgement.checker;
    }
}

TEST(CanaryTest, OnlyOnceSeesAnEffectThatLandsTwiceInOneCommit) {
    const World world =
        ReconcileRun{}
            .after("takeover",
                   [](World& w) {
                       w.builder.commit(w.b,
                                        {insert("ledger", ledger(3)), insert("ledger", ledger(3))});
                   })
            .instead_of("third batch",
                        [](World& w) {
                            w.builder.commit(
                                w.b, {update("claims", claim("running", "B", integer(2), "2"),
                                             claim("succeeded", "B", integer(2), "3"))});
                        })
            .run();
    EXPECT_EQ(failing(world), Names{"once"});
}

TEST(CanaryTest, OnlySingleClaimSeesATakeoverUnderTheSameToken) {
    const World world =
        ReconcileRun{}
            .instead_of("takeover",
                        [](World& w) {
                            w.builder.commit(
                                w.b, {update("claims", claim("running", "A", integer(1), "1"),
                                             claim("running", "B", integer(1), "1"))});
                        })
            .instead_of("second batch",
                        [](World& w) {
                            w.builder.commit(w.b, {insert("ledger", ledger(2)),
                                                   update("balances", balance(1, integer(1)),
                                                          balance(2, integer(1)))});
                        })
            .instead_of("third batch",
                        [](World& w) {
                            w.builder.commit(
                                w.b, {insert("ledger", ledger(3)),
                                      update("claims", claim("running", "B", integer(1), "1"),
                                             claim("succeeded", "B", integer(1), "3"))});
                        })
            .run();
    EXPECT_EQ(failing(world), Names{"single-claim"});
}

TEST(CanaryTest, OnlyFencingSeesAStaleHolderWriteAfterTheNewOne) {
    const World world =
        ReconcileRun{}
            .after("second batch",
                   [](World& w) {
                       w.builder.commit(w.a, {update("balances", balance(2, integer(2)),
                                                     balance(9, integer(2)))});
                   })
            .run();
    EXPECT_EQ(failing(world), Names{"fencing"});
}

TEST(CanaryTest, OnlyConservedSeesAnAmountThatIsTakenAndNotGiven) {
    const World world =
        ReconcileRun{}
            .after("transfer",
                   [](World& w) {
                       w.builder.commit(w.b, {update("accounts", {integer(1), integer(70)},
                                                     {integer(1), integer(60)})});
                   })
            .run();
    EXPECT_EQ(failing(world), Names{"conserved"});
}

TEST(CanaryTest, OnlyKeyStabilitySeesALineThatGetsAnotherKey) {
    const World world =
        ReconcileRun{}
            .after("second batch",
                   [](World& w) {
                       w.builder.commit(w.b, {update("ledger", ledger(2), ledger(2, "another"))});
                   })
            .run();
    EXPECT_EQ(failing(world), Names{"key-stability"});
}

TEST(CanaryTest, OnlyTenantIsolationSeesALineOfAnotherTenant) {
    const World world =
        ReconcileRun{}
            .instead_of("third batch",
                        [](World& w) {
                            w.builder.commit(
                                w.b,
                                {insert("ledger", ledger(3, line_key(3), "globex")),
                                 update("balances", balance(2, integer(2)), balance(3, integer(2))),
                                 update("claims", claim("running", "B", integer(2), "2"),
                                        claim("succeeded", "B", integer(2), "3"))});
                        })
            .run();
    EXPECT_EQ(failing(world), Names{"tenant-isolation"});
}

TEST(CanaryTest, OnlyCheckpointSeesAPositionThatGoesBack) {
    const World world =
        ReconcileRun{}
            .after("second batch",
                   [](World& w) {
                       w.builder.commit(w.b,
                                        {update("claims", claim("running", "B", integer(2), "2"),
                                                claim("running", "B", integer(2), "1"))});
                   })
            .run();
    EXPECT_EQ(failing(world), Names{"checkpoint"});
}

TEST(CanaryTest, OnlyTakeoverSeesATaskThatStillWaits) {
    const World world =
        ReconcileRun{}
            .after("release",
                   [](World& w) { w.builder.unfinished("B#1/reconcile waits for redis"); })
            .run();
    EXPECT_EQ(failing(world), Names{"takeover"});
}

TEST(CanaryTest, OnlyCompletedIsNotRedoneSeesALateUpdateOfACompleteUnit) {
    const World world =
        ReconcileRun{}
            .after(
                "third batch",
                [](World& w) { w.builder.commit(w.a, {update("ledger", ledger(1), ledger(1))}); })
            .run();
    EXPECT_EQ(failing(world), Names{"completed-is-not-redone"});
}

TEST(CanaryTest, OnlySingleHolderSeesSomebodyElsesLeaseReleased) {
    const World world = ReconcileRun{}
                            .after("takeover",
                                   [](World& w) {
                                       w.builder.key(w.a, {.change = KeyChangeKind::Deleted,
                                                           .key = kLease,
                                                           .before = "1:B",
                                                           .after = ""});
                                   })
                            .run();
    EXPECT_EQ(failing(world), Names{"single-holder"});
}

TEST(CanaryTest, OnlyHonestStatusSeesACompleteUnitLeftRunning) {
    const World world =
        ReconcileRun{}
            .instead_of("third batch",
                        [](World& w) { w.builder.commit(w.b, {insert("ledger", ledger(3))}); })
            .run();
    EXPECT_EQ(failing(world), Names{"honest-status"});
}

TEST(CanaryTest, OnlyDrainSeesAClaimThatADrainingProcessTakes) {
    const World world =
        ReconcileRun{}
            .instead_of("takeover",
                        [](World& w) {
                            w.builder.draining(w.b);
                            const sim::RecordId call = w.builder.sends(w.b, "db.execute");
                            w.builder.commit(
                                w.b,
                                {update("claims", claim("running", "A", integer(1), "1"),
                                        claim("running", "B", integer(2), "1"))},
                                call);
                        })
            .run();
    EXPECT_EQ(failing(world), Names{"drain"});
}

TEST(CanaryTest, OnlyStartUpConvergenceSeesARowUnderAnotherId) {
    const World world =
        ReconcileRun{}
            .after("start-up",
                   [](World& w) {
                       w.builder.commit(
                           w.a_start,
                           {insert("setting", {std::string_view{"limit-2"}, integer(900)})});
                   })
            .run();
    EXPECT_EQ(failing(world), Names{"start-up-convergence"});
}

TEST(CheckersTest, AreFoundByNameWithHyphensOrSpaces) {
    ASSERT_NE(find_checker("single-holder"), nullptr);
    EXPECT_EQ(find_checker("single-holder"), find_checker("single holder"));
    EXPECT_EQ(find_checker("singleholder"), nullptr);
    EXPECT_EQ(find_checker(""), nullptr);
}

TEST(CheckersTest, JudgeInTheOrderInWhichTheyAreAsked) {
    const World world = ReconcileRun{}.run();
    const std::vector<const Checker*> asked{find_checker("takeover"), find_checker("once")};
    const auto judgements = judge_all(world.builder.history(), reconcile_expectations(), asked);
    ASSERT_EQ(judgements.size(), 2U);
    EXPECT_EQ(judgements[0].checker, "takeover");
    EXPECT_EQ(judgements[1].checker, "once");
}

TEST(CanaryTest, OnlyInvariantsSeesWhatOnlyTheAuthorStates) {
    const World world = ReconcileRun{}
                            .after("transfer",
                                   [](World& w) {
                                       w.builder.invariant_broken(
                                           w.b, {.invariant = "no-debts", .row = "(2)", .rows = 1});
                                   })
                            .run();
    EXPECT_EQ(failing(world), Names{"invariants"});
}

}  // namespace
}  // namespace fencepost::checkers
