// Every planted mistake is found, by the invariant that it breaks, and its minimal plan replays.
#include <gtest/gtest.h>

#include "scenarios/search/exhaust.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/shrink.h"
#include "scenarios/search/sweep.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

struct Found {
    sim::Plan plan;
    std::string checker;
};

// The first failure of one of the invariants that the mistake is meant to break.
std::optional<Found> first_of(const SearchResult& search, const HandlerSpec& mistake) {
    for (const FoundFailure& failure : search.failures) {
        for (const std::string& checker : failure.run.failed) {
            if (std::ranges::find(mistake.breaks, checker) != mistake.breaks.end()) {
                return Found{failure.plan, checker};
            }
        }
    }
    return std::nullopt;
}

std::optional<Found> find_by_seeds(const HandlerSpec& mistake) {
    for (const Scenario& scenario : all_scenarios()) {
        SearchOptions options;
        options.totals.failures_kept = 100;
        options.stop_after_failures = 100;
        if (auto found = first_of(
                sweep(scenario, {scenario.name, mistake.name}, {1, 2000}, options), mistake)) {
            return found;
        }
    }
    return std::nullopt;
}

std::optional<Found> find_by_enumeration(const HandlerSpec& mistake) {
    for (const Scenario& scenario : all_scenarios()) {
        ExhaustOptions options;
        options.search.totals.failures_kept = 1000;
        if (auto found = first_of(exhaust(scenario, {scenario.name, mistake.name}, options).search,
                                  mistake)) {
            return found;
        }
    }
    return std::nullopt;
}

class MistakeTest : public testing::TestWithParam<std::string> {};

TEST_P(MistakeTest, IsFoundByRandomPlans) {
    EXPECT_TRUE(find_by_seeds(*find_handler(GetParam())).has_value());
}

TEST_P(MistakeTest, IsFoundByOneFaultAndItsMinimalPlanReplays) {
    const HandlerSpec& mistake = *find_handler(GetParam());
    const auto found = find_by_enumeration(mistake);
    ASSERT_TRUE(found.has_value());

    Runner runner;
    const RunPlan run = [&](const sim::Plan& plan, const RunOptions& options) {
        return runner.run(plan, options);
    };
    ShrinkOptions options;
    options.most_runs = 300;
    const Shrunk shrunk = shrink(found->plan, run, options, found->checker);
    EXPECT_TRUE(shrunk.reproduced);
    EXPECT_LE(shrunk.plan.faults.size(), 1U);

    const Failure failure = failure_from_json(to_json(failure_of(shrunk)));
    const Replay replay = compare(failure, runner.run(failure.plan));
    EXPECT_EQ(replay.verdict, ReplayVerdict::SameFailure);
    EXPECT_TRUE(replay.same_history);
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

}  // namespace
}  // namespace fencepost::scenarios
