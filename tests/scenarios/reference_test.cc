// The reference handlers are never blamed, and their runs show something.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "checkers/checker.h"
#include "scenarios/search/exhaust.h"
#include "scenarios/search/sweep.h"
#include "tests/scenarios/probe_handler.h"
#include "tests/scenarios/sanitized.h"

namespace fencepost::scenarios {
namespace {

using checkers::Verdict;

std::uint64_t seeds() {
    return kSanitized ? 1000 : 4000;
}

class ReferenceTest : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    [[nodiscard]] static const Scenario& scenario() {
        return *find_scenario(std::get<0>(GetParam()));
    }
    [[nodiscard]] static const std::string& handler() { return std::get<1>(GetParam()); }
    [[nodiscard]] static Subject subject() { return {scenario().name, handler()}; }
    // Made once for the tests that look at it.
    [[nodiscard]] static const ExhaustResult& exhausted() {
        static std::map<std::tuple<std::string, std::string>, ExhaustResult> results;
        const auto known = results.find(GetParam());
        if (known != results.end()) return known->second;
        return results.emplace(GetParam(), exhaust(scenario(), subject(), {})).first->second;
    }
};

TEST_P(ReferenceTest, WithoutFaultsEveryCheckerPasses) {
    Runner runner;
    const RunResult result = runner.run(plan_for(scenario().name, handler()));
    EXPECT_EQ(result.end, sim::RunEnd::Quiet);
    for (const checkers::Judgement& judgement : result.judgements) {
        const bool moves_money = handler() == "transfer";
        const bool applies = judgement.checker != "conserved" || moves_money;
        EXPECT_EQ(judgement.verdict, applies ? Verdict::Pass : Verdict::NotApplicable)
            << judgement.checker << ": " << judgement.reason;
    }
}

TEST_P(ReferenceTest, RandomPlansBreakNothingAndReachEveryProbe) {
    const SearchResult result = sweep(scenario(), subject(), {1, seeds()}, {});
    EXPECT_EQ(result.totals.runs, seeds());
    EXPECT_EQ(result.totals.failed_runs, 0U);
    EXPECT_TRUE(result.mishaps.empty());
    EXPECT_EQ(result.never_judged(), std::vector<std::string>{});
    EXPECT_EQ(result.probes_missed(), std::vector<std::string>{});
    for (const FoundFailure& failure : result.failures) {
        ADD_FAILURE() << failure.run.checker << ": " << failure.run.message << "\n"
                      << sim::to_json(failure.plan);
    }
}

TEST_P(ReferenceTest, EveryPlanWithOneFaultIsRunAndBreaksNothing) {
    if (kSanitized) GTEST_SKIP() << kTooLong;
    const ExhaustResult& result = exhausted();
    EXPECT_GT(result.certificate.points, 30U);
    EXPECT_GT(result.certificate.planned, 1000U);
    EXPECT_EQ(result.certificate.run, result.certificate.planned);
    EXPECT_EQ(result.certificate.skipped, 0U);
    EXPECT_EQ(result.certificate.inert, 0U);
    EXPECT_EQ(result.certificate.violating, 0U);
    for (const FoundFailure& failure : result.search.failures) {
        ADD_FAILURE() << failure.run.checker << ": " << failure.run.message << "\n"
                      << sim::to_json(failure.plan);
    }
}

TEST_P(ReferenceTest, EveryFaultKindThatIsPlannedTakesEffectSomewhere) {
    if (kSanitized) GTEST_SKIP() << kTooLong;
    const ExhaustResult& result = exhausted();
    for (const KindCount& kind : result.certificate.kinds) {
        if (kind.planned > 0) {
            EXPECT_GT(kind.took_effect, 0U) << sim::info_of(kind.kind).name;
        }
    }
}

std::vector<std::tuple<std::string, std::string>> subjects() {
    std::vector<std::tuple<std::string, std::string>> all;
    for (const Scenario& scenario : all_scenarios()) {
        for (const std::string& handler : scenario.handlers) {
            all.emplace_back(scenario.name, handler);
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ReferenceTest, testing::ValuesIn(subjects()),
                         [](const auto& one) {
                             std::string name =
                                 std::get<0>(one.param) + "_" + std::get<1>(one.param);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

// A node whose first check-in failed counts as nobody: a peer gives its trigger back, it fires all
// the same, and its fire is in no table of the scheduler. Then it dies before the job starts.
TEST(ReferenceHandlersTest, AnActWhoseFireTheSchedulerLostIsFoundByRecovery) {
    sim::Fault late;
    late.at_time = find_scenario("same-instant-clustered")->start - std::chrono::seconds{58};
    late.kind = sim::FaultKind::FireLate;
    late.party = "A";
    late.by = std::chrono::seconds{15};
    const auto unseen =
        fault_at("A#1/check-in/db.connect/1", sim::Phase::Before, sim::FaultKind::Refuse);
    const auto dies = fault_at("*#1/recovery/db.query/3", sim::Phase::After, sim::FaultKind::Crash);
    auto plan = plan_for("same-instant-clustered", "reconcile", 2, {late, dies, unseen});
    plan.parameters = {{"accounts", 1}, {"batch", 1}};
    Runner runner;
    const RunResult result = runner.run(plan);
    EXPECT_EQ(result.faults, std::vector(3, FaultFate::TookEffect));
    EXPECT_FALSE(result.failed());
    EXPECT_EQ(result.judgements.front().reason, "1 effect, each there once");
    EXPECT_GT(result.virtual_time, std::chrono::seconds{15});
}

TEST(ReferenceHandlersTest, TheUsualBatchIsAHundred) {
    auto plan = plan_for("same-instant", "reconcile");
    plan.parameters = {{"accounts", 250}, {"batch", 100}};
    Runner runner;
    const RunResult result = runner.run(plan);
    EXPECT_FALSE(result.failed());
    EXPECT_EQ(result.judgements.front().reason, "250 effects, each there once");
}

}  // namespace
}  // namespace fencepost::scenarios
