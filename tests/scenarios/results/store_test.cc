// Goal: a store holds what a sweep came to, each seed once, and people can ask it.
//
// Method: small sweeps of real scenarios, with and without a store.
#include "scenarios/results/store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/scenarios/results/stored.h"

namespace fencepost::scenarios {
namespace {

constexpr std::uint64_t kSeeds = 150;

void expect_refused(const std::string& file, const StoredSweep& sweep, std::string_view says,
                    IfThereAreResults if_there_are = IfThereAreResults::GoOn) {
    try {
        const ResultsStore store{file, sweep, if_there_are};
        ADD_FAILURE() << "not refused: " << says;
    } catch (const sim::PlanError& error) {
        EXPECT_NE(std::string{error.what()}.find(says), std::string::npos) << error.what();
        EXPECT_TRUE(std::string{error.what()}.starts_with(file)) << error.what();
    }
}

TEST(StoreTest, ASweepWithAStoreComesToWhatOneWithoutDoes) {
    const StoreFolder folder;
    const StoredSweep stored = small_sweep(kSeeds);
    const SearchResult with = run_into(folder.file("s"), stored);
    SearchOptions options;
    options.pool.jobs = 2;
    const SearchResult without =
        sweep(*find_scenario("holder-leaves"), stored.subject, stored.seeds, options);
    EXPECT_EQ(with.totals, without.totals);
    EXPECT_EQ(with.done, without.done);
    EXPECT_EQ(with.planned, without.planned);
    EXPECT_GT(with.totals.failed_runs, 0U);
    EXPECT_LT(with.totals.failed_runs, kSeeds);
    ASSERT_EQ(with.failures.size(), without.failures.size());
    for (std::size_t i = 0; i < with.failures.size(); ++i) {
        EXPECT_EQ(with.failures[i].run, without.failures[i].run);
        EXPECT_EQ(with.failures[i].plan, without.failures[i].plan);
    }
}

TEST(StoreTest, WhatIsStoredDoesNotDependOnTheNumberOfWorkers) {
    const StoreFolder folder;
    for (const int jobs : {1, 2, 3})
        (void)run_into(folder.file(std::to_string(jobs)), small_sweep(kSeeds), jobs);
    EXPECT_EQ(results_of(folder.file("1")), results_of(folder.file("2")));
    EXPECT_EQ(results_of(folder.file("1")), results_of(folder.file("3")));
}

TEST(StoreTest, ACompleteSweepIsReadAndNotRunAgain) {
    const StoreFolder folder;
    const SearchResult first = run_into(folder.file("s"), small_sweep(kSeeds));
    const std::string before = results_of(folder.file("s"));
    ResultsStore store{folder.file("s"), small_sweep(kSeeds), IfThereAreResults::GoOn};
    EXPECT_TRUE(store.complete());
    SearchOptions options;
    const SearchResult again = sweep_into(store, options);
    EXPECT_EQ(again.totals, first.totals);
    EXPECT_EQ(again.done, kSeeds);
    EXPECT_EQ(again.failures.size(), first.failures.size());
    EXPECT_EQ(results_of(folder.file("s")), before);
}

TEST(StoreTest, VerdictsAndProbesAreAskedForByName) {
    const StoreFolder folder;
    const SearchResult result = run_into(folder.file("s"), small_sweep(kSeeds));
    for (const CheckerTally& tally : result.totals.checkers) {
        const auto count = [&](const char* verdict) {
            return rows_of(folder.file("s"), "SELECT count(*) FROM verdicts WHERE checker = '" +
                                                 tally.checker + "' AND verdict = '" + verdict +
                                                 "'");
        };
        EXPECT_EQ(count("pass"), std::to_string(tally.passed) + "|\n") << tally.checker;
        EXPECT_EQ(count("fail"), std::to_string(tally.failed) + "|\n") << tally.checker;
        EXPECT_EQ(count("unknown"), std::to_string(tally.unknown) + "|\n") << tally.checker;
        EXPECT_EQ(count("not applicable"), std::to_string(tally.not_applicable) + "|\n")
            << tally.checker;
    }
    for (const ProbeTally& tally : result.totals.probes) {
        EXPECT_EQ(rows_of(folder.file("s"),
                          "SELECT count(*) FROM probes WHERE probe = '" + tally.probe + "'"),
                  std::to_string(tally.runs) + "|\n");
    }
}

TEST(StoreTest, EachFailedCheckerHasItsFailure) {
    const StoreFolder folder;
    const SearchResult result = run_into(folder.file("s"), small_sweep(kSeeds));
    EXPECT_EQ(
        rows_of(folder.file("s"), "SELECT seed, checker FROM failures ORDER BY 1, position"),
        rows_of(folder.file("s"), "SELECT seed, checker FROM verdicts WHERE verdict = 'fail'"));
    const FailingRun& first = result.totals.failures.front();
    EXPECT_EQ(rows_of(folder.file("s"),
                      "SELECT key, message FROM failures ORDER BY seed, position LIMIT 1"),
              first.key + "|" + first.message + "|\n");
    EXPECT_EQ(rows_of(folder.file("s"), "SELECT count(*) FROM runs WHERE failed"),
              std::to_string(result.totals.failed_runs) + "|\n");
}

TEST(StoreTest, FaultsHaveTheirFates) {
    const StoreFolder folder;
    const SearchResult result = run_into(folder.file("s"), small_sweep(kSeeds));
    for (const sim::FaultKindInfo& info : sim::fault_kinds()) {
        EXPECT_EQ(rows_of(folder.file("s"),
                          "SELECT count(*) FROM faults WHERE fate = 'took effect' "
                          "AND kind = '" +
                              std::string{info.name} + "'"),
                  std::to_string(result.totals.of(info.kind).took_effect) + "|\n");
    }
}

TEST(StoreTest, TimingsCoverEverySeedOnce) {
    const StoreFolder folder;
    (void)run_into(folder.file("s"), small_sweep(1'200), 1);
    EXPECT_EQ(rows_of(folder.file("s"),
                      "SELECT min(first_seed), max(last_seed), sum(last_seed - first_seed + 1), "
                      "count(*) > 1 FROM timings"),
              "11|1210|1200|1|\n");
}

// A handler that takes its process down: the seed has no run, but is done.
TEST(StoreTest, AMishapTakesThePlaceOfItsRun) {
    const StoreFolder folder;
    const auto make_runner = [] {
        PlanRunner real = fresh_runner();
        return PlanRunner{[real](const sim::Plan& plan, const RunOptions& run) {
                              if (plan.seed == 40) ::_exit(7);
                              return real.run(plan, run);
                          },
                          real.history};
    };
    for (const auto if_there_are : {IfThereAreResults::Refuse, IfThereAreResults::GoOn}) {
        ResultsStore store{folder.file("s"), small_sweep(kSeeds), if_there_are};
        SearchOptions options;
        options.pool.jobs = 2;
        options.make_runner = make_runner;
        const SearchResult result = sweep_into(store, options);
        EXPECT_TRUE(store.complete());
        EXPECT_EQ(result.totals.runs, kSeeds - 1);
        ASSERT_EQ(result.mishaps.size(), 1U);
        EXPECT_EQ(result.mishaps[0].mishap.item, 40U);
        EXPECT_EQ(result.mishaps[0].mishap.exit_code, 7);
        EXPECT_EQ(result.mishaps[0].plan.seed, 40U);
    }
    EXPECT_EQ(rows_of(folder.file("s"), "SELECT seed, kind, exit_code FROM mishaps"),
              "40|exited|7|\n");
}

TEST(StoreTest, WhatDiffersInASecondRunIsStored) {
    const StoreFolder folder;
    StoredSweep sweep = small_sweep(20);
    sweep.verified = true;
    ResultsStore store{folder.file("s"), sweep, IfThereAreResults::Refuse};
    SearchOptions options;
    options.pool.jobs = 1;
    options.verify = true;
    options.make_runner = [] {
        PlanRunner real = fresh_runner();
        return PlanRunner{
            [real, runs = std::make_shared<int>(0)](const sim::Plan& plan, const RunOptions& run) {
                sim::Plan other = plan;
                // Every time a run of that seed is made, it is another one.
                if (plan.seed == 15) other.seed += static_cast<unsigned>(++*runs);
                return real.run(other, run);
            },
            real.history};
    };
    const SearchResult result = sweep_into(store, options);
    EXPECT_EQ(result.totals.nondeterministic_runs, 1U);
    EXPECT_EQ(rows_of(folder.file("s"), "SELECT seed FROM differences"), "15|\n");
    ResultsStore again{folder.file("s"), sweep, IfThereAreResults::GoOn};
    EXPECT_EQ(sweep_into(again, options).totals.nondeterministic, result.totals.nondeterministic);
}

TEST(StoreTest, ResultsAreNotOverwritten) {
    const StoreFolder folder;
    (void)run_into(folder.file("s"), small_sweep(5));
    expect_refused(folder.file("s"), small_sweep(5), "there are results already; --resume goes on",
                   IfThereAreResults::Refuse);
}

TEST(StoreTest, ResultsOfAnotherSweepAreNotGoneOnWith) {
    const StoreFolder folder;
    (void)run_into(folder.file("s"), small_sweep(5));
    StoredSweep other = small_sweep(6);
    expect_refused(folder.file("s"), other, "another sweep: its last_seed is 15 and not 16");
    other = small_sweep(5);
    other.subject.parameters["accounts"] = 1;
    expect_refused(folder.file("s"), other, "its parameters is {} and not {\"accounts\":1}");
    other = small_sweep(5, {1, 2});
    expect_refused(folder.file("s"), other, "its shards is 1 and not 2");
    other = small_sweep(5);
    other.program = 43;
    expect_refused(folder.file("s"), other, "another build of the program");
}

TEST(StoreTest, AnotherFileIsNoStore) {
    const StoreFolder folder;
    std::ofstream{folder.file("text")} << std::string(4'096, 'x');
    expect_refused(folder.file("text"), small_sweep(5), "not a database");
    {
        SqliteFile other{folder.file("other"), SqliteFile::Access::Create};
        other.execute("CREATE TABLE runs(seed)");
    }
    expect_refused(folder.file("other"), small_sweep(5), "this file holds no results of a sweep");
    expect_refused(folder.file("no/folder"), small_sweep(5), "unable to open");
    EXPECT_THROW((void)ResultsStore::open(folder.file("none")), sim::PlanError);
}

TEST(StoreTest, AStoreThatWasChangedByOtherMeansIsRefused) {
    const StoreFolder folder;
    const std::string whole = folder.file("whole");
    (void)run_into(whole, small_sweep(100));
    const std::string file = folder.file("s");
    for (const auto& [change, says] : std::initializer_list<std::pair<const char*, const char*>>{
             {"DELETE FROM runs WHERE seed = 15", "the first so many seeds"},
             {"UPDATE sweep SET shards = 0", "no sweep has such seeds or parts"},
             {"UPDATE sweep SET shard = 2", "no sweep has such seeds or parts"},
             {"UPDATE sweep SET first_seed = 900", "no sweep has such seeds or parts"},
             {"UPDATE sweep SET parameters = '{'", "parse error"},
             {"UPDATE sweep SET profile = '{}'", "a name in quotes is expected here"},
             {"UPDATE sweep SET program = 'x'", "\"x\" is no hash"},
             {"UPDATE runs SET fingerprint = 'x'", "\"x\" is no hash"},
             {"UPDATE faults SET kind = 'x'", "there is no such kind of fault"},
             {"UPDATE faults SET fate = 'x'", "\"x\" is nothing that this program writes"},
             {"DELETE FROM failures", "are not all there"}}) {
        std::filesystem::copy_file(whole, file, std::filesystem::copy_options::overwrite_existing);
        SqliteFile{file, SqliteFile::Access::Existing}.execute(change);
        try {
            (void)run_into(file, small_sweep(100), 1, IfThereAreResults::GoOn);
            ADD_FAILURE() << "not refused: " << change;
        } catch (const sim::PlanError& error) {
            const std::string what = error.what();
            EXPECT_TRUE(what.starts_with(file)) << what;
            EXPECT_NE(what.find(says), std::string::npos) << change << ": " << what;
            EXPECT_NE(what.find("the file is damaged"), std::string::npos) << what;
        }
    }
}

TEST(StoreTest, SeedsThatSqliteCannotCountAreRefused) {
    const StoreFolder folder;
    StoredSweep sweep = small_sweep(5);
    sweep.seeds = {~std::uint64_t{0} - 5, ~std::uint64_t{0}};
    EXPECT_THROW((ResultsStore{folder.file("s"), sweep, IfThereAreResults::Refuse}),
                 sim::PlanError);
}

}  // namespace
}  // namespace fencepost::scenarios
