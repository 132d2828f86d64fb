// The same plan gives the same history, bit for bit: in any order, in any build.
//
// tests/golden/fingerprints.txt holds one digest a scenario over the fingerprints of 1,000 random
// plans for its first reference handler. A change that alters fingerprints on purpose writes it
// anew (FENCEPOST_WRITE_GOLDEN=1) and says so in its commit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "scenarios/search/random_plan.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

constexpr std::uint64_t kSeeds = 1000;

// Catalogues are what plans are drawn from; one each is enough for all tests.
PlanSource& source_of(const Scenario& scenario) {
    static std::map<std::string, PlanSource, std::less<>> sources;
    const auto known = sources.find(scenario.name);
    if (known != sources.end()) return known->second;
    const Subject subject{scenario.name, scenario.handlers.front()};
    const Catalogue catalogue = catalogue_of(scenario, subject, fresh_runner());
    return sources.try_emplace(scenario.name, scenario, subject, catalogue).first->second;
}

std::string golden_path() {
    return std::string(FENCEPOST_SOURCE_DIR) + "/tests/golden/fingerprints.txt";
}

TEST(DeterminismTest, AThousandSeedsForwardsAndBackwardsGiveTheSameFingerprints) {
    std::ostringstream digests;
    for (const Scenario& scenario : all_scenarios()) {
        const PlanSource& source = source_of(scenario);
        Runner runner;
        std::vector<std::uint64_t> forwards;
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            forwards.push_back(runner.run(source.draw(seed)).fingerprint);
        }
        int differing = 0;
        for (std::uint64_t seed = kSeeds; seed >= 1; --seed) {
            if (runner.run(source.draw(seed)).fingerprint != forwards[seed - 1]) ++differing;
        }
        EXPECT_EQ(differing, 0) << scenario.name;
        std::uint64_t digest = 0;
        for (const std::uint64_t fingerprint : forwards) digest = sim::combine(digest, fingerprint);
        digests << fmt::format("{} {:#018x}\n", scenario.name, digest);
    }
    if (std::getenv("FENCEPOST_WRITE_GOLDEN") != nullptr) {
        std::ofstream{golden_path()} << digests.str();
    }
    std::stringstream golden;
    golden << std::ifstream{golden_path()}.rdbuf();
    EXPECT_EQ(digests.str(), golden.str())
        << "fingerprints have changed; see the head of this file";
}

TEST(DeterminismTest, TakingOneFaultAwayMovesNoOther) {
    const std::string point = "B#1/daily-reconcile@2026-03-02T18:00:00Z/db.execute/1";
    const auto slow = fault_at(point, sim::Phase::Applied, sim::FaultKind::LoseAnswer);
    auto unrelated = fault_at("A#1/daily-reconcile@2026-03-02T18:00:00Z/db.commit/9",
                              sim::Phase::Before, sim::FaultKind::Crash);
    Runner runner;
    const RunResult both = runner.run(plan_for("same-instant", "reconcile", 7, {unrelated, slow}));
    ASSERT_EQ(both.faults, (std::vector{FaultFate::Inert, FaultFate::TookEffect}));
    const RunResult one = runner.run(plan_for("same-instant", "reconcile", 7, {slow}));
    EXPECT_EQ(one.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(one.records, both.records);
}

}  // namespace
}  // namespace fencepost::scenarios
