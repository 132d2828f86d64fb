// Goal: a plan is a function of its seed, reaches points that exist only after a fault, and is one
// that the runner accepts.
#include "scenarios/search/random_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

const Subject kSubject{"same-instant", "reconcile"};

Catalogue fake_catalogue(const Scenario& scenario) {
    return catalogue_of(scenario, kSubject, fake_runners()());
}

TEST(RandomPlanTest, APlanDependsOnItsSeedAlone) {
    const Scenario scenario = fake_scenario();
    const Catalogue catalogue = fake_catalogue(scenario);
    const PlanSource forwards(scenario, kSubject, catalogue);
    const PlanSource backwards(scenario, kSubject, catalogue);
    std::map<std::uint64_t, sim::Plan> plans;
    for (std::uint64_t seed = 0; seed < 500; ++seed) plans[seed] = forwards.draw(seed);
    for (std::uint64_t seed = 500; seed-- > 0;) EXPECT_EQ(backwards.draw(seed), plans[seed]);
}

TEST(RandomPlanTest, ACatalogueIsTheSameEachTime) {
    const Scenario scenario = fake_scenario();
    EXPECT_EQ(fake_catalogue(scenario), fake_catalogue(scenario));
}

TEST(RandomPlanTest, PointsThatExistOnlyAfterAFaultAreDrawnAsWell) {
    const Scenario scenario = fake_scenario();
    const PlanSource source(scenario, kSubject, fake_catalogue(scenario));
    bool second_life = false;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        for (const sim::Fault& fault : source.draw(seed).faults) {
            second_life |= fault.at.starts_with("B#2/");
        }
    }
    EXPECT_TRUE(second_life);
}

TEST(RandomPlanTest, EveryKindAndPhaseOfTheScenariosFamiliesIsDrawn) {
    const Scenario scenario = fake_scenario();
    const PlanSource source(scenario, kSubject, fake_catalogue(scenario));
    std::set<sim::FaultKind> kinds;
    std::set<sim::Phase> phases;
    std::map<std::size_t, int> sizes;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const sim::Plan plan = source.draw(seed);
        ++sizes[plan.faults.size()];
        for (const sim::Fault& fault : plan.faults) {
            kinds.insert(fault.kind);
            if (!fault.at_time) phases.insert(fault.phase);
        }
    }
    EXPECT_EQ(kinds.size(), kinds_of(scenario));
    EXPECT_EQ(phases.size(), 4U);
    EXPECT_GT(sizes[0], 300);
    EXPECT_LT(sizes[0], 700);
    EXPECT_EQ(sizes.rbegin()->first, 3U);
}

TEST(RandomPlanTest, OnlyTheScenariosFamiliesAreDrawn) {
    Scenario scenario = fake_scenario();
    scenario.families = {sim::FaultFamily::Call};
    const PlanSource source(scenario, kSubject, fake_catalogue(scenario));
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        for (const sim::Fault& fault : source.draw(seed).faults) {
            EXPECT_EQ(sim::info_of(fault.kind).family, sim::FaultFamily::Call);
        }
    }
    scenario.families.clear();
    EXPECT_TRUE(PlanSource(scenario, kSubject, fake_catalogue(scenario)).draw(1).faults.empty());
}

TEST(RandomPlanTest, EveryPlanSurvivesItsFileForm) {
    const Scenario scenario = fake_scenario();
    const PlanSource source(scenario, kSubject, fake_catalogue(scenario));
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        const sim::Plan plan = source.draw(seed);
        EXPECT_EQ(sim::plan_from_json(sim::to_json(plan)), plan);
    }
}

TEST(RandomPlanTest, EveryPlanNamesWhatTheScenarioHas) {
    const Scenario scenario = fake_scenario();
    const PlanSource source(scenario, kSubject, fake_catalogue(scenario));
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        EXPECT_NO_THROW(validate(source.draw(seed))) << sim::to_json(source.draw(seed));
    }
}

}  // namespace
}  // namespace fencepost::scenarios
