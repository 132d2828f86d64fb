// Goal: other worlds than those of the checklist are valid scenarios, drawn from their seed alone.
#include "kit/worlds.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "kit/acceptance.h"
#include "scenarios/files/scenario_file.h"
#include "scenarios/runner.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/whole_file.h"
#include "tests/kit/folder.h"

namespace fencepost::kit {
namespace {

TEST(WorldsTest, DrawsDependOnTheSeedAlone) {
    const WorldSpace space{"same-instant"};
    std::set<std::string> clusters;
    std::set<std::string> timetables;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        clusters.insert(text_of(space.draw_cluster(seed)));
        timetables.insert(text_of(space.draw_timetable(seed)));
        EXPECT_EQ(text_of(space.draw_cluster(seed)), text_of(space.draw_cluster(seed)));
        EXPECT_EQ(space.draw_timetable(seed), space.draw_timetable(seed));
        EXPECT_EQ(space.draw_workload(seed), space.draw_workload(seed));
    }
    EXPECT_GT(clusters.size(), 50U);
    EXPECT_GT(timetables.size(), 50U);
}

TEST(WorldsTest, AnUndisturbedRunDoesTheWorkOfEveryWorld) {
    const WorldSpace space{"holder-leaves", {.most_nodes = 5}};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Timetable timetable = space.draw_timetable(seed);
        const std::string name = space.put(space.draw_cluster(seed), timetable);
        EXPECT_EQ(name, space.put(space.draw_cluster(seed), timetable));
        sim::Plan plan;
        plan.scenario = name;
        plan.handler = "reconcile";
        plan.parameters = space.draw_workload(seed).parameters;
        scenarios::Runner runner;
        const scenarios::RunResult result = runner.run(plan);
        EXPECT_FALSE(result.failed()) << name << ": " << result.failure()->checker;
        EXPECT_EQ(scenarios::find_scenario(name)->due.size(), timetable.instants.size());
    }
}

TEST(WorldsTest, SmallerWorldsEndWithTheUsualOne) {
    const WorldSpace space{"same-instant"};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Cluster cluster = space.draw_cluster(seed);
        int steps = 0;
        for (auto smaller = space.smaller(cluster); !smaller.empty() && steps < 20; ++steps) {
            cluster = smaller.back();
            smaller = space.smaller(cluster);
        }
        EXPECT_TRUE(space.smaller(cluster).empty());
        EXPECT_EQ(cluster.nodes.size(), 2U);
        EXPECT_EQ(cluster.scheduler.mode, model::SchedulerMode::EveryNode);
    }
}

TEST(WorldsTest, AFailureInAnotherWorldIsSavedWithThatWorld) {
    const Folder folder;
    const WorldSpace space{"holder-leaves"};
    const Timetable usual = space.smaller(Timetable{}).front();
    Cluster cluster = space.draw_cluster(1);
    cluster.scheduler = scenarios::find_scenario("holder-leaves")->scheduler;
    cluster.nodes = {"A", "B", "C"};
    const std::string name = space.put(cluster, usual);
    const Verdict verdict = hold(name, {"lock-only", {.failures_folder = folder.path()}}, 500);
    ASSERT_EQ(verdict.failures.size(), 1U) << verdict.text;
    const std::string file = folder.path() + "/" + name + ".scenario.json";
    EXPECT_NE(verdict.text.find("--scenarios " + file), std::string::npos) << verdict.text;

    const scenarios::Scenario saved =
        scenarios::scenario_from_json(scenarios::read_whole_file(file), folder.path());
    EXPECT_EQ(saved.name, name);
    EXPECT_EQ(saved.nodes, cluster.nodes);
    scenarios::put_scenario(saved);
    scenarios::Runner runner;
    const scenarios::Failure& failure = verdict.failures.front().failure;
    EXPECT_EQ(scenarios::compare(failure, runner.run(failure.plan)).verdict,
              scenarios::ReplayVerdict::SameFailure);
}

TEST(WorldsTest, WhatMakesNoWorldIsRefused) {
    EXPECT_THROW(WorldSpace("same-instnat"), std::invalid_argument);
    EXPECT_THROW(WorldSpace("start-up-twice"), std::invalid_argument);
    EXPECT_THROW(WorldSpace("same-instant", {.most_nodes = 1}), std::invalid_argument);
}

}  // namespace
}  // namespace fencepost::kit
