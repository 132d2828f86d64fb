// Goal: a sweep's result is the same for any number of workers, says all that it saw, and names
// nondeterminism and mishaps.
#include "scenarios/search/sweep.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

const Subject kSubject{"same-instant", "reconcile"};

// Fails on a third of the seeds, on two checkers.
void usual_breaks(const sim::Plan& plan, RunResult& result) {
    if (plan.seed % 3 == 1) fail_checker(result, "once", "k");
    if (plan.seed % 97 == 50) fail_checker(result, "fencing", "f");
    if (plan.seed % 11 == 0) result.judgements[1].verdict = checkers::Verdict::Unknown;
}

SearchOptions options_with(int jobs, const Break& breaks = usual_breaks) {
    SearchOptions options;
    options.pool.jobs = jobs;
    options.make_runner = fake_runners(breaks);
    return options;
}

TEST(SweepTest, TheResultIsTheSameForAnyNumberOfWorkers) {
    const Scenario scenario = fake_scenario();
    SearchOptions options = options_with(1);
    options.totals.keep_fingerprints = true;
    const SearchResult one = sweep(scenario, kSubject, {10, 1009}, options);
    EXPECT_EQ(one.done, 1000U);
    for (const int jobs : {2, 3}) {
        options.pool.jobs = jobs;
        const SearchResult more = sweep(scenario, kSubject, {10, 1009}, options);
        EXPECT_EQ(more.totals, one.totals) << jobs;
        ASSERT_EQ(more.failures.size(), one.failures.size());
        for (std::size_t i = 0; i < more.failures.size(); ++i) {
            EXPECT_EQ(more.failures[i].plan, one.failures[i].plan);
        }
    }
}

TEST(SweepTest, ItSaysAllThatItSaw) {
    const Scenario scenario = fake_scenario();
    const SearchResult result = sweep(scenario, kSubject, {0, 299}, options_with(2));
    const Totals& totals = result.totals;
    EXPECT_EQ(totals.runs, 300U);
    EXPECT_EQ(totals.steps, 3000U);
    EXPECT_EQ(totals.checkers[0].checker, "once");
    EXPECT_EQ(totals.checkers[0].failed, 100U);
    EXPECT_EQ(totals.checkers[0].first_failed, 1U);
    EXPECT_EQ(totals.checkers[1].failed, 4U - 1U);
    EXPECT_EQ(totals.checkers[1].first_failed, 50U);
    EXPECT_EQ(totals.checkers[1].unknown, 28U);
    EXPECT_EQ(totals.checkers[1].first_unknown, 0U);
    EXPECT_GT(totals.probes[0].runs, 0U);
    EXPECT_GT(totals.of(sim::FaultKind::Crash).planned, 0U);
    EXPECT_EQ(totals.of(sim::FaultKind::Crash).took_effect,
              totals.of(sim::FaultKind::Crash).planned);
    EXPECT_TRUE(result.probes_missed().empty());
    EXPECT_TRUE(result.never_judged().empty());
    EXPECT_FALSE(result.harness_failed());
    EXPECT_EQ(result.end, PoolEnd::Completed);
    // The first failures, and the first of each checker.
    ASSERT_EQ(result.failures.size(), 20U);
    EXPECT_EQ(result.failures[0].run.item, 1U);
    EXPECT_EQ(result.failures[0].run.message, "broken on k");
    EXPECT_EQ(result.failures[0].plan.seed, 1U);
}

TEST(SweepTest, TheFirstFailureOfARareCheckerIsKeptHoweverLateItComes) {
    SearchOptions options = options_with(2);
    options.totals.failures_kept = 2;
    const SearchResult result = sweep(fake_scenario(), kSubject, {0, 299}, options);
    ASSERT_EQ(result.failures.size(), 3U);
    EXPECT_EQ(result.failures[2].run.item, 50U);
    EXPECT_EQ(result.failures[2].plan.seed, 50U);
    EXPECT_EQ(result.failures[2].run.failed, std::vector<std::string>{"fencing"});
}

TEST(SweepTest, TotalsOfPartsMergeToThoseOfTheWholeHoweverTheyAreCut) {
    const Scenario scenario = fake_scenario();
    const TotalsOptions kept{.failures_kept = 3, .keep_fingerprints = true};
    FakeRunner runner(usual_breaks);
    const auto totals_of = [&](std::uint64_t first, std::uint64_t last) {
        Totals totals(scenario, kept);
        for (std::uint64_t seed = first; seed < last; ++seed) {
            sim::Plan plan = kSubject.plan(seed);
            if (seed % 2 == 0) plan.faults.emplace_back().at = "A#1/daily@1/db.commit/1";
            totals.add(seed, plan, runner.run(plan, {}));
        }
        return totals_from_bytes(to_bytes(totals));
    };
    const Totals whole = totals_of(0, 200);
    for (const std::uint64_t first : {0, 1, 50, 51, 120}) {
        for (const std::uint64_t second : {120, 147, 148, 200}) {
            Totals left = totals_of(0, first);
            left.append(totals_of(first, second));
            left.append(totals_of(second, 200));
            EXPECT_EQ(left, whole);
            Totals right = totals_of(first, second);
            right.append(totals_of(second, 200));
            Totals all = totals_of(0, first);
            all.append(right);
            EXPECT_EQ(all, whole);
        }
    }
    Totals swapped = totals_of(100, 200);
    swapped.append(totals_of(0, 100));
    EXPECT_NE(swapped.digest.value(), whole.digest.value());
}

TEST(SweepTest, ANondeterministicRunIsNamedWithItsFirstDifferentRecord) {
    SearchOptions options;
    options.pool.jobs = 2;
    options.verify = true;
    options.make_runner = [] {
        const auto fake = std::make_shared<FakeRunner>();
        PlanRunner runner = plan_runner(fake);
        runner.run = [fake](const sim::Plan& plan, const RunOptions& run_options) {
            RunResult result = fake->run(plan, run_options);
            if (plan.seed != 7) return result;
            const std::string name = fake->runs % 2 == 0 ? "even" : "odd";
            fake->history().append(kFakeStart, 1, 1, 0, sim::ProbeReached{name});
            result.fingerprint = fake->history().fingerprint();
            return result;
        };
        return runner;
    };
    const SearchResult result = sweep(fake_scenario(), kSubject, {0, 19}, options);
    EXPECT_TRUE(result.harness_failed());
    EXPECT_EQ(result.totals.nondeterministic_runs, 1U);
    ASSERT_EQ(result.totals.nondeterministic.size(), 1U);
    const NondeterministicRun& run = result.totals.nondeterministic[0];
    EXPECT_EQ(run.item, 7U);
    EXPECT_NE(run.difference.first, run.difference.second);
    EXPECT_NE(run.difference.first.find(" probe name="), std::string::npos);
}

TEST(SweepTest, AHandlerThatCrashesIsReportedWithItsPlanAndTheSweepGoesOn) {
    for (const int jobs : {1, 3}) {
        const SearchResult result = sweep(fake_scenario(), kSubject, {0, 199},
                                          options_with(jobs, [](const sim::Plan& plan, RunResult&) {
                                              if (plan.seed == 60 || plan.seed == 61)
                                                  ::raise(SIGSEGV);
                                          }));
        EXPECT_EQ(result.end, PoolEnd::Completed);
        EXPECT_EQ(result.totals.runs, 198U);
        ASSERT_EQ(result.mishaps.size(), 2U);
        EXPECT_EQ(result.mishaps[0].mishap.item, 60U);
        EXPECT_EQ(result.mishaps[0].plan.seed, 60U);
        EXPECT_EQ(result.mishaps[1].plan.seed, 61U);
        EXPECT_TRUE(result.harness_failed());
    }
}

TEST(SweepTest, ACrashWithoutAnyFaultEndsTheSweepWithItsPlan) {
    const SearchResult result =
        sweep(fake_scenario(), kSubject, {0, 199},
              options_with(2, [](const sim::Plan&, RunResult&) { ::raise(SIGSEGV); }));
    EXPECT_EQ(result.totals.runs, 0U);
    ASSERT_EQ(result.mishaps.size(), 1U);
    EXPECT_TRUE(result.mishaps[0].plan.faults.empty());
}

TEST(SweepTest, ASweepStopsAfterSoManyFailuresAtTheSamePlaceForAnyNumberOfWorkers) {
    SearchOptions options = options_with(1);
    options.stop_after_failures = 10;
    const SearchResult one = sweep(fake_scenario(), kSubject, {0, 9999}, options);
    EXPECT_EQ(one.end, PoolEnd::Stopped);
    EXPECT_LT(one.done, 200U);
    options.pool.jobs = 3;
    EXPECT_EQ(sweep(fake_scenario(), kSubject, {0, 9999}, options).totals, one.totals);
}

TEST(SweepTest, UnknownNamesAreErrorsOfThePlan) {
    EXPECT_THROW((void)sweep(fake_scenario(), {"no-such", "reconcile"}, {0, 1}, {}),
                 sim::PlanError);
    EXPECT_THROW((void)sweep(fake_scenario(), kSubject, {2, 1}, {}), sim::PlanError);
}

}  // namespace
}  // namespace fencepost::scenarios
