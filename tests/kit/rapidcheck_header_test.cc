// Goal: the generators of <fencepost/rapidcheck.h> make RapidCheck find planted mistakes, report
// the least plan and leave a failure file that replays.
#include <fencepost/rapidcheck.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <sstream>

#include "scenarios/search/shrink.h"
#include "tests/kit/folder.h"

namespace fencepost::rapidcheck {
namespace {

struct Checked {
    bool holds = false;
    std::string message;
};

// A property, checked apart from the environment's RC_PARAMS.
template <typename Property>
Checked checked(Property property, int cases = 200) {
    rc::detail::TestParams parameters;
    parameters.seed = 2026;
    parameters.maxSuccess = cases;
    const rc::detail::TestResult result =
        rc::detail::checkTestable(std::move(property), rc::detail::TestMetadata(), parameters);
    std::ostringstream out;
    rc::detail::printResultMessage(result, out);
    return {.holds = result.is<rc::detail::SuccessResult>(), .message = out.str()};
}

std::vector<std::filesystem::path> files_in(const kit::Folder& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator{folder.path()})
        files.push_back(entry.path());
    return files;
}

TEST(RapidcheckHeaderTest, AReferenceHandlerHoldsUnderEveryPlan) {
    const kit::PlanSpace space{"same-instant", "reconcile"};
    const Checked checked_plans = checked([&] { holds(space, *plans(space)); });
    EXPECT_TRUE(checked_plans.holds) << checked_plans.message;
}

TEST(RapidcheckHeaderTest, AMistakeIsReportedByItsLeastPlan) {
    const kit::Folder folder;
    const kit::PlanSpace space{"holder-leaves", {"lock-only", {.failures_folder = folder.path()}}};
    sim::Plan drawn;
    const Checked broken = checked([&] {
        const kit::DrawnPlan plan = *plans(space);
        if (drawn.scenario.empty() && space.run(plan).failed()) drawn = plan.plan;
        holds(space, plan);
    });
    EXPECT_FALSE(broken.holds);
    ASSERT_EQ(files_in(folder).size(), 1U) << "one name for all plans of one failure";
    const scenarios::Failure failure = scenarios::read_failure(files_in(folder).front().string());

    scenarios::ShrinkOptions options;
    options.parameters = scenarios::shrinkable_parameters(space.scenario());
    const scenarios::PlanRunner runner = scenarios::fresh_runner();
    const scenarios::Shrunk least = scenarios::shrink(drawn, runner.run, options);
    EXPECT_EQ(failure.plan, least.plan);
    EXPECT_TRUE(failure.found_by.minimal);
    EXPECT_EQ(scenarios::compare(failure, runner.run(failure.plan, {})).verdict,
              scenarios::ReplayVerdict::SameFailure);
    EXPECT_NE(broken.message.find(sim::to_json(least.plan)), std::string::npos) << broken.message;
    EXPECT_NE(broken.message.find("What happened"), std::string::npos) << broken.message;
}

// A property about something else than invariants: no run takes three takeovers or so.
TEST(RapidcheckHeaderTest, APropertyOfOnesOwnShrinksByOneFaultAtATime) {
    const kit::PlanSpace space{"holder-leaves", "reconcile"};
    std::size_t fewest = 100;
    const Checked broken = checked([&] {
        const kit::DrawnPlan plan = *plans(space);
        const auto& faults = plan.plan.faults;
        const auto crashes = std::ranges::count(faults, sim::FaultKind::Crash, &sim::Fault::kind);
        if (crashes == 0) return;
        fewest = std::min(fewest, faults.size());
        RC_FAIL("somebody crashes");
    });
    EXPECT_FALSE(broken.holds);
    EXPECT_EQ(fewest, 1U);
    EXPECT_NE(broken.message.find("\"do\": \"crash\""), std::string::npos) << broken.message;
    EXPECT_EQ(broken.message.find("restart_after"), std::string::npos) << broken.message;
}

TEST(RapidcheckHeaderTest, AReferenceHandlerHoldsInOtherWorlds) {
    const kit::WorldSpace worlds{"same-instant"};
    const Checked other_worlds = checked(
        [&] {
            const std::string name = worlds.put(*clusters(worlds), *timetables(worlds));
            const kit::PlanSpace space{name, "reconcile", (*workloads(worlds)).parameters};
            for (int i = 0; i < 5; ++i) holds(space, *plans(space));
        },
        12);
    EXPECT_TRUE(other_worlds.holds) << other_worlds.message;
}

TEST(RapidcheckHeaderTest, AClusterShrinksToTheUsualOne) {
    const kit::WorldSpace worlds{"same-instant"};
    const Checked broken = checked([&] {
        const kit::Cluster cluster = *clusters(worlds);
        RC_ASSERT(cluster.nodes.size() < 3);
    });
    EXPECT_FALSE(broken.holds);
    EXPECT_NE(broken.message.find("3 nodes, every node fires, batch 1"), std::string::npos)
        << broken.message;
}

}  // namespace
}  // namespace fencepost::rapidcheck
