// Goal: each fault about messages and requests does what it says, and the consumer of jobs/ keeps
// its promises under them.
//
// Method: the reference handler in its scenarios, with one planned fault; and a handler that
// refuses one message, under every fault.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/events.h"
#include "scenarios/handlers/consume_order.h"
#include "scenarios/handlers/consumer_program.h"
#include "scenarios/handlers/orders.h"
#include "scenarios/search/exhaust.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::Fault;
using sim::FaultKind;
using sim::Phase;

constexpr const char* kOrder = "acme/consume-order#order-1";

class MessagesTest : public testing::Test {
protected:
    RunResult run(std::vector<Fault> faults, const std::string& handler = "consume-order",
                  const std::string& scenario = "message-twice") {
        RunResult result = runner_.run(plan_for(scenario, handler, 1, std::move(faults)));
        EXPECT_FALSE(result.failed()) << (result.failed() ? result.failure()->checker : "");
        return result;
    }

    template <typename Event>
    [[nodiscard]] std::vector<Event> events() const {
        std::vector<Event> found;
        for (sim::RecordId id = 0; id < runner_.history().size(); ++id) {
            if (const auto event = runner_.history()[id].as<Event>()) found.push_back(*event);
        }
        return found;
    }
    // How often the order's message was delivered.
    [[nodiscard]] std::ptrdiff_t deliveries() const {
        return std::ranges::count(events<model::MessageDelivered>(), kOrder,
                                  &model::MessageDelivered::event_id);
    }
    [[nodiscard]] std::ptrdiff_t calls(std::string_view operation) const {
        return std::ranges::count(events<sim::CallStarted>(), operation,
                                  &sim::CallStarted::operation);
    }

    // At a call of whoever works on the first order.
    static Fault at_order(const std::string& call, Phase phase, FaultKind kind) {
        return fault_at(std::string("*#1/") + kOrder + "/" + call, phase, kind);
    }

    Runner runner_;
};

TEST_F(MessagesTest, WithoutFaultsEachMessageIsDeliveredOnceAndAcknowledgedInTime) {
    run({});
    EXPECT_EQ(events<model::MessagePublished>().size(), 3U);
    EXPECT_EQ(events<model::MessageDelivered>().size(), 3U);
    const auto acknowledged = events<model::MessageAcknowledged>();
    EXPECT_EQ(acknowledged.size(), 3U);
    EXPECT_TRUE(std::ranges::none_of(acknowledged, &model::MessageAcknowledged::late));
}

TEST_F(MessagesTest, ADuplicateOfAMessageIsDeliveredUnderItsEventId) {
    const auto result = run({at_order("db.begin/1", Phase::Before, FaultKind::DuplicateMessage)});
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(events<model::MessagePublished>().size(), 4U);
    EXPECT_EQ(deliveries(), 2);
}

TEST_F(MessagesTest, ADuplicateThatFindsNoMessageWaitsForOne) {
    Fault early;
    early.at_time = find_scenario("message-twice")->start + 100ms;
    early.kind = FaultKind::DuplicateMessage;
    const auto result = run({early});
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(events<model::MessagePublished>().size(), 4U);
}

TEST_F(MessagesTest, AnEarlyRedeliveryComesWhileTheFirstIsAtWork) {
    Fault pause = at_order("db.begin/1", Phase::Before, FaultKind::Pause);
    pause.lasting = 3s;
    const auto result =
        run({at_order("db.begin/1", Phase::Before, FaultKind::EarlyRedelivery), pause});
    EXPECT_EQ(result.faults, std::vector(2, FaultFate::TookEffect));
    EXPECT_EQ(deliveries(), 2);
    EXPECT_EQ(events<model::MessageExpired>().size(), 1U);
}

TEST_F(MessagesTest, AReorderedReceiveGetsTheNewestMessage) {
    const auto result =
        run({fault_at("*#1/consumer/broker.receive/3", Phase::Before, FaultKind::ReorderMessages)});
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(events<model::MessageDelivered>().front().event_id, "acme/consume-order#order-3");
}

TEST_F(MessagesTest, AnAcknowledgementThatIsLostLetsTheMessageComeAgain) {
    run({at_order("broker.acknowledge/1", Phase::Sent, FaultKind::LoseRequest)});
    EXPECT_EQ(deliveries(), 2);
    EXPECT_EQ(events<model::MessageExpired>().size(), 1U);
}

TEST_F(MessagesTest, AnAcknowledgementThatIsLateFindsItsReceiptVoid) {
    Fault late = at_order("broker.acknowledge/1", Phase::Sent, FaultKind::Delay);
    late.by = 20s;
    const auto result = run({late});
    EXPECT_EQ(deliveries(), 2);
    EXPECT_TRUE(std::ranges::any_of(events<sim::CallApplied>(), [](const sim::CallApplied& call) {
        return call.operation == "broker.acknowledge" && call.result == "the receipt is void";
    }));
    EXPECT_NE(std::ranges::find(result.probes, "message acknowledged too late"),
              result.probes.end());
}

TEST_F(MessagesTest, AReceiveWhoseAnswerIsLostHidesTheMessageUntilItsTimeIsOver) {
    run({fault_at("*#1/consumer/broker.receive/3", Phase::Applied, FaultKind::LoseAnswer)});
    EXPECT_EQ(deliveries(), 2);
}

TEST_F(MessagesTest, ABrokerThatRestartsKeepsItsMessages) {
    Fault restart = at_order("db.begin/1", Phase::Before, FaultKind::Restart);
    restart.party = "broker";
    restart.lasting = 500ms;
    const auto result = run({restart});
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
}

TEST_F(MessagesTest, ABrokerCanBeUnreachableAndCutOff) {
    Fault unreachable = at_order("db.begin/1", Phase::Before, FaultKind::Unreachable);
    unreachable.party = "broker";
    unreachable.lasting = 5s;
    EXPECT_EQ(run({unreachable}).faults, std::vector{FaultFate::TookEffect});
    Fault partition = at_order("db.begin/1", Phase::Before, FaultKind::Partition);
    partition.from = "A";
    partition.to = "broker";
    partition.lasting = 5s;
    EXPECT_EQ(run({partition}).faults, std::vector{FaultFate::TookEffect});
}

TEST_F(MessagesTest, LongWorkKeepsItsMessageHidden) {
    // The database answers after 12 s; the message would be visible after 10.
    Fault slow = at_order("db.execute/2", Phase::Applied, FaultKind::Delay);
    slow.by = 12s;
    run({slow});
    EXPECT_EQ(deliveries(), 1);
    EXPECT_GE(calls("broker.extend"), 2);
}

TEST_F(MessagesTest, AStoppingNodeFinishesItsMessageAndTakesNoOther) {
    Fault stop = at_order("db.begin/1", Phase::Before, FaultKind::Stop);
    stop.grace = 30s;
    run({stop});
    EXPECT_EQ(deliveries(), 1);
    std::vector<std::string_view> ends;
    for (const auto& ended : events<sim::NodeEnded>()) ends.push_back(ended.how);
    EXPECT_EQ(ends, std::vector<std::string_view>{"stopped"});
}

TEST_F(MessagesTest, AMessageThatComesTooLateForAStoppingNodeIsGivenBack) {
    Fault stop = fault_at("*#1/consumer/broker.receive/3", Phase::Applied, FaultKind::Stop);
    stop.grace = 30s;
    run({stop});
    EXPECT_EQ(deliveries(), 2);
    EXPECT_EQ(calls("broker.extend"), 1);
}

// --- a message that its handler refuses

// Refuses the second order, whoever asks.
HandlerSpec poisoned_handler() {
    HandlerSpec spec = consume_order_handler();
    spec.name = "test-poisoned";
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<ConsumerProgram>(
            setting, [](jobs::sql::Transaction& tx, const jobs::broker::Message& message) {
                orders::add_order(tx, message);
                if (message.body.find("order-2") != std::string::npos) {
                    throw std::invalid_argument("nobody sells that");
                }
            });
    };
    spec.expectations = [](const Parameters&, std::vector<DueWork> due) {
        due.erase(due.begin() + 1);
        checkers::Expectations expectations;
        expectations.effects.push_back(orders::expected_lines(due));
        // A parked message is an effect as well: a person finds it once.
        expectations.effects.push_back(
            {.table = "job_parked",
             .identity = {"event_id", "error"},
             .expected = {{.unit = "acme/consume-order#order-2",
                           .identity = {"acme/consume-order#order-2", "nobody sells that"}}}});
        return expectations;
    };
    return spec;
}

class PoisonTest : public MessagesTest {
protected:
    PoisonTest() {
        if (find_handler("test-poisoned") == nullptr) add_handler(poisoned_handler());
    }
};

TEST_F(PoisonTest, AMessageThatItsHandlerRefusesIsParkedAfterThreeDeliveries) {
    const auto result = run({}, "test-poisoned");
    EXPECT_EQ(std::ranges::count(events<model::MessageDelivered>(),
                                 std::string_view{"acme/consume-order#order-2"},
                                 &model::MessageDelivered::event_id),
              3);
    EXPECT_EQ(result.judgements.front().reason, "5 effects, each there once");
    EXPECT_EQ(result.end, sim::RunEnd::Quiet);
}

TEST_F(PoisonTest, UnderEveryFaultItIsParkedOnceAndHoldsUpNoOther) {
    const Scenario& scenario = *find_scenario("message-twice");
    const ExhaustResult result = exhaust(scenario, {scenario.name, "test-poisoned"}, {});
    EXPECT_GT(result.certificate.planned, 2000U);
    EXPECT_EQ(result.certificate.run, result.certificate.planned);
    EXPECT_EQ(result.certificate.violating, 0U);
    for (const FoundFailure& failure : result.search.failures) {
        ADD_FAILURE() << failure.run.message << "\n" << sim::to_json(failure.plan);
    }
}

// --- requests of a client

class RequestsTest : public MessagesTest {
protected:
    RunResult run(std::vector<Fault> faults) {
        return MessagesTest::run(std::move(faults), "consume-order", "request-twice");
    }
    static Fault at_client(const std::string& order, Phase phase, FaultKind kind) {
        return fault_at("client#1/acme/consume-order#" + order + "/client.request/1", phase, kind);
    }
};

TEST_F(RequestsTest, TheFirstRequestGoesToBothNodesAtOnce) {
    const auto result = run({});
    EXPECT_EQ(calls("client.request"), 4);
    EXPECT_EQ(result.judgements.front().reason, "6 effects, each there once");
}

TEST_F(RequestsTest, AClientWithoutAnAnswerAsksTheOtherNode) {
    run({at_client("order-2", Phase::Applied, FaultKind::LoseAnswer)});
    EXPECT_EQ(calls("client.request"), 5);
    std::vector<std::string_view> asked;
    for (const auto& call : events<sim::CallStarted>()) {
        if (call.operation == "client.request" && call.detail.find("order-2") != call.detail.npos) {
            asked.push_back(call.detail.substr(call.detail.size() - 1));
        }
    }
    EXPECT_EQ(asked, (std::vector<std::string_view>{"B", "A"}));
}

TEST_F(RequestsTest, ARequestThatTheClientLibrarySendsAgainIsDoneOnce) {
    const auto result = run({at_client("order-2", Phase::Sent, FaultKind::Duplicate)});
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(calls("client.request"), 4);
}

TEST_F(RequestsTest, ANodeThatDiesLeavesItsClientsWithoutAnAnswer) {
    Fault crash =
        fault_at("B#1/acme/consume-order#order-2/db.commit/1", Phase::Applied, FaultKind::Crash);
    run({crash});
    EXPECT_TRUE(std::ranges::any_of(events<sim::CallEnded>(), [](const sim::CallEnded& call) {
        return call.operation == "client.request" && call.outcome == "connection reset";
    }));
}

TEST_F(RequestsTest, AStoppingNodeAnswersWhatItTookAndSendsOthersAway) {
    const char* begins = "B#1/acme/consume-order#order-2/db.begin/1";
    Fault stop = fault_at(begins, Phase::Before, FaultKind::Stop);
    stop.grace = 30s;
    Fault slow = fault_at(begins, Phase::Before, FaultKind::Slow);
    slow.by = 500ms;
    slow.lasting = 10s;
    Fault late = at_client("order-1~2", Phase::Sent, FaultKind::Delay);
    late.by = 1s;
    run({stop, slow, late});
    std::vector<std::string_view> answers;
    for (const auto& call : events<sim::CallEnded>()) {
        if (call.operation == "client.request") answers.push_back(call.outcome);
    }
    std::ranges::sort(answers);
    EXPECT_EQ(answers, (std::vector<std::string_view>{"done", "done", "done", "done before",
                                                      "the node is stopping"}));
}

TEST_F(RequestsTest, AClientCanBeCutOffFromANode) {
    Fault partition = at_client("order-2", Phase::Before, FaultKind::Partition);
    partition.from = "client";
    partition.to = "B";
    partition.lasting = 20s;
    EXPECT_EQ(run({partition}).faults, std::vector{FaultFate::TookEffect});
}

// --- plans

std::string refusal_of(const sim::Plan& plan) {
    try {
        validate(plan);
    } catch (const sim::PlanError& error) {
        return error.what();
    }
    return "taken";
}

TEST(MessagePlansTest, FaultsOfTheBrokerNeedABroker) {
    const auto fault = fault_at("A#1/*/db.commit/1", Phase::Before, FaultKind::DuplicateMessage);
    EXPECT_EQ(refusal_of(plan_for("message-twice", "consume-order", 1, {fault})), "taken");
    EXPECT_EQ(refusal_of(plan_for("same-instant", "reconcile", 1, {fault})),
              "faults[0].do: \"duplicate-message\" needs a broker, and same-instant has none");
}

TEST(MessagePlansTest, PartiesAreThoseOfTheScenario) {
    auto fault = fault_at("A#1/*/db.commit/1", Phase::Before, FaultKind::Partition);
    fault.from = "A";
    fault.to = "broker";
    fault.lasting = 5s;
    EXPECT_EQ(refusal_of(plan_for("message-twice", "consume-order", 1, {fault})), "taken");
    EXPECT_TRUE(refusal_of(plan_for("request-twice", "consume-order", 1, {fault}))
                    .starts_with("faults[0].between: unknown party \"broker\""));
    fault.to = "client";
    EXPECT_EQ(refusal_of(plan_for("request-twice", "consume-order", 1, {fault})), "taken");
    EXPECT_NE(refusal_of(plan_for("message-twice", "consume-order", 1, {fault})), "taken");
}

TEST(MessagePlansTest, TheClientIsAskedAtItsCallsAndIsNoNodeToStrike) {
    auto fault = fault_at("client#1/*/client.request/1", Phase::Applied, FaultKind::LoseAnswer);
    EXPECT_EQ(refusal_of(plan_for("request-twice", "consume-order", 1, {fault})), "taken");
    EXPECT_NE(refusal_of(plan_for("message-twice", "consume-order", 1, {fault})), "taken");
    fault.kind = FaultKind::Crash;
    fault.party = "client";
    EXPECT_NE(refusal_of(plan_for("request-twice", "consume-order", 1, {fault})), "taken");
}

TEST(MessagePlansTest, TheBrokerHasNoWallClockThatMatters) {
    auto fault = fault_at("A#1/*/db.commit/1", Phase::Before, FaultKind::ClockJump);
    fault.party = "broker";
    fault.by = 5s;
    EXPECT_EQ(refusal_of(plan_for("message-twice", "consume-order", 1, {fault})),
              "faults[0].of: nothing goes by the wall clock of \"broker\"");
}

TEST(MessagePlansTest, WhoCannotTakePartIsToldWhy) {
    EXPECT_EQ(*obstacle(*find_scenario("message-twice"), *find_handler("reconcile")),
              "reconcile is set to work by fires of the scheduler, and message-twice is about "
              "messages and requests");
    EXPECT_EQ(*obstacle(*find_scenario("outcome-unknown"), *find_handler("reconcile")),
              "outcome-unknown is about a call to the outside service, which reconcile does not "
              "have");
    EXPECT_FALSE(obstacle(*find_scenario("request-twice"), *find_handler("ack-first")));
}

}  // namespace
}  // namespace fencepost::scenarios
