// Goal: invariants fails with the author's sentence, the row and who committed it, and never passes
// what was not looked at.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kInvariants = "invariants";

Expectations two_stated() {
    Expectations expectations;
    expectations.invariants = {{.name = "no-debts", .message = "Nobody has debts."},
                               {.name = "paid", .message = "Everybody is paid at the end."}};
    return expectations;
}

TEST(InvariantsTest, WhatHeldWheneverItWasLookedAtPasses) {
    World world;
    world.builder.invariant_looked({.invariant = "no-debts", .times = 3});
    world.builder.invariant_looked({.invariant = "paid", .times = 1, .unanswered = 2});
    const Judgement judgement = world.judged(kInvariants, two_stated());
    EXPECT_EQ(judgement.verdict, Verdict::Pass);
    EXPECT_EQ(judgement.reason, "2 invariants held in 4 looks");
}

TEST(InvariantsTest, ARowThatIsFoundFailsWithTheSentenceAndTheCommit) {
    World world;
    world.builder.commit(world.a, {insert("unrelated", {integer(1)})});
    world.builder.invariant_broken(world.a, {.invariant = "no-debts", .row = "(7, -3)", .rows = 1});
    world.builder.invariant_looked({.invariant = "no-debts", .times = 2});
    world.builder.invariant_looked({.invariant = "paid", .times = 1});
    const Judgement judgement = world.judged(kInvariants, two_stated());
    ASSERT_EQ(judgement.verdict, Verdict::Fail);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "no-debts (7, -3)");
    EXPECT_EQ(judgement.findings[0].message,
              "Nobody has debts. After the commit by A#1/reconcile at 2026-03-02T18:00:01Z (record "
              "4) there is (7, -3).");
    EXPECT_EQ(judgement.findings[0].record, 5U);
}

TEST(InvariantsTest, WhatIsFoundBeforeTheRunOrAtItsEndBlamesNoCommit) {
    World world;
    world.builder.invariant_broken(sim::kNoTask,
                                   {.invariant = "no-debts", .row = "(2)", .rows = 1});
    world.builder.commit(world.a, {insert("unrelated", {integer(1)})});
    world.builder.on_node_of(world.a, sim::PhaseBegan{.name = "audit"});
    world.builder.invariant_broken(world.a, {.invariant = "paid", .row = "(1)", .rows = 4});
    const Judgement judgement = world.judged(kInvariants, two_stated());
    ASSERT_EQ(judgement.findings.size(), 2U);
    EXPECT_EQ(judgement.findings[0].message, "Nobody has debts. Before the run there is (2).");
    EXPECT_EQ(judgement.findings[1].message,
              "Everybody is paid at the end. At the end of the run there is (1) and 3 more.");
}

TEST(InvariantsTest, WhatWasNeverLookedAtIsUnknown) {
    World world;
    EXPECT_EQ(world.judged(kInvariants, two_stated()).verdict, Verdict::Unknown);
    world.builder.invariant_looked({.invariant = "no-debts", .times = 3});
    world.builder.invariant_looked({.invariant = "paid", .times = 0, .unanswered = 5});
    const Judgement judgement = world.judged(kInvariants, two_stated());
    EXPECT_EQ(judgement.verdict, Verdict::Unknown);
    EXPECT_EQ(judgement.reason, "never looked at: paid");
}

TEST(InvariantsTest, WhereNothingIsStatedTheCheckerDoesNotApply) {
    World world;
    EXPECT_EQ(world.judged(kInvariants, Expectations{}).verdict, Verdict::NotApplicable);
}

}  // namespace
}  // namespace fencepost::checkers
