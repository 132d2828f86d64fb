// Goal: a mistake that no single fault shows is hunted with two, and what is shown of a mistake has
// as few faults as there can be.
//
// Method: a stand-in for the runner that breaks the mistake's invariant when the test says so.
#include "scenarios/search/hunt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

bool has(const sim::Plan& plan, sim::FaultKind kind) {
    return std::ranges::find(plan.faults, kind, &sim::Fault::kind) != plan.faults.end();
}

Hunt hunt_with(const std::function<bool(const sim::Plan&)>& breaks, HuntOptions options = {}) {
    options.most_seeds = 300;
    options.search.pool.jobs = 2;
    options.search.make_runner = fake_runners([breaks](const sim::Plan& plan, RunResult& result) {
        result.probes.clear();  // the scenarios are real ones and have others
        if (breaks(plan)) fail_checker(result, "once", "k");
    });
    return hunt(*find_handler("no-claim"), options);
}

TEST(HuntTest, WhatOneFaultShowsIsNotHuntedWithTwo) {
    const Hunt found =
        hunt_with([](const sim::Plan& plan) { return has(plan, sim::FaultKind::Crash); });
    EXPECT_TRUE(found.by_one_fault.has_value());
    EXPECT_FALSE(found.by_two_faults.has_value());
    ASSERT_TRUE(found.least.has_value());
    EXPECT_EQ(found.least->plan.faults.size(), 1U);
}

TEST(HuntTest, WhatOneFaultDoesNotShowIsHuntedWithTwo) {
    const Hunt found = hunt_with([](const sim::Plan& plan) {
        return has(plan, sim::FaultKind::Crash) && has(plan, sim::FaultKind::Pause);
    });
    EXPECT_FALSE(found.by_one_fault.has_value());
    ASSERT_TRUE(found.by_two_faults.has_value());
    EXPECT_EQ(found.by_two_faults->checker, "once");
    EXPECT_EQ(found.by_two_faults->plan.faults.size(), 2U);
    EXPECT_GT(found.by_two_faults->first, 1U);
    ASSERT_TRUE(found.least.has_value());
    EXPECT_EQ(found.least->plan.faults.size(), 2U);
}

TEST(HuntTest, AHuntWithTwoFaultsHasABound) {
    HuntOptions options;
    options.most_two_fault_plans = 500;
    const Hunt found = hunt_with([](const sim::Plan&) { return false; }, options);
    EXPECT_FALSE(found.by_two_faults.has_value());
    EXPECT_FALSE(found.found());
}

// Without either of two faults the first plan breaks nothing; another kind alone does.
TEST(HuntTest, TheLeastPlanHasAsFewFaultsAsThereCanBe) {
    const auto breaks = [](const sim::Plan& plan) {
        return (has(plan, sim::FaultKind::Crash) && has(plan, sim::FaultKind::Pause)) ||
               (has(plan, sim::FaultKind::Refuse) && plan.faults.size() == 1);
    };
    const Hunt found = hunt_with(breaks);
    ASSERT_TRUE(found.by_seeds.has_value());
    ASSERT_FALSE(has(found.by_seeds->plan, sim::FaultKind::Refuse));
    ASSERT_TRUE(found.least.has_value());
    EXPECT_EQ(found.least->plan.faults.size(), 1U);
    EXPECT_EQ(found.least->plan.faults[0].kind, sim::FaultKind::Refuse);
}

}  // namespace
}  // namespace fencepost::scenarios
