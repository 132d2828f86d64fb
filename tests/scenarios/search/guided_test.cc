// Goal: a guided search gives the same for any number of workers, makes plans that random ones
// could be, keeps what covers something new, and finds with fewer runs what takes several steps.
#include "scenarios/search/guided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scenarios/search/mutation.h"
#include "scenarios/search/population.h"
#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

const Subject kSubject{"same-instant", "reconcile"};

bool has(const sim::Plan& plan, sim::FaultKind kind, sim::Phase phase) {
    return std::ranges::any_of(plan.faults, [&](const sim::Fault& fault) {
        return fault.kind == kind && fault.phase == phase && !fault.at_time;
    });
}

void breaks_on_a_lost_answer(const sim::Plan& plan, RunResult& result) {
    if (has(plan, sim::FaultKind::LoseAnswer, sim::Phase::Applied))
        fail_checker(result, "once", "k");
}

GuidedOptions options_with(int jobs, std::uint64_t runs = 500) {
    GuidedOptions options;
    options.runs = runs;
    options.search.pool.jobs = jobs;
    options.search.make_runner = fake_runners(breaks_on_a_lost_answer);
    return options;
}

TEST(GuidedSearchTest, TheResultIsTheSameForAnyNumberOfWorkers) {
    const Scenario scenario = fake_scenario();
    const GuidedResult one = guided_search(scenario, kSubject, options_with(1));
    EXPECT_EQ(one.search.done, 500U);
    EXPECT_EQ(one.search.end, PoolEnd::Completed);
    EXPECT_GT(one.search.failures.size(), 0U);
    for (const int jobs : {2, 5}) {
        const GuidedResult more = guided_search(scenario, kSubject, options_with(jobs));
        EXPECT_EQ(more.search.totals, one.search.totals) << jobs;
        EXPECT_EQ(more.kept, one.kept);
        EXPECT_EQ(more.children, one.children);
        EXPECT_EQ(more.features, one.features);
        ASSERT_EQ(more.search.failures.size(), one.search.failures.size());
        for (std::size_t i = 0; i < more.search.failures.size(); ++i) {
            EXPECT_EQ(more.search.failures[i].plan, one.search.failures[i].plan);
        }
    }
}

TEST(GuidedSearchTest, SoIsThatOfRealRuns) {
    const Scenario& scenario = *find_scenario("same-instant");
    const Subject subject{"same-instant", "lock-only"};
    GuidedOptions options;
    options.runs = 200;
    options.search.pool.jobs = 1;
    const GuidedResult one = guided_search(scenario, subject, options);
    options.search.pool.jobs = 2;
    const GuidedResult two = guided_search(scenario, subject, options);
    EXPECT_EQ(two.search.totals, one.search.totals);
    EXPECT_GT(one.search.totals.failed_runs, 0U);
}

TEST(GuidedSearchTest, AnotherSeedMakesOtherRuns) {
    const Scenario scenario = fake_scenario();
    GuidedOptions options = options_with(2);
    const GuidedResult first = guided_search(scenario, kSubject, options);
    options.seed = 2;
    const GuidedResult second = guided_search(scenario, kSubject, options);
    EXPECT_NE(first.search.totals.digest.value(), second.search.totals.digest.value());
}

TEST(GuidedSearchTest, EveryFailureIsAPlanThatFailsByItself) {
    const Scenario scenario = fake_scenario();
    const GuidedResult result = guided_search(scenario, kSubject, options_with(2));
    FakeRunner runner{breaks_on_a_lost_answer};
    ASSERT_GT(result.search.failures.size(), 0U);
    for (const FoundFailure& found : result.search.failures) {
        const RunResult again = runner.run(found.plan, {});
        EXPECT_TRUE(again.failed());
        EXPECT_EQ(again.fingerprint, found.run.fingerprint);
    }
}

TEST(GuidedSearchTest, ItStopsWhereItIsToldToAndSaysSo) {
    GuidedOptions options = options_with(3);
    options.search.stop_after_failures = 1;
    const GuidedResult result = guided_search(fake_scenario(), kSubject, options);
    EXPECT_EQ(result.search.end, PoolEnd::Stopped);
    EXPECT_LT(result.search.done, 500U);
    ASSERT_GT(result.search.failures.size(), 0U);
    EXPECT_EQ(result.search.failures[0].run.item, result.search.totals.checkers[0].first_failed);
}

// The plans of a search, in this process.
std::vector<sim::Plan> plans_of_search(std::uint64_t runs, bool also_of_catalogue = false) {
    auto plans = std::make_shared<std::vector<sim::Plan>>();
    GuidedOptions options = options_with(1, runs);
    options.search.pool.in_process = true;
    options.search.make_runner =
        fake_runners([plans](const sim::Plan& plan, RunResult&) { plans->push_back(plan); });
    (void)guided_search(fake_scenario(), kSubject, options);
    if (!also_of_catalogue)
        plans->erase(plans->begin(), plans->end() - static_cast<std::ptrdiff_t>(runs));
    return *plans;
}

TEST(GuidedSearchTest, PlansAreOnesThatRandomPlansCouldBe) {
    const Scenario scenario = fake_scenario();
    for (const sim::Plan& plan : plans_of_search(1000)) {
        EXPECT_LE(plan.faults.size(), static_cast<std::size_t>(scenario.most_faults));
        EXPECT_EQ(plan.scenario, "same-instant");
        EXPECT_EQ(plan.handler, "reconcile");
        for (const sim::Fault& fault : plan.faults) {
            EXPECT_NE(std::ranges::find(scenario.families, sim::info_of(fault.kind).family),
                      scenario.families.end());
        }
        // What JSON does not take as it is could not be saved.
        EXPECT_EQ(sim::plan_from_json(sim::to_json(plan)), plan);
        EXPECT_NO_THROW(validate(plan));
    }
}

TEST(GuidedSearchTest, HardlyAPlanIsRunTwice) {
    std::set<std::string> different;
    for (const sim::Plan& plan : plans_of_search(1000)) different.insert(sim::to_json(plan));
    EXPECT_GT(different.size(), 950U);
}

// A crash after which, in the second life, a query's answer is lost.
void breaks_in_the_second_life(const sim::Plan& plan, RunResult& result) {
    const bool crash = std::ranges::any_of(plan.faults, [](const sim::Fault& fault) {
        return fault.kind == sim::FaultKind::Crash &&
               fault.at.find("/db.commit/") != std::string::npos;
    });
    const bool lost = std::ranges::any_of(plan.faults, [](const sim::Fault& fault) {
        return fault.kind == sim::FaultKind::LoseAnswer && fault.at == "B#2/daily@1/db.query/1";
    });
    if (crash && lost) fail_checker(result, "once", "k");
}

TEST(GuidedSearchTest, WhatTakesTwoStepsIsFoundWithFewerRunsThanAtRandom) {
    const Scenario scenario = fake_scenario();
    std::uint64_t guided = 0;
    std::uint64_t random = 0;
    constexpr std::uint64_t kCap = 20'000;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        GuidedOptions options = options_with(2, kCap);
        options.seed = seed;
        options.search.make_runner = fake_runners(breaks_in_the_second_life);
        options.search.stop_after_failures = 1;
        const GuidedResult own = guided_search(scenario, kSubject, options);
        guided += std::min(own.search.totals.checkers[0].first_failed, kCap);
        const SearchResult other =
            sweep(scenario, kSubject, {seed * kCap + 1, (seed + 1) * kCap}, options.search);
        random += std::min(other.totals.checkers[0].first_failed - seed * kCap, kCap);
    }
    EXPECT_LT(guided, random);
}

// --- what is kept

TEST(PopulationTest, APlanIsKeptWhenItsRunCoversSomethingNew) {
    Population population;
    sim::Plan plan;
    const std::vector<Feature> both{1, 2};
    const std::vector<Feature> one{2};
    EXPECT_TRUE(population.is_new(1));
    EXPECT_TRUE(population.add(plan, both, {}));
    EXPECT_FALSE(population.add(plan, one, {}));
    EXPECT_FALSE(population.is_new(2));
    EXPECT_EQ(population.size(), 1U);
    EXPECT_EQ(population.features(FeatureKind::Probe), 2U);
}

TEST(PopulationTest, WhatManyRunsCoverIsWorthNothing) {
    Population population;
    const std::vector<Feature> feature{1};
    for (std::uint32_t i = 0; i < Population::kCommon; ++i) {
        EXPECT_FALSE(population.is_common(1));
        population.add({}, feature, {});
        population.weigh();
        EXPECT_EQ(population.choose(0) == nullptr, i + 1 == Population::kCommon) << i;
    }
    EXPECT_TRUE(population.is_common(1));
}

TEST(PopulationTest, TheRarerIsChosenMoreOftenAndTheLessTheMoreChildrenItHas) {
    Population population;
    sim::Plan rare;
    rare.seed = 1;
    const std::vector<Feature> common{1};
    const std::vector<Feature> other{2};
    for (int i = 0; i < 10; ++i) population.add({}, common, {});
    population.add(rare, other, {});
    const auto chosen = [&] {
        population.weigh();
        int times = 0;
        for (std::uint64_t i = 0; i < 1000; ++i) {
            times += population.choose(sim::mix(i))->plan.seed == 1 ? 1 : 0;
        }
        return times;
    };
    const int before = chosen();
    EXPECT_GT(before, 800);
    population.choose(~std::uint64_t{0})->children = 50;
    EXPECT_LT(chosen(), before);
}

TEST(TriedTest, APlanThatWasTriedIsLessNovelAndOneLikeItALittle) {
    sim::Plan plan;
    plan.faults.resize(1);
    plan.faults[0].at = "A#1/daily@1/db.commit/1";
    sim::Plan alike = plan;
    alike.faults[0].at = "B#1/daily@1/db.commit/2";
    sim::Plan other = plan;
    other.faults[0].kind = sim::FaultKind::Pause;
    Tried tried;
    tried.add(plan);
    EXPECT_LT(tried.novelty_of(plan), tried.novelty_of(alike));
    EXPECT_LT(tried.novelty_of(alike), tried.novelty_of(other));
}

// --- what is covered

std::vector<Feature> covered(const sim::Plan& plan) {
    FakeRunner runner;
    const RunResult result = runner.run(plan, {});
    return features_of(plan, result, std::as_const(runner).history());
}

sim::Plan plan_with(const std::string& at, sim::FaultKind kind) {
    sim::Plan plan = kSubject.plan(0);
    plan.faults.resize(1);
    plan.faults[0].at = at;
    plan.faults[0].kind = kind;
    return plan;
}

TEST(CoverageTest, TheSameOnTheOtherNodeOrWithOtherLatenciesIsNothingNew) {
    EXPECT_EQ(covered(kSubject.plan(1)), covered(kSubject.plan(2)));
    const auto strikes = [](std::vector<Feature> features) {
        std::erase_if(features, [](Feature f) { return kind_of(f) != FeatureKind::Strike; });
        return features.size();
    };
    const auto at_a = covered(plan_with("A#1/daily@1/db.execute/1", sim::FaultKind::Reset));
    EXPECT_GT(strikes(at_a), 0U);
    sim::Plan both = plan_with("A#1/daily@1/db.execute/1", sim::FaultKind::Reset);
    both.faults[0].at = "B#1/daily@1/db.execute/1";
    const auto at_b = covered(both);
    std::vector<Feature> shared;
    std::ranges::set_intersection(at_a, at_b, std::back_inserter(shared));
    EXPECT_EQ(strikes(shared), strikes(at_a));
}

TEST(CoverageTest, AnotherKindOrCallIsNewAndSoIsAProbe) {
    const auto reset = covered(plan_with("A#1/daily@1/db.execute/1", sim::FaultKind::Reset));
    const auto pause = covered(plan_with("A#1/daily@1/db.execute/1", sim::FaultKind::Pause));
    const auto commit = covered(plan_with("A#1/daily@1/db.commit/1", sim::FaultKind::Reset));
    EXPECT_NE(reset, pause);
    EXPECT_NE(reset, commit);
    const auto probes = [](const std::vector<Feature>& features) {
        return std::ranges::count(features, FeatureKind::Probe, kind_of);
    };
    // What a run reached together is one more.
    EXPECT_EQ(probes(reset), 1);
    EXPECT_EQ(probes(pause), 2);
}

TEST(CoverageTest, FeaturesAreSortedAndEachIsThereOnce) {
    const auto features = covered(plan_with("A#1/daily@1/db.commit/1", sim::FaultKind::Crash));
    EXPECT_TRUE(std::ranges::is_sorted(features));
    EXPECT_EQ(std::ranges::adjacent_find(features), features.end());
    EXPECT_GT(std::ranges::count(features, FeatureKind::Order, kind_of), 0);
}

}  // namespace
}  // namespace fencepost::scenarios
