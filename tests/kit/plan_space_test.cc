// Goal: plans for property tests are those of a sweep; what they shrink to is what shrink() leads
// to.
#include "kit/plan_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "scenarios/search/shrink.h"
#include "tests/kit/folder.h"

namespace fencepost::kit {
namespace {

// As RapidCheck does it: the first smaller plan that fails is taken, until none does.
DrawnPlan made_small(const PlanSpace& space, DrawnPlan plan) {
    for (bool found = true; found;) {
        found = false;
        for (const DrawnPlan& smaller : space.smaller(plan)) {
            if (!space.broken_by(smaller)) continue;
            plan = smaller;
            found = true;
            break;
        }
    }
    return plan;
}

DrawnPlan first_that_fails(const PlanSpace& space) {
    for (std::uint64_t seed = 1; seed < 2'000; ++seed) {
        DrawnPlan plan = space.draw(seed);
        if (space.broken_by(plan)) return plan;
    }
    ADD_FAILURE() << "no plan breaks " << space.candidate().name();
    return space.draw(0);
}

TEST(PlanSpaceTest, DrawsWhatASweepDraws) {
    const PlanSpace space{"same-instant", "reconcile"};
    const scenarios::Subject subject{"same-instant", "reconcile"};
    const scenarios::Scenario& scenario = *scenarios::find_scenario("same-instant");
    const scenarios::PlanSource source{
        scenario, subject, scenarios::catalogue_of(scenario, subject, scenarios::fresh_runner())};
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        EXPECT_EQ(space.draw(seed).plan, source.draw(seed));
}

TEST(PlanSpaceTest, APlanThatHoldsIsBrokenByNothing) {
    const PlanSpace space{"same-instant", "reconcile", {{"accounts", 2}}};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const DrawnPlan plan = space.draw(seed);
        EXPECT_EQ(plan.plan.parameters.at("accounts"), 2);
        EXPECT_FALSE(space.broken_by(plan).has_value());
    }
}

TEST(PlanSpaceTest, SimplerPlansHaveOneFaultLessOrASimplerOne) {
    const scenarios::Scenario& scenario = *scenarios::find_scenario("holder-leaves");
    const PlanSpace space{"holder-leaves", "reconcile"};
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const sim::Plan plan = space.draw(seed).plan;
        const std::vector<sim::Plan> simpler = simpler_plans(scenario, plan);
        for (std::size_t i = 0; i < simpler.size(); ++i) {
            EXPECT_NE(simpler[i], plan);
            const std::size_t faults = plan.faults.size() - (i < plan.faults.size() ? 1 : 0);
            EXPECT_EQ(simpler[i].faults.size(), faults);
            EXPECT_NO_THROW(scenarios::validate(simpler[i]));
        }
    }
}

struct Planted {
    const char* handler;
    const char* scenario;
};

class PlantedMistakeTest : public testing::TestWithParam<Planted> {};

TEST_P(PlantedMistakeTest, ShrinksToTheLeastPlanOfShrink) {
    const Folder folder;
    const PlanSpace space{GetParam().scenario,
                          {GetParam().handler, {.failures_folder = folder.path()}}};
    const DrawnPlan found = first_that_fails(space);
    scenarios::ShrinkOptions options;
    options.parameters = scenarios::shrinkable_parameters(space.scenario());
    const scenarios::PlanRunner runner = scenarios::fresh_runner();
    const scenarios::Shrunk least = scenarios::shrink(found.plan, runner.run, options,
                                                      found.lineage->checker, found.lineage->key);
    const DrawnPlan small = made_small(space, found);
    EXPECT_EQ(small.plan, least.plan) << sim::to_json(small.plan) << sim::to_json(least.plan);

    const auto saved = space.broken_by(small);
    ASSERT_TRUE(saved.has_value());
    const scenarios::Failure failure = scenarios::read_failure(saved->file);
    EXPECT_EQ(failure.plan, least.plan);
    EXPECT_TRUE(failure.found_by.minimal);
    EXPECT_EQ(failure.found_by.seed, found.lineage->seed);
    EXPECT_EQ(scenarios::compare(failure, runner.run(failure.plan, {})).verdict,
              scenarios::ReplayVerdict::SameFailure);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedMistakeTest,
                         testing::Values(Planted{"lock-only", "holder-leaves"},
                                         Planted{"no-claim", "same-instant"},
                                         Planted{"commit-retried", "crash-before-response"},
                                         Planted{"fence-in-memory", "holder-leaves"},
                                         Planted{"no-inbox", "message-twice"},
                                         Planted{"blind-retry", "outcome-unknown"}),
                         [](const auto& planted) {
                             std::string name = planted.param.handler;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(PlanSpaceTest, WhatThereIsNotIsRefused) {
    EXPECT_THROW(PlanSpace("same-instnat", "reconcile"), std::invalid_argument);
    EXPECT_THROW(PlanSpace("start-up-twice", "reconcile"), std::invalid_argument);
    EXPECT_THROW(PlanSpace("same-instant", "reconcile", {{"acounts", 2}}), std::invalid_argument);
}

}  // namespace
}  // namespace fencepost::kit
