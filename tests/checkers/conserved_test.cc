// conserved: sums stay what they were, commit by commit.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kConserved = "conserved";

model::Cells account(std::int64_t number, model::Cell balance) {
    return {integer(number), balance};
}

// A world with the table of accounts, of which nothing is known before the run.
World accounts() {
    World world;
    world.builder.table("accounts", "account,balance");
    return world;
}

TEST(ConservedTest, PassesAmountsThatMove) {
    World world = ReconcileRun{}.run();
    EXPECT_EQ(world.judged(kConserved).verdict, Verdict::Pass);
    EXPECT_EQ(world.judged(kConserved).reason, "1 commit moved what is conserved, sums kept");
}

TEST(ConservedTest, RejectsAnAmountThatIsTakenAndNotGiven) {
    World world = accounts();
    world.builder.commit(world.a,
                         {update("accounts", account(1, integer(50)), account(1, integer(20)))});
    const Judgement judgement = world.judged(kConserved);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "accounts.balance");
    EXPECT_EQ(judgement.findings[0].message,
              "The sum of accounts.balance was changed by -30 in one commit by A#1/reconcile at "
              "2026-03-02T18:00:01Z (record 5); it is -30 from what it was before the run.");
}

TEST(ConservedTest, BlamesTheHalfThatBreaksTheSumAndNotTheOneThatMendsIt) {
    World world = accounts();
    world.builder.commit(world.a,
                         {update("accounts", account(1, integer(50)), account(1, integer(20)))});
    world.builder.commit(world.a,
                         {update("accounts", account(2, integer(0)), account(2, integer(30)))});
    const Judgement judgement = world.judged(kConserved);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].record, 5U);
}

TEST(ConservedTest, CountsRowsThatComeAndGoAndNullAsNothing) {
    World world = accounts();
    world.builder.commit(world.a, {insert("accounts", account(3, kNull)),
                                   remove("accounts", account(1, integer(50))),
                                   update("accounts", account(3, kNull), account(3, integer(50)))});
    EXPECT_EQ(world.judged(kConserved).verdict, Verdict::Pass);
    world.builder.commit(world.a, {remove("accounts", account(3, integer(50)))});
    EXPECT_EQ(world.judged(kConserved).findings.size(), 1U);
}

TEST(ConservedTest, KeepsTheSumsOfTwoTablesApart) {
    Expectations expectations = reconcile_expectations();
    expectations.conserved.push_back({.table = "balances", .column = "amount"});
    World world = accounts();
    world.builder.commit(world.a,
                         {update("accounts", account(1, integer(50)), account(1, integer(20))),
                          update("balances", balance(0, kNull), balance(30, kNull))});
    EXPECT_EQ(world.judged(kConserved, expectations).findings.size(), 2U);
}

TEST(ConservedTest, IsUnknownWhenNothingMovedAndNotApplicableWithoutAColumn) {
    World world = accounts();
    world.builder.commit(world.a, {insert("ledger", ledger(1))});
    world.builder.end();
    EXPECT_EQ(world.judged(kConserved).verdict, Verdict::Unknown);
    Expectations expectations = reconcile_expectations();
    expectations.conserved.clear();
    EXPECT_EQ(world.judged(kConserved, expectations).verdict, Verdict::NotApplicable);
}

}  // namespace
}  // namespace fencepost::checkers
