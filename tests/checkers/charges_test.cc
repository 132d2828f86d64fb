// Goal: charges at the outside service are judged as rows are, from what the service did; and what
// may only pass is gone at the end.
#include <gtest/gtest.h>

#include "checkers/checker.h"
#include "tests/checkers/history_builder.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kUnit = "acme/pay@2026-03-02T18:00:00Z";

// Bill 1 is paid. Bill 2 is charged and refunded, because bill 3 is declined.
Expectations expectations() {
    Expectations out;
    EffectTable& charges = out.effects.emplace_back();
    charges.table = "charge";
    charges.identity = {"reference", "amount"};
    charges.expected = {{.unit = std::string{kUnit}, .identity = {"bill-1", "120"}, .position = 1}};
    charges.passing = {{.unit = std::string{kUnit}, .identity = {"bill-2", "150"}}};
    charges.place = EffectPlace::Charges;
    EffectTable& payments = out.effects.emplace_back();
    payments.table = "payment";
    payments.identity = {"bill", "status"};
    payments.expected = {{.unit = std::string{kUnit}, .identity = {"1", "paid"}, .position = 1}};
    payments.passing = {{.unit = std::string{kUnit}, .identity = {"1", "reserved"}}};
    out.claims = ClaimTable{.table = "claims",
                            .key = "business_key",
                            .status = "status",
                            .owner = "owner",
                            .token = "token",
                            .checkpoint = "checkpoint",
                            .finished = {"succeeded", "failed"}};
    return out;
}

model::Cells payment(std::string_view status) {
    return {std::int64_t{1}, status};
}
model::Cells claim(std::string_view status, model::Cell checkpoint) {
    return {kUnit, status, std::string_view{"A"}, std::int64_t{1}, checkpoint};
}

class ChargesTest : public testing::Test {
protected:
    ChargesTest() {
        builder_.table("payment", "bill,status");
        builder_.table("claims", "business_key,status,owner,token,checkpoint");
        builder_.due("acme", "pay");
    }

    void intend() {
        builder_.commit(
            a_, {insert("claims", claim("running", {})), insert("payment", payment("reserved"))});
    }
    void settle() {
        builder_.commit(
            a_, {update("payment", payment("reserved"), payment("paid")),
                 update("claims", claim("running", {}), claim("running", std::string_view{"1"}))});
    }
    void charge(std::string_view request, std::string_view bill, std::int64_t amount) {
        builder_.charge(a_, {request, bill, amount});
    }
    void finish() {
        builder_.commit(a_, {update("claims", claim("running", std::string_view{"1"}),
                                    claim("succeeded", std::string_view{"1"}))});
        builder_.end();
    }
    // The run in which everything holds.
    void run() {
        intend();
        charge("r1", "bill-1", 120);
        settle();
        charge("r2", "bill-2", 150);
        builder_.decline(a_, {"r3", "bill-3", 900});
        builder_.refund(a_, {"r2", "bill-2", 150});
        finish();
    }

    [[nodiscard]] Judgement judged(std::string_view checker) const {
        return judge(*find_checker(checker), builder_.history(), expectations_);
    }
    [[nodiscard]] std::vector<std::string> failing() const {
        std::vector<std::string> names;
        for (const Checker& checker : all_checkers()) {
            if (judged(checker.name).verdict == Verdict::Fail) names.emplace_back(checker.name);
        }
        return names;
    }

    const Expectations expectations_ = expectations();
    HistoryBuilder builder_;
    sim::TaskId a_ = builder_.task_on_a("pay");
    sim::TaskId b_ = builder_.task_on_b("pay");
};

using Names = std::vector<std::string>;

TEST_F(ChargesTest, EveryCheckerThatAppliesPassesTheRunInWhichEverythingHolds) {
    run();
    EXPECT_EQ(failing(), Names{});
    EXPECT_EQ(judged("once").reason, "2 effects, each there once");
    for (const char* name : {"once", "checkpoint", "completed-is-not-redone", "honest-status"}) {
        EXPECT_EQ(judged(name).verdict, Verdict::Pass) << name;
    }
}

TEST_F(ChargesTest, AnEmptyHistoryIsUnknown) {
    sim::History history;
    history.clear();
    EXPECT_EQ(judge(*find_checker("once"), history, expectations_).verdict, Verdict::Unknown);
}

TEST_F(ChargesTest, OnlyOnceSeesABillThatIsChargedUnderTwoRequestIds) {
    intend();
    charge("r1", "bill-1", 120);
    charge("r9", "bill-1", 120);
    settle();
    finish();
    EXPECT_EQ(failing(), Names{"once"});
    const Judgement judgement = judged("once");
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, std::string{kUnit} + "/bill-1/120");
    EXPECT_EQ(judgement.findings[0].message,
              "charge (bill-1, 120) is there twice: written by A#1/pay at 2026-03-02T18:00:02Z "
              "(record 5) and again by A#1/pay at 2026-03-02T18:00:03Z (record 6).");
}

TEST_F(ChargesTest, ASecondChargeThatIsRefundedWasThereAllTheSame) {
    intend();
    charge("r1", "bill-1", 120);
    charge("r9", "bill-1", 120);
    builder_.refund(a_, {"r9", "bill-1", 120});
    settle();
    finish();
    EXPECT_EQ(failing(), Names{"once"});
}

TEST_F(ChargesTest, AChargeThatNeverHappenedIsMissing) {
    intend();
    settle();
    builder_.end();
    EXPECT_EQ(judged("once").findings.front().message,
              "charge (bill-1, 120) is missing at the end of the run.");
    EXPECT_EQ(judged("checkpoint").verdict, Verdict::Fail);
}

TEST_F(ChargesTest, AChargeThatIsRefundedForNoReasonIsMissing) {
    intend();
    charge("r1", "bill-1", 120);
    settle();
    builder_.refund(a_, {"r1", "bill-1", 120});
    builder_.end();
    EXPECT_EQ(judged("once").verdict, Verdict::Fail);
}

TEST_F(ChargesTest, AChargeOfAnotherAmountIsNotTheOneThatWasExpected) {
    intend();
    charge("r1", "bill-1", 121);
    settle();
    builder_.end();
    EXPECT_EQ(judged("once").findings.size(), 2U);
}

TEST_F(ChargesTest, WhatMayOnlyPassMustBeGoneAtTheEnd) {
    intend();
    charge("r1", "bill-1", 120);
    settle();
    charge("r2", "bill-2", 150);
    finish();
    EXPECT_EQ(failing(), Names{"once"});
    EXPECT_EQ(judged("once").findings.front().message,
              "charge (bill-2, 150) is still there at the end of the run and had to be gone: it "
              "was made by A#1/pay at 2026-03-02T18:00:04Z (record 8).");
}

TEST_F(ChargesTest, WhatMayOnlyPassIsThereOnceAtATime) {
    run();
    EXPECT_EQ(judged("once").verdict, Verdict::Pass);
    charge("r2", "bill-2", 150);
    charge("r9", "bill-2", 150);
    builder_.refund(a_, {"r2", "bill-2", 150});
    builder_.refund(a_, {"r9", "bill-2", 150});
    EXPECT_EQ(judged("once").findings.size(), 1U);
}

TEST_F(ChargesTest, ARowThatStaysReservedIsStillOnItsWay) {
    intend();
    charge("r1", "bill-1", 120);
    builder_.end();
    EXPECT_EQ(judged("once").findings.size(), 2U);  // not paid, and still reserved
}

TEST_F(ChargesTest, AChargeThatIsDeclinedIsNone) {
    intend();
    builder_.decline(a_, {"r1", "bill-1", 120});
    settle();
    builder_.end();
    EXPECT_EQ(judged("once").verdict, Verdict::Fail);
}

TEST_F(ChargesTest, ACompleteUnitThatSomebodyElseChargesAgainIsRedone) {
    intend();
    charge("r1", "bill-1", 120);
    settle();
    builder_.charge(b_, {"r9", "bill-1", 120});
    finish();
    EXPECT_EQ(failing(), (Names{"once", "checkpoint", "completed-is-not-redone"}));
}

TEST_F(ChargesTest, AClaimThatFailedWhileEverythingWasChargedIsDishonest) {
    intend();
    charge("r1", "bill-1", 120);
    settle();
    builder_.commit(a_, {update("claims", claim("running", std::string_view{"1"}),
                                claim("failed", std::string_view{"1"}))});
    builder_.end();
    EXPECT_EQ(failing(), Names{"honest-status"});
}

TEST_F(ChargesTest, WithoutExpectationsChargesAreNobodysMatter) {
    run();
    EXPECT_EQ(judge(*find_checker("once"), builder_.history(), Expectations{}).verdict,
              Verdict::Unknown);
}

}  // namespace
}  // namespace fencepost::checkers
