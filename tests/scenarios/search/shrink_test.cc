// Goal: what is reported is small, still fails, and is proven to be minimal.
#include "scenarios/search/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultKind;

sim::Fault fault(FaultKind kind, const std::string& at = "A#1/daily@1/db.commit/1") {
    sim::Fault made;
    made.kind = kind;
    made.at = at;
    return made;
}

bool has(const sim::Plan& plan, FaultKind kind) {
    return std::ranges::find(plan.faults, kind, &sim::Fault::kind) != plan.faults.end();
}

sim::Plan plan_with(std::initializer_list<FaultKind> kinds) {
    sim::Plan plan;
    plan.scenario = "same-instant";
    plan.handler = "reconcile";
    plan.seed = 77;
    for (const FaultKind kind : kinds) {
        plan.faults.push_back(fault(kind));
        if (kind == FaultKind::Pause) plan.faults.back().lasting = 1ms;
    }
    return plan;
}

RunPlan failing_when(const Break& breaks) {
    const auto fake = std::make_shared<FakeRunner>(breaks);
    return [fake](const sim::Plan& plan, const RunOptions& options) {
        return fake->run(plan, options);
    };
}

TEST(ShrinkTest, TheFaultsThatMatterRemain) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        if (has(plan, FaultKind::Pause) && has(plan, FaultKind::Reset)) {
            fail_checker(result, "once", "k");
        }
    });
    sim::Plan plan = plan_with({FaultKind::Crash, FaultKind::Pause, FaultKind::Evict,
                                FaultKind::Duplicate, FaultKind::Refuse, FaultKind::Reset,
                                FaultKind::LoseAnswer, FaultKind::LoseRequest});
    const Shrunk shrunk = shrink(plan, run);
    ASSERT_EQ(shrunk.plan.faults.size(), 2U);
    EXPECT_EQ(shrunk.plan.faults[0].kind, FaultKind::Pause);
    EXPECT_EQ(shrunk.plan.faults[1].kind, FaultKind::Reset);
    EXPECT_TRUE(shrunk.proven);
    EXPECT_TRUE(shrunk.reproduced);
    EXPECT_EQ(shrunk.original_faults, 8U);
    EXPECT_EQ(shrunk.plan.seed, 0U);
    EXPECT_EQ(shrunk.finding.message, "broken on k");
}

TEST(ShrinkTest, AFailureWithoutFaultsShrinksToNone) {
    const RunPlan run = failing_when(
        [](const sim::Plan&, RunResult& result) { fail_checker(result, "once", "k"); });
    const Shrunk shrunk = shrink(plan_with({FaultKind::Crash, FaultKind::Pause}), run);
    EXPECT_TRUE(shrunk.plan.faults.empty());
    EXPECT_TRUE(shrunk.proven);
}

TEST(ShrinkTest, DurationsBecomeShortAndRound) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        for (const sim::Fault& struck : plan.faults) {
            if (struck.lasting && *struck.lasting > 10s) fail_checker(result, "once", "k");
        }
    });
    sim::Plan plan = plan_with({FaultKind::Pause});
    plan.faults[0].lasting = 34'567ms;
    EXPECT_EQ(shrink(plan, run).plan.faults[0].lasting, 15s);
    // Rounder is better than a little shorter.
    plan.faults[0].lasting = 12'345ms;
    EXPECT_EQ(shrink(plan, run).plan.faults[0].lasting, 15s);
}

TEST(ShrinkTest, ArgumentsThatDoNotMatterGo) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        if (has(plan, FaultKind::Crash)) fail_checker(result, "once", "k");
    });
    sim::Plan plan = plan_with({FaultKind::Crash});
    plan.faults[0].restart_after = 11s;
    EXPECT_FALSE(shrink(plan, run).plan.faults[0].restart_after.has_value());
    plan.faults[0].at.clear();
    plan.faults[0].at_time = kFakeStart + 2'345'678us;
    EXPECT_EQ(shrink(plan, run).plan.faults[0].at_time, kFakeStart);
}

TEST(ShrinkTest, AGracePeriodMayBecomeNoneAndStaysSo) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        if (has(plan, FaultKind::Stop)) fail_checker(result, "once", "k");
    });
    sim::Plan plan = plan_with({FaultKind::Stop});
    plan.faults[0].grace = 30s;
    const Shrunk shrunk = shrink(plan, run);
    EXPECT_EQ(shrunk.plan.faults[0].grace, 0s);
    EXPECT_LT(shrunk.runs, 10);
}

TEST(ShrinkTest, ParametersBecomeSmall) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        const auto accounts = plan.parameters.find("accounts");
        if (accounts == plan.parameters.end() || accounts->second >= 3) {
            fail_checker(result, "once", "k");
        }
    });
    ShrinkOptions options;
    options.parameters = shrinkable_parameters(fake_scenario());
    EXPECT_EQ(options.parameters.size(), 2U);
    const Shrunk shrunk = shrink(plan_with({}), run, options);
    EXPECT_EQ(shrunk.plan.parameters.at("accounts"), 3);
    EXPECT_EQ(shrunk.plan.parameters.at("batch"), 1);
}

std::int64_t value_in(const sim::Plan& plan, const std::string& name, std::int64_t usual) {
    const auto found = plan.parameters.find(name);
    return found == plan.parameters.end() ? usual : found->second;
}

// A failure that the third of five units shows, and on one node.
TEST(ShrinkTest, NodesAndUnitsThatDoNotMatterGo) {
    const auto needs_third = [](const sim::Plan& plan, RunResult& result) {
        const std::int64_t first = value_in(plan, "first_unit", 1);
        const std::int64_t units = value_in(plan, "units", 5);
        if (first <= 3 && 3 < first + units) fail_checker(result, "once", "k");
    };
    ShrinkOptions options;
    options.parameters = {{"nodes", 2}, {"units", 5}};
    const Shrunk shrunk = shrink(plan_with({}), failing_when(needs_third), options);
    EXPECT_EQ(shrunk.plan.parameters.at("nodes"), 1);
    EXPECT_EQ(shrunk.plan.parameters.at("units"), 1);
    EXPECT_EQ(shrunk.plan.parameters.at("first_unit"), 3);
    EXPECT_TRUE(shrunk.proven);
}

TEST(ShrinkTest, NodesAndUnitsThatMatterStay) {
    const auto needs_two = [](const sim::Plan& plan, RunResult& result) {
        const std::int64_t first = value_in(plan, "first_unit", 1);
        const std::int64_t units = value_in(plan, "units", 3);
        if (value_in(plan, "nodes", 2) == 2 && first == 1 && units >= 2)
            fail_checker(result, "once", "k");
    };
    ShrinkOptions options;
    options.parameters = {{"nodes", 2}, {"units", 3}};
    const Shrunk shrunk = shrink(plan_with({}), failing_when(needs_two), options);
    EXPECT_FALSE(shrunk.plan.parameters.contains("nodes"));
    EXPECT_EQ(shrunk.plan.parameters.at("units"), 2);
    EXPECT_FALSE(shrunk.plan.parameters.contains("first_unit"));
    EXPECT_TRUE(shrunk.proven);
}

TEST(ShrinkTest, AnotherCheckerIsAnotherFailure) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        fail_checker(result, "fencing", "k");
        if (has(plan, FaultKind::Pause)) fail_checker(result, "once", "k");
    });
    const Shrunk shrunk = shrink(plan_with({FaultKind::Crash, FaultKind::Pause}), run, {}, "once");
    ASSERT_EQ(shrunk.plan.faults.size(), 1U);
    EXPECT_EQ(shrunk.plan.faults[0].kind, FaultKind::Pause);
    EXPECT_EQ(shrunk.checker, "once");
}

TEST(ShrinkTest, TheSameKeyIsKeptUnlessAnotherTakesFewerFaults) {
    const auto breaks = [](FaultKind other) {
        return [other](const sim::Plan& plan, RunResult& result) {
            if (has(plan, FaultKind::Pause) && has(plan, FaultKind::Crash)) {
                fail_checker(result, "once", "first");
            } else if (has(plan, other)) {
                fail_checker(result, "once", "second");
            }
        };
    };
    const sim::Plan plan =
        plan_with({FaultKind::Evict, FaultKind::Pause, FaultKind::Crash, FaultKind::Reset});
    const Shrunk fewer = shrink(plan, failing_when(breaks(FaultKind::Reset)));
    EXPECT_EQ(fewer.plan.faults.size(), 1U);
    EXPECT_EQ(fewer.finding.key, "second");
    EXPECT_TRUE(fewer.proven);
    const Shrunk same = shrink(plan, failing_when(breaks(FaultKind::Slow)));
    EXPECT_EQ(same.plan.faults.size(), 2U);
    EXPECT_EQ(same.finding.key, "first");
    EXPECT_TRUE(same.proven);
}

TEST(ShrinkTest, WhatDoesNotFailComesBackAsItWas) {
    const sim::Plan plan = plan_with({FaultKind::Crash});
    const Shrunk shrunk = shrink(plan, failing_when({}));
    EXPECT_FALSE(shrunk.reproduced);
    EXPECT_FALSE(shrunk.proven);
    EXPECT_EQ(shrunk.plan, plan);
}

TEST(ShrinkTest, TheNumberOfRunsIsBoundedAndThenNothingIsClaimed) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        if (plan.faults.size() >= 4) fail_checker(result, "once", "k");
    });
    const sim::Plan plan = plan_with({FaultKind::Crash, FaultKind::Pause, FaultKind::Reset,
                                      FaultKind::Evict, FaultKind::Refuse, FaultKind::LoseAnswer});
    ShrinkOptions options;
    options.most_runs = 5;
    const Shrunk shrunk = shrink(plan, run, options);
    EXPECT_LE(shrunk.runs, 6);
    EXPECT_FALSE(shrunk.proven);
    EXPECT_TRUE(shrunk.reproduced);
    EXPECT_TRUE(shrink(plan, run).proven);
    EXPECT_EQ(shrink(plan, run), shrink(plan, run));
}

TEST(ShrinkTest, PlansThatMakeNoSenseAreNotSmallerFailures) {
    const RunPlan run = failing_when([](const sim::Plan& plan, RunResult& result) {
        if (plan.parameters.contains("batch")) throw sim::PlanError("batch: unknown parameter");
        fail_checker(result, "once", "k");
    });
    ShrinkOptions options;
    options.parameters = {{"batch", 2}};
    const Shrunk shrunk = shrink(plan_with({}), run, options);
    EXPECT_TRUE(shrunk.plan.parameters.empty());
}

TEST(ShrinkTest, InAWorkerItGivesTheSameAndSurvivesACrash) {
    const Break breaks = [](const sim::Plan& plan, RunResult& result) {
        if (has(plan, FaultKind::Pause)) fail_checker(result, "once", "k");
    };
    const sim::Plan plan = plan_with({FaultKind::Crash, FaultKind::Pause});
    EXPECT_EQ(shrink_in_worker(plan, fake_runners(breaks)).value(),
              shrink(plan, failing_when(breaks)));
    const Break crashes = [](const sim::Plan& smaller, RunResult& result) {
        fail_checker(result, "once", "k");
        if (smaller.faults.empty()) std::abort();
    };
    const auto crashed = shrink_in_worker(plan, fake_runners(crashes));
    ASSERT_FALSE(crashed.has_value());
    EXPECT_EQ(crashed.error().text, "killed by SIGABRT");
}

}  // namespace
}  // namespace fencepost::scenarios
