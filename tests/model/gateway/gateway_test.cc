// Goal: the outside service works each request id once, and answers what became of it.
#include "model/gateway/gateway.h"

#include <gtest/gtest.h>

namespace fencepost::model::gateway {
namespace {

const Charge kCharge{.request_id = "r-1", .reference = "bill-1", .amount = 120};

class GatewayTest : public testing::Test {
protected:
    GatewayTest() {
        gateway_.set_observer([this](Change change, const Charge& charge) {
            changes_.emplace_back(change, charge.request_id);
        });
        gateway_.reset({.limit = 500});
    }

    Answer submit(const Charge& charge) { return std::get<Answer>(gateway_.submit(charge)); }

    Gateway gateway_;
    std::vector<std::pair<Change, std::string>> changes_;
};

TEST_F(GatewayTest, ARequestIdIsChargedOnceHoweverOftenItIsSubmitted) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(submit(kCharge), Answer::Accepted);
    ASSERT_EQ(changes_.size(), 1U);
    EXPECT_EQ(changes_[0].first, Change::Applied);
}

TEST_F(GatewayTest, TheSameBillUnderTwoRequestIdsIsChargedTwice) {
    submit(kCharge);
    Charge again = kCharge;
    again.request_id = "r-2";
    EXPECT_EQ(submit(again), Answer::Accepted);
    EXPECT_EQ(changes_.size(), 2U);
}

TEST_F(GatewayTest, ARequestIdStandsForOneCharge) {
    submit(kCharge);
    Charge other = kCharge;
    other.amount = 121;
    EXPECT_TRUE(std::holds_alternative<IdTaken>(gateway_.submit(other)));
    other = kCharge;
    other.reference = "bill-2";
    EXPECT_TRUE(std::holds_alternative<IdTaken>(gateway_.submit(other)));
    EXPECT_EQ(changes_.size(), 1U);
}

TEST_F(GatewayTest, WhatExceedsTheLimitIsDeclinedForGood) {
    const Charge large{.request_id = "r-3", .reference = "bill-3", .amount = 501};
    EXPECT_EQ(submit(large), Answer::Declined);
    EXPECT_EQ(submit(large), Answer::Declined);
    EXPECT_EQ(gateway_.look_up("r-3"), Standing::Declined);
    EXPECT_EQ(gateway_.refund("r-3"), Standing::Declined);
    ASSERT_EQ(changes_.size(), 1U);
    EXPECT_EQ(changes_[0].first, Change::Declined);
    EXPECT_EQ(submit({.request_id = "r-4", .reference = "bill-4", .amount = 500}),
              Answer::Accepted);
}

TEST_F(GatewayTest, ALookUpTellsWhetherARequestHasArrived) {
    EXPECT_EQ(gateway_.look_up("r-1"), Standing::Unknown);
    submit(kCharge);
    EXPECT_EQ(gateway_.look_up("r-1"), Standing::Accepted);
}

TEST_F(GatewayTest, ARefundGivesBackOnceAndARepeatOfTheRequestChargesNothing) {
    submit(kCharge);
    EXPECT_EQ(gateway_.refund("r-1"), Standing::Refunded);
    EXPECT_EQ(gateway_.refund("r-1"), Standing::Refunded);
    EXPECT_EQ(gateway_.look_up("r-1"), Standing::Refunded);
    EXPECT_EQ(submit(kCharge), Answer::Accepted);
    ASSERT_EQ(changes_.size(), 2U);
    EXPECT_EQ(changes_[1].first, Change::Refunded);
}

TEST_F(GatewayTest, WhatNeverArrivedCannotBeRefunded) {
    EXPECT_EQ(gateway_.refund("r-9"), Standing::Unknown);
    EXPECT_TRUE(changes_.empty());
}

TEST_F(GatewayTest, ANewRunKnowsNothingOfTheLast) {
    submit(kCharge);
    gateway_.reset({});
    EXPECT_EQ(gateway_.look_up("r-1"), Standing::Unknown);
}

}  // namespace
}  // namespace fencepost::model::gateway
