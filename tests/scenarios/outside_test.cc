// Goal: outside effects keep their promises at every point at which the outcome can become unknown.
//
// Method: the reference handler pay, with one planned fault at a time; what is judged is what the
// service and the database saw.
#include <gtest/gtest.h>

#include <algorithm>

#include "jobs/outside_effect.h"
#include "model/events.h"
#include "scenarios/handlers/bills.h"
#include "scenarios/handlers/pay.h"
#include "scenarios/handlers/worker_program.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::Fault;
using sim::FaultKind;
using sim::Phase;

// Bill 1 is submission 1, and is declined; bill 2 is accepted; bill 3 is declined and refunds it;
// bills 4 and 5 are accepted.
constexpr const char* kTask = "*#1/pay-bills@2026-03-02T18:00:00Z/";

class OutsideTest : public testing::Test {
protected:
    RunResult run(std::vector<Fault> faults) {
        RunResult result = runner_.run(plan_for("outcome-unknown", "pay", 1, std::move(faults)));
        EXPECT_FALSE(result.failed()) << (result.failed() ? result.failure()->checker : "");
        return result;
    }
    static Fault at(const std::string& call, Phase phase, FaultKind kind) {
        return fault_at(kTask + call, phase, kind);
    }

    template <typename Event>
    [[nodiscard]] std::vector<Event> events() const {
        std::vector<Event> found;
        for (sim::RecordId id = 0; id < runner_.history().size(); ++id) {
            if (const auto event = runner_.history()[id].as<Event>()) found.push_back(*event);
        }
        return found;
    }
    // The calls of the service, by whoever made them: "submit …/4", "look-up …/4".
    [[nodiscard]] std::vector<std::string> calls_of(std::string_view bill) const {
        std::vector<std::string> calls;
        for (const auto& call : events<sim::CallStarted>()) {
            if (!call.operation.starts_with("gateway.") || !call.detail.ends_with(bill)) continue;
            calls.emplace_back(call.operation.substr(8));
        }
        return calls;
    }
    // What the budget has at the end: available, reserved, spent.
    [[nodiscard]] std::vector<std::int64_t> budget() const {
        std::vector<std::int64_t> last;
        std::optional<std::uint32_t> table;
        for (const auto& known : events<model::TableKnown>()) {
            if (known.name == "budget") table = known.index;
        }
        for (const auto& row : events<model::RowChanged>()) {
            if (row.table != table) continue;
            last.clear();
            for (std::size_t column = 1; column <= 3; ++column) {
                last.push_back(std::get<std::int64_t>(row.after.at(column)));
            }
        }
        return last;
    }

    Runner runner_;
};

using Calls = std::vector<std::string>;

TEST_F(OutsideTest, EachChargeIsSubmittedOnceAndDeclinedOnesLeaveNothing) {
    run({});
    for (const char* bill : {"/1", "/3", "/4", "/5"}) EXPECT_EQ(calls_of(bill), Calls{"submit"});
    EXPECT_EQ(calls_of("/2"), (Calls{"submit", "refund"}));
    EXPECT_EQ(events<model::GatewayApplied>().size(), 3U);
    EXPECT_EQ(events<model::GatewayDeclined>().size(), 2U);
    EXPECT_EQ(events<model::GatewayRefunded>().size(), 1U);
    // 110 and 120 are paid.
    EXPECT_EQ(budget(), (std::vector<std::int64_t>{100'000 - 230, 0, 230}));
}

TEST_F(OutsideTest, TheIntentIsCommittedBeforeAnythingIsSent) {
    run({});
    bool intended = false;
    std::optional<std::uint32_t> table;
    for (sim::RecordId id = 0; id < runner_.history().size(); ++id) {
        const sim::Record record = runner_.history()[id];
        if (const auto known = record.as<model::TableKnown>()) {
            if (known->name == "job_outside") table = known->index;
        } else if (const auto row = record.as<model::RowChanged>()) {
            if (row->table == table) intended = row->change == model::RowChangeKind::Insert;
        } else if (const auto call = record.as<sim::CallStarted>()) {
            EXPECT_TRUE(intended || call->operation != "gateway.submit") << call->detail;
        }
    }
}

TEST_F(OutsideTest, AChargeWhoseAnswerIsLostIsLookedUpAndNotSentAgain) {
    const auto result = run({at("gateway.submit/4", Phase::Applied, FaultKind::LoseAnswer)});
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(calls_of("/4"), (Calls{"submit", "look-up"}));
}

TEST_F(OutsideTest, ARefusalWhoseAnswerIsLostIsFoundAndCompensated) {
    run({at("gateway.submit/3", Phase::Applied, FaultKind::LoseAnswer)});
    EXPECT_EQ(calls_of("/3"), (Calls{"submit", "look-up"}));
    EXPECT_EQ(events<model::GatewayRefunded>().size(), 1U);
    EXPECT_EQ(budget(), (std::vector<std::int64_t>{100'000 - 230, 0, 230}));
}

TEST_F(OutsideTest, ARequestThatNeverArrivedIsSentAgainUnderItsOwnNumber) {
    run({at("gateway.submit/4", Phase::Sent, FaultKind::LoseRequest)});
    EXPECT_EQ(calls_of("/4"), (Calls{"submit", "look-up", "submit"}));
    EXPECT_EQ(events<model::GatewayApplied>().size(), 3U);
}

// The first request arrives when the second is done.
TEST_F(OutsideTest, ARequestThatArrivesLateIsTheSameAsTheOneThatWasRepeated) {
    Fault late = at("gateway.submit/4", Phase::Sent, FaultKind::Delay);
    late.by = 30s;
    Fault slow = at("db.commit/9", Phase::Before, FaultKind::Slow);
    slow.by = 2s;
    slow.lasting = 40s;
    run({late, slow});
    EXPECT_EQ(calls_of("/4"), (Calls{"submit", "look-up", "submit"}));
    const auto applied = events<sim::CallApplied>();
    EXPECT_EQ(std::ranges::count(applied, std::string_view{"gateway.submit"},
                                 &sim::CallApplied::operation),
              6);
    EXPECT_EQ(events<model::GatewayApplied>().size(), 3U);
}

TEST_F(OutsideTest, WhoGoesOnAfterACrashLooksUpFirst) {
    for (const Phase phase : {Phase::Before, Phase::Sent, Phase::Applied, Phase::After}) {
        run({at("gateway.submit/4", phase, FaultKind::Crash)});
        const Calls calls = calls_of("/4");
        ASSERT_GE(calls.size(), 2U) << name_of(phase);
        EXPECT_EQ(calls[1], "look-up") << name_of(phase);
        EXPECT_EQ(calls.size(), phase == Phase::Before ? 3U : 2U) << name_of(phase);
        EXPECT_EQ(events<model::GatewayApplied>().size(), 3U) << name_of(phase);
    }
}

TEST_F(OutsideTest, ACrashBetweenRefundAndAnswerRefundsOnce) {
    for (const Phase phase : sim::kPhases) {
        run({at("gateway.refund/1", phase, FaultKind::Crash)});
        EXPECT_EQ(events<model::GatewayRefunded>().size(), 1U) << name_of(phase);
        EXPECT_EQ(budget(), (std::vector<std::int64_t>{100'000 - 230, 0, 230})) << name_of(phase);
    }
}

TEST_F(OutsideTest, ARefundWhoseAnswerIsLostIsAskedForAgain) {
    run({at("gateway.refund/1", Phase::Applied, FaultKind::LoseAnswer)});
    EXPECT_EQ(calls_of("/2"), (Calls{"submit", "refund", "refund"}));
    EXPECT_EQ(events<model::GatewayRefunded>().size(), 1U);
}

TEST_F(OutsideTest, AHolderPausedPastItsLeaseSubmitsNothingNew) {
    Fault pause = at("gateway.submit/4", Phase::Before, FaultKind::Pause);
    pause.lasting = 40s;
    run({pause});
    EXPECT_EQ(events<model::GatewayApplied>().size(), 3U);
    EXPECT_EQ(budget(), (std::vector<std::int64_t>{100'000 - 230, 0, 230}));
}

TEST_F(OutsideTest, TheClientLibraryMaySendARequestAgain) {
    const auto result = run({at("gateway.submit/4", Phase::Sent, FaultKind::Duplicate)});
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(events<model::GatewayApplied>().size(), 3U);
}

TEST_F(OutsideTest, AServiceThatIsDownOrOutOfReachIsWaitedFor) {
    for (const FaultKind kind :
         {FaultKind::Restart, FaultKind::Unreachable, FaultKind::Partition}) {
        Fault fault = at("gateway.submit/4", Phase::Before, kind);
        fault.lasting = 15s;
        if (kind == FaultKind::Partition) {
            fault.from = "A";
            fault.to = "gateway";
            fault.one_way = false;
        } else {
            fault.party = "gateway";
        }
        std::vector<Fault> faults{fault};
        if (kind == FaultKind::Partition) {
            // Whichever node works.
            faults.push_back(fault);
            faults.back().from = "B";
        }
        const auto result = run(faults);
        EXPECT_NE(std::ranges::find(result.faults, FaultFate::TookEffect), result.faults.end())
            << sim::info_of(kind).name;
        EXPECT_GT(result.virtual_time, 5s) << sim::info_of(kind).name;
    }
}

// Two bills under one request id: the service refuses the second, and the job fails for good.
TEST_F(OutsideTest, ARequestIdThatIsTakenEndsTheJob) {
    HandlerSpec spec = pay_handler();
    spec.name = "test-same-id";
    spec.expectations = [](const Parameters&, const std::vector<DueWork>&) {
        return checkers::Expectations{};
    };
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<WorkerProgram>(
            setting, [ports = setting.ports](jobs::JobContext& job) {
                for (const std::int64_t amount : {100, 200}) {
                    static_cast<void>(ports.gateway->submit(
                        {.request_id = job.key().text(), .reference = "bill", .amount = amount}));
                }
                return jobs::Outcome::succeeded();
            });
    };
    if (find_handler(spec.name) == nullptr) add_handler(std::move(spec));
    static_cast<void>(runner_.run(plan_for("outcome-unknown", "test-same-id")));
    EXPECT_TRUE(std::ranges::any_of(events<model::FireEnded>(), [](const model::FireEnded& fire) {
        return fire.outcome == "failed";
    }));
    EXPECT_EQ(events<model::GatewayApplied>().size(), 1U);
}

}  // namespace
}  // namespace fencepost::scenarios
