// Goal: the broker's queues deliver at least once and hide what they deliver, as SQS's do.
//
// Method: the state machine alone, with times that the test gives it.
#include "model/broker/broker.h"

#include <gtest/gtest.h>

namespace fencepost::model::broker {
namespace {

using namespace std::chrono_literals;

const sim::Time kNow = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2};
const std::string kQueue = "orders";

class BrokerTest : public testing::Test {
protected:
    BrokerTest() {
        broker_.set_observer([this](Change change, const Stored& message) {
            changes_.emplace_back(change, message.event_id);
        });
        broker_.reset();
    }

    void publish(const std::string& event) { broker_.publish(kQueue, event, "body of " + event); }
    std::optional<Message> receive(sim::Duration after, sim::Duration visibility = 30s) {
        return broker_.receive(kQueue, visibility, kNow + after);
    }
    std::string received(sim::Duration after, sim::Duration visibility = 30s) {
        const auto message = receive(after, visibility);
        return message ? message->event_id : "nothing";
    }

    Broker broker_;
    std::vector<std::pair<Change, std::string>> changes_;
};

TEST_F(BrokerTest, AnEmptyQueueGivesNothing) {
    EXPECT_EQ(received(0s), "nothing");
    publish("a");
    EXPECT_FALSE(broker_.receive("another", 30s, kNow));
}

TEST_F(BrokerTest, MessagesComeInTheOrderOfPublication) {
    for (const char* event : {"a", "b", "c"}) publish(event);
    EXPECT_EQ(received(0s), "a");
    EXPECT_EQ(received(0s), "b");
    EXPECT_EQ(received(0s), "c");
    EXPECT_EQ(received(0s), "nothing");
}

TEST_F(BrokerTest, AMessageCarriesWhatWasPublished) {
    publish("a");
    const auto message = receive(0s);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->queue, kQueue);
    EXPECT_EQ(message->body, "body of a");
    EXPECT_EQ(message->receives, 1);
}

TEST_F(BrokerTest, AReceivedMessageIsHiddenUntilItsTimeIsOver) {
    publish("a");
    EXPECT_EQ(received(0s, 10s), "a");
    EXPECT_EQ(received(10s - 1ns), "nothing");
    EXPECT_EQ(received(10s), "a");
}

TEST_F(BrokerTest, EveryDeliveryHasAReceiptOfItsOwnAndIsCounted) {
    publish("a");
    const auto first = receive(0s, 10s);
    const auto second = receive(10s, 10s);
    ASSERT_TRUE(first && second);
    EXPECT_NE(first->receipt, second->receipt);
    EXPECT_EQ(second->receives, 2);
}

TEST_F(BrokerTest, AnAcknowledgedMessageIsGone) {
    publish("a");
    const auto message = receive(0s, 10s);
    EXPECT_TRUE(broker_.acknowledge(message->receipt));
    EXPECT_EQ(received(1h), "nothing");
    EXPECT_TRUE(broker_.stored().empty());
    EXPECT_FALSE(broker_.acknowledge(message->receipt));
}

TEST_F(BrokerTest, ALateAcknowledgementCountsWhileNobodyElseHasTheMessage) {
    publish("a");
    const auto message = receive(0s, 10s);
    EXPECT_EQ(received(1min, 10s), "a");
    EXPECT_FALSE(broker_.acknowledge(message->receipt));
    EXPECT_EQ(received(2min), "a");

    publish("b");
    const auto other = receive(2min, 10s);
    EXPECT_EQ(other->event_id, "b");
    EXPECT_TRUE(broker_.acknowledge(other->receipt));
}

TEST_F(BrokerTest, AReceiptThatNobodyGotIsVoid) {
    publish("a");
    EXPECT_FALSE(broker_.acknowledge("1.0"));
    EXPECT_FALSE(broker_.acknowledge("1.1"));
    EXPECT_FALSE(broker_.acknowledge(""));
    EXPECT_EQ(received(0s), "a");
}

TEST_F(BrokerTest, AnExtensionCountsFromNow) {
    publish("a");
    const auto message = receive(0s, 10s);
    EXPECT_TRUE(broker_.extend(message->receipt, 10s, kNow + 8s));
    EXPECT_EQ(received(17s), "nothing");
    EXPECT_EQ(received(18s), "a");
}

TEST_F(BrokerTest, AnExtensionCanGiveTheMessageBack) {
    publish("a");
    const auto message = receive(0s, 10s);
    EXPECT_TRUE(broker_.extend(message->receipt, 0s, kNow + 1s));
    EXPECT_EQ(received(1s), "a");
}

TEST_F(BrokerTest, WhatIsNotHiddenAnyMoreCannotBeExtended) {
    publish("a");
    const auto message = receive(0s, 10s);
    EXPECT_FALSE(broker_.extend(message->receipt, 10s, kNow + 10s));
    EXPECT_EQ(received(10s, 10s), "a");
    EXPECT_FALSE(broker_.extend(message->receipt, 10s, kNow + 11s));
}

TEST_F(BrokerTest, ACopyHasTheEventOfTheMessageDeliveredLast) {
    publish("a");
    publish("b");
    const auto message = receive(0s);
    EXPECT_TRUE(broker_.duplicate());
    EXPECT_EQ(received(0s), "b");
    const auto copy = receive(0s);
    EXPECT_EQ(copy->event_id, "a");
    EXPECT_EQ(copy->body, message->body);
    EXPECT_EQ(copy->receives, 1);
    EXPECT_NE(copy->receipt, message->receipt);
}

TEST_F(BrokerTest, ACopyOutlivesTheAcknowledgementOfTheOther) {
    publish("a");
    const auto message = receive(0s);
    broker_.acknowledge(message->receipt);
    EXPECT_TRUE(broker_.duplicate());
    EXPECT_EQ(received(0s), "a");
}

TEST_F(BrokerTest, BeforeAnyDeliveryTheFirstMessageIsCopied) {
    EXPECT_FALSE(broker_.duplicate());
    publish("a");
    publish("b");
    EXPECT_TRUE(broker_.duplicate());
    EXPECT_EQ(broker_.stored().back().event_id, "a");
}

TEST_F(BrokerTest, ARevealedMessageComesAgainAtOnceAndItsHolderCannotExtendIt) {
    EXPECT_FALSE(broker_.reveal());
    publish("a");
    const auto message = receive(0s);
    EXPECT_TRUE(broker_.reveal());
    EXPECT_FALSE(broker_.reveal());
    EXPECT_FALSE(broker_.extend(message->receipt, 10s, kNow));
    EXPECT_EQ(received(0s), "a");
}

TEST_F(BrokerTest, ARevealedMessageComesOnceMoreEvenIfItWasAcknowledgedMeanwhile) {
    publish("a");
    const auto first = receive(0s);
    EXPECT_TRUE(broker_.reveal());
    EXPECT_TRUE(broker_.acknowledge(first->receipt));
    const auto second = receive(0s);
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->receives, 2);
    EXPECT_TRUE(broker_.acknowledge(second->receipt));
    EXPECT_TRUE(broker_.stored().empty());
}

TEST_F(BrokerTest, AnAcknowledgedMessageIsNotRevealed) {
    publish("a");
    broker_.acknowledge(receive(0s)->receipt);
    EXPECT_FALSE(broker_.reveal());
}

TEST_F(BrokerTest, TheNextReceiveWithAChoiceTakesTheNewest) {
    int taken = 0;
    broker_.reorder_next([&taken] { ++taken; });
    publish("a");
    EXPECT_EQ(received(0s, 10s), "a");
    EXPECT_EQ(taken, 0);
    publish("b");
    publish("c");
    EXPECT_EQ(received(1s), "c");
    EXPECT_EQ(taken, 1);
    EXPECT_EQ(received(1s), "b");
}

TEST_F(BrokerTest, EveryChangeIsSeenOnce) {
    publish("a");
    receive(0s, 10s);
    broker_.acknowledge(receive(10s, 10s)->receipt);
    using enum Change;
    EXPECT_EQ(changes_, (std::vector<std::pair<Change, std::string>>{{Published, "a"},
                                                                     {Delivered, "a"},
                                                                     {Expired, "a"},
                                                                     {Delivered, "a"},
                                                                     {Acknowledged, "a"}}));
}

TEST_F(BrokerTest, ANewRunKnowsNothingOfTheLast) {
    publish("a");
    receive(0s);
    broker_.reset();
    EXPECT_TRUE(broker_.stored().empty());
    EXPECT_FALSE(broker_.duplicate());
    publish("b");
    EXPECT_EQ(broker_.stored().front().number, 1U);
}

}  // namespace
}  // namespace fencepost::model::broker
