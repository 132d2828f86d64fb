// Goal: what a plan leaves out of its scenario is left out everywhere: nodes do nothing, units
// never fall due, and nothing else changes.
#include "scenarios/reduced.h"

#include <gtest/gtest.h>

#include "model/events.h"
#include "scenarios/runner.h"

namespace fencepost::scenarios {
namespace {

sim::Plan plan_of(const std::string& scenario, const std::string& handler) {
    sim::Plan plan;
    plan.scenario = scenario;
    plan.handler = handler;
    return plan;
}

std::vector<std::string> due_in(const sim::History& history) {
    std::vector<std::string> due;
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        if (const auto work = history[id].as<model::WorkDue>()) due.emplace_back(work->job);
    }
    return due;
}

TEST(ReducedTest, ANodeThatIsLeftOutDoesNothing) {
    Runner runner;
    sim::Plan plan = plan_of("same-instant", "reconcile");
    plan.parameters["nodes"] = 1;
    const RunResult result = runner.run(plan);
    EXPECT_FALSE(result.failed());
    const sim::History& history = runner.history();
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        if (!history[id].as<sim::CallStarted>()) continue;
        EXPECT_NE(history.party_name(history.task(history[id].task()).party), "B");
    }
}

TEST(ReducedTest, UnitsThatAreLeftOutDoNotFallDue) {
    Runner runner;
    sim::Plan plan = plan_of("message-twice", "consume-order");
    plan.parameters = {{"first_unit", 2}, {"units", 1}};
    EXPECT_FALSE(runner.run(plan).failed());
    EXPECT_EQ(due_in(runner.history()), std::vector<std::string>{"consume-order#order-2"});
    plan = plan_of("rolling-upgrade", "reconcile");
    plan.parameters = {{"first_unit", 3}, {"units", 1}};
    EXPECT_FALSE(runner.run(plan).failed());
    EXPECT_EQ(due_in(runner.history()), std::vector<std::string>{"daily-fees"});
}

TEST(ReducedTest, EveryScenarioHoldsWithOneNodeAndEachUnitAlone) {
    Runner runner;
    for (const Scenario& scenario : all_scenarios()) {
        const auto units = scenario.parameters.all().find(kUnits);
        const std::int64_t count = units == scenario.parameters.all().end() ? 1 : units->second;
        for (std::int64_t first = 1; first <= count; ++first) {
            sim::Plan plan = plan_of(scenario.name, scenario.handlers.front());
            plan.parameters[std::string(kNodes)] = 1;
            if (count > 1) {
                plan.parameters[std::string(kUnits)] = 1;
                plan.parameters[std::string(kFirstUnit)] = first;
            }
            const RunResult result = runner.run(plan);
            EXPECT_FALSE(result.failed())
                << scenario.name << " " << first << ": " << result.failure()->reason;
        }
    }
}

TEST(ReducedTest, TheUsualValuesChangeNothing) {
    Runner runner;
    for (const char* name : {"same-instant", "rolling-upgrade"}) {
        sim::Plan plan = plan_of(name, "reconcile");
        const std::uint64_t usual = runner.run(plan).fingerprint;
        plan.parameters["nodes"] = 2;
        EXPECT_EQ(runner.run(plan).fingerprint, usual) << name;
    }
}

std::string error_of(const sim::Plan& plan) {
    try {
        validate(plan);
    } catch (const sim::PlanError& error) {
        return error.what();
    }
    return "";
}

TEST(ReducedTest, MoreThanThereIsAndWhatWasLeftOutAreRefused) {
    sim::Plan plan = plan_of("long-job", "batch-import");
    plan.parameters = {{"nodes", 3}};
    EXPECT_EQ(error_of(plan), "parameters.nodes: 3 is out of range; give a number from 1 to 2");
    plan.parameters = {{"first_unit", 2}};
    EXPECT_EQ(error_of(plan),
              "parameters.first_unit: 2 is out of range; give a number from 1 to 1");
    plan.parameters = {{"units", 1}};
    plan.faults.resize(1);
    plan.faults[0].kind = sim::FaultKind::Cancel;
    plan.faults[0].at_time = find_scenario("long-job")->start;
    plan.faults[0].unit = find_scenario("long-job")->due[1].unit();
    EXPECT_TRUE(error_of(plan).starts_with("faults[0].unit: unknown unit ")) << error_of(plan);
    plan.parameters["first_unit"] = 2;
    EXPECT_EQ(error_of(plan), "");
    EXPECT_TRUE(error_of([] {
                    sim::Plan one = plan_of("same-instant", "reconcile");
                    one.parameters = {{"units", 1}};
                    return one;
                }())
                    .starts_with("parameters.units: unknown parameter"));
}

}  // namespace
}  // namespace fencepost::scenarios
