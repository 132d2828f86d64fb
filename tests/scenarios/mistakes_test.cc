// Every planted mistake is found, by the invariant that it breaks, and its least plan replays.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "scenarios/search/failure.h"
#include "scenarios/search/hunt.h"
#include "scenarios/search/kind_proof.h"
#include "tests/scenarios/probe_handler.h"
#include "tests/scenarios/sanitized.h"

namespace fencepost::scenarios {
namespace {

// Made once for the tests that look at it.
const Hunt& hunted(const std::string& name) {
    static std::map<std::string, Hunt> hunts;
    const auto known = hunts.find(name);
    if (known != hunts.end()) return known->second;
    return hunts.emplace(name, hunt(*find_handler(name), {})).first->second;
}

class MistakeTest : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (kSanitized) GTEST_SKIP() << kTooLong;
    }
};

TEST_P(MistakeTest, IsFoundByRandomPlans) {
    EXPECT_TRUE(hunted(GetParam()).by_seeds.has_value());
}

TEST_P(MistakeTest, IsFoundByOneFault) {
    EXPECT_TRUE(hunted(GetParam()).by_one_fault.has_value());
}

TEST_P(MistakeTest, ShrinksToAPlanThatReplays) {
    const std::optional<Shrunk>& least = hunted(GetParam()).least;
    ASSERT_TRUE(least.has_value());
    EXPECT_TRUE(least->reproduced);
    EXPECT_LE(least->plan.faults.size(), 2U);

    const Failure failure = failure_from_json(to_json(failure_of(*least)));
    const auto& breaks = find_handler(GetParam())->breaks;
    EXPECT_NE(std::ranges::find(breaks, failure.invariant), breaks.end()) << failure.invariant;
    Runner runner;
    const Replay replay = compare(failure, runner.run(failure.plan));
    EXPECT_EQ(replay.verdict, ReplayVerdict::SameFailure);
    EXPECT_TRUE(replay.same_history);
}

// Every plan with fewer faults, for the scenario, the parameters and the seed of the least plan.
TEST_P(MistakeTest, ShrinksToAsFewFaultsAsThereCanBe) {
    const std::optional<Shrunk>& least = hunted(GetParam()).least;
    ASSERT_TRUE(least.has_value());
    const sim::Plan& plan = least->plan;
    ASSERT_LE(plan.faults.size(), 2U);
    if (plan.faults.empty()) return;
    const std::string invariant = failure_of(*least).invariant;
    const Subject subject{plan.scenario, plan.handler, plan.parameters};
    if (plan.faults.size() == 1) {
        for (const checkers::Judgement& judgement :
             Runner{}.run(subject.plan(plan.seed)).judgements)
            EXPECT_TRUE(judgement.checker != invariant ||
                        judgement.verdict != checkers::Verdict::Fail);
        return;
    }
    ExhaustOptions options;
    options.seed = plan.seed;
    const ExhaustResult all = exhaust(*find_scenario(plan.scenario), subject, options);
    EXPECT_TRUE(all.certificate.complete());
    for (const CheckerTally& tally : all.search.totals.checkers) {
        if (tally.checker != invariant || tally.failed == 0) continue;
        ADD_FAILURE() << "one fault is enough: plan " << tally.first_failed << " of "
                      << all.certificate.planned;
    }
}

std::vector<std::string> mistakes() {
    std::vector<std::string> names;
    for (const HandlerSpec& handler : all_handlers()) {
        if (handler.is_mistake()) names.push_back(handler.name);
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Planted, MistakeTest, testing::ValuesIn(mistakes()), [](const auto& one) {
    std::string name = one.param;
    std::ranges::replace(name, '-', '_');
    return name;
});

// The one test of the mistakes that sanitizers are to see as well.
TEST(MistakesTest, EachRunsInEveryScenarioThatItCanTakePartIn) {
    Runner runner;
    for (const std::string& name : mistakes()) {
        int scenarios = 0;
        for (const Scenario& scenario : all_scenarios()) {
            if (obstacle(scenario, *find_handler(name))) continue;
            ++scenarios;
            for (std::uint64_t seed = 0; seed < 3; ++seed) {
                runner.run(plan_for(scenario.name, name, seed));
            }
        }
        EXPECT_GT(scenarios, 0) << name;
    }
}

// But a drift: it adds up to too little while a mistake's work lasts, and who holds a lease by such
// a clock is not blamed.
TEST(MistakesTest, EveryKindOfFaultShowsOneThatDoesNotShowWithout) {
    if (kSanitized) GTEST_SKIP() << kTooLong;
    for (const sim::FaultKindInfo& kind : sim::fault_kinds()) {
        if (kind.kind == sim::FaultKind::ClockDrift) continue;
        const auto proof = proof_of(kind.kind, {}).proof;
        ASSERT_TRUE(proof.has_value()) << kind.name;
        const RunResult with = Runner{}.run(proof->plan);
        const auto broken =
            std::ranges::find(with.judgements, proof->checker, &checkers::Judgement::checker);
        ASSERT_NE(broken, with.judgements.end());
        EXPECT_EQ(broken->verdict, checkers::Verdict::Fail) << kind.name;
    }
}

TEST(MistakesTest, HalfOfThemAreFoundByAtMostFiftySeeds) {
    if (kSanitized) GTEST_SKIP() << kTooLong;
    std::vector<std::uint64_t> seeds;
    for (const std::string& name : mistakes()) {
        const auto& by_seeds = hunted(name).by_seeds;
        seeds.push_back(by_seeds ? by_seeds->first : ~std::uint64_t{0});
    }
    const auto middle = seeds.begin() + static_cast<std::ptrdiff_t>(seeds.size() / 2);
    std::ranges::nth_element(seeds, middle);
    EXPECT_LE(*middle, 50U);
}

}  // namespace
}  // namespace fencepost::scenarios
