// Handlers that take their process down: reported with their plan, and the sweep goes on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "scenarios/search/sweep.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

SearchResult sweep_of(const std::string& name, ProbeBody body, SearchOptions options = {}) {
    if (find_handler(name) == nullptr) add_handler(probe_handler(name, std::move(body)));
    const Scenario& scenario = *find_scenario("same-instant");
    std::vector<sim::Plan> plans;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        // Only the second plan lets A run; the handler misbehaves on A alone.
        sim::Fault crash;
        crash.kind = sim::FaultKind::Crash;
        crash.at_time = scenario.start + std::chrono::seconds{1};
        crash.party = "A";
        plans.push_back(plan_for("same-instant", name, seed,
                                 seed == 2 ? std::vector<sim::Fault>{} : std::vector{crash}));
    }
    options.pool.jobs = 1;
    return run_plans(scenario, plans, options);
}

void expect_one_mishap(const SearchResult& result, MishapKind kind) {
    ASSERT_EQ(result.mishaps.size(), 1U);
    const FoundMishap& found = result.mishaps.front();
    EXPECT_EQ(found.mishap.kind, kind) << found.mishap.text;
    EXPECT_TRUE(found.mishap.in_task) << found.mishap.text;
    EXPECT_EQ(found.plan.seed, 2U);
    EXPECT_EQ(result.totals.runs, 2U);
    EXPECT_EQ(result.done, 3U);
    EXPECT_FALSE(result.harness_failed());
}

TEST(MishapsTest, AHandlerThatCrashesIsReportedAndTheSweepGoesOn) {
    const auto result = sweep_of("test-aborts", [](const jobs::Fire&, const jobs::Ports& ports) {
        if (ports.node == "A") std::abort();
    });
    expect_one_mishap(result, MishapKind::Crashed);
}

TEST(MishapsTest, AHandlerThatHangsIsReportedAndTheSweepGoesOn) {
    SearchOptions options;
    options.pool.run_timeout = std::chrono::milliseconds{700};
    const auto result = sweep_of(
        "test-hangs",
        [](const jobs::Fire&, const jobs::Ports& ports) {
            volatile bool for_ever = ports.node == "A";
            while (for_ever) {
            }
        },
        options);
    expect_one_mishap(result, MishapKind::Hung);
}

TEST(MishapsTest, AHandlerThatAllocatesWithoutEndIsReportedAndTheSweepGoesOn) {
    SearchOptions options;
    options.pool.memory_growth_limit = std::uint64_t{128} << 20U;
    const auto result = sweep_of(
        "test-allocates",
        [](const jobs::Fire&, const jobs::Ports& ports) {
            static std::vector<std::unique_ptr<char[]>> kept;
            constexpr std::size_t kPiece = 1U << 20U;
            while (ports.node == "A") {
                kept.push_back(std::make_unique_for_overwrite<char[]>(kPiece));
                std::memset(kept.back().get(), 1, kPiece);
            }
        },
        options);
    expect_one_mishap(result, MishapKind::OutOfMemory);
}

TEST(MishapsTest, AHandlerThatLoopsInVirtualTimeEndsAtTheBound) {
    const auto result = sweep_of("test-loops", [](const jobs::Fire&, const jobs::Ports& ports) {
        while (ports.node == "A") ports.clock.sleep_for(std::chrono::seconds{1});
    });
    EXPECT_TRUE(result.mishaps.empty());
    EXPECT_EQ(result.totals.runs, 3U);
    EXPECT_EQ(result.totals.failed_runs, 1U);
    ASSERT_FALSE(result.failures.empty());
    EXPECT_EQ(result.failures.front().run.checker, "takeover");
}

}  // namespace
}  // namespace fencepost::scenarios
