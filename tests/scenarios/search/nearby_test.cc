// Goal: a failure is found where its fault points have gone, and nowhere else.
//
// Method: a runner that breaks for a fault at one point only; the failure says another.
#include "scenarios/search/nearby.h"

#include <gtest/gtest.h>

#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

sim::Fault crash_at(const std::string& call) {
    sim::Fault fault;
    fault.kind = sim::FaultKind::Crash;
    fault.at = "A#1/daily@1/" + call;
    return fault;
}

sim::Plan plan_with(const std::vector<std::string>& calls) {
    sim::Plan plan{.scenario = "same-instant", .handler = "reconcile"};
    for (const std::string& call : calls) plan.faults.push_back(crash_at(call));
    return plan;
}

std::vector<std::string> calls_of(const sim::Plan& plan) {
    std::vector<std::string> calls;
    for (const sim::Fault& fault : plan.faults)
        calls.push_back(fault.at.substr(fault.at.find("/daily@1/") + 9));
    return calls;
}

Failure failure_at(const std::vector<std::string>& calls) {
    Failure failure;
    failure.plan = plan_with(calls);
    failure.invariant = "once";
    failure.key = "k";
    failure.fingerprint = 1;  // no run here has it
    return failure;
}

// Breaks "once" when the plan is the given one; counts the runs.
struct BreaksAt {
    std::vector<std::string> calls;
    int runs = 0;

    RunPlan runner() {
        return [this](const sim::Plan& plan, const RunOptions&) {
            ++runs;
            RunResult result;
            for (const char* checker : {"once", "fencing"})
                result.judgements.push_back({checker, checkers::Verdict::Pass, "held", {}});
            if (calls_of(plan) == calls) fail_checker(result, "once", "k");
            return result;
        };
    }
};

using Calls = std::vector<std::string>;

// Of the plans nearby whose points stay on their node.
std::vector<Calls> moves_of(const std::vector<std::string>& calls) {
    std::vector<Calls> all;
    for (const sim::Plan& plan : nearby_plans(plan_with(calls))) {
        if (plan.faults[0].at.starts_with("A#1/")) all.push_back(calls_of(plan));
    }
    return all;
}

TEST(NearbyTest, TheNearestMovesComeFirstAndNoneIsBeforeTheFirstCall) {
    const std::vector<Calls> all = moves_of({"db.query/2"});
    EXPECT_EQ(all,
              (std::vector<Calls>{{"db.query/3"}, {"db.query/1"}, {"db.query/4"}, {"db.query/5"}}));
}

TEST(NearbyTest, SeveralPointsMoveTogetherAndEachAlone) {
    const std::vector<Calls> all = moves_of({"db.query/1", "db.commit/1"});
    EXPECT_EQ(all.front(), (Calls{"db.query/2", "db.commit/2"}));
    EXPECT_NE(std::ranges::find(all, Calls{"db.query/1", "db.commit/3"}), all.end());
    EXPECT_EQ(all.size(), 9U);
}

TEST(NearbyTest, APointMayHaveGoneToTheNodeThatComesFirstNow) {
    const std::vector<sim::Plan> nearby = nearby_plans(plan_with({"db.query/2"}));
    EXPECT_EQ(nearby.front().faults[0].at, "*#1/daily@1/db.query/2");
    EXPECT_EQ(nearby.size(), 9U) << "four moves on its node, and that and four on any";
    EXPECT_EQ(moves_between(plan_with({"db.query/2"}), nearby.front()),
              "A#1 db.query/2 is now *#1 db.query/2");
}

TEST(NearbyTest, PlansWithoutPointsHaveNoneNearby) {
    EXPECT_TRUE(nearby_plans(plan_with({})).empty());
    sim::Plan timed = plan_with({"db.query/1"});
    timed.faults[0].at.clear();
    timed.faults[0].at_time = kFakeStart;
    EXPECT_TRUE(nearby_plans(timed).empty());
}

TEST(NearbyTest, APlanThatBreaksIsNotMoved) {
    BreaksAt breaks{{"db.query/3"}};
    const NearbyReplay nearby = replay_nearby(failure_at({"db.query/3"}), breaks.runner());
    EXPECT_FALSE(nearby.moved);
    EXPECT_TRUE(nearby.replay.reproduced());
    EXPECT_EQ(breaks.runs, 1);
}

TEST(NearbyTest, AFailureIsFoundWhereItsPointHasGone) {
    BreaksAt breaks{{"db.query/5"}};
    const Failure failure = failure_at({"db.query/3"});
    const NearbyReplay nearby = replay_nearby(failure, breaks.runner());
    EXPECT_TRUE(nearby.moved);
    EXPECT_EQ(nearby.replay.verdict, ReplayVerdict::SameInvariantOtherWay);
    EXPECT_EQ(moves_between(failure.plan, nearby.plan), "A#1 db.query/3 is now A#1 db.query/5");
}

TEST(NearbyTest, WhatBreaksNowhereNearIsGone) {
    BreaksAt breaks{{"db.query/9"}};
    const Failure failure = failure_at({"db.query/3"});
    const NearbyReplay nearby = replay_nearby(failure, breaks.runner());
    EXPECT_FALSE(nearby.moved);
    EXPECT_EQ(nearby.replay.verdict, ReplayVerdict::NoFailure);
    EXPECT_EQ(nearby.plan, failure.plan);
    EXPECT_EQ(breaks.runs, 12) << "its own, that on any node, and five moves of each";
}

TEST(NearbyTest, ABarePlanIsRunAsItIs) {
    BreaksAt breaks{{"db.query/4"}};
    Failure bare = failure_at({"db.query/3"});
    bare.invariant.clear();
    EXPECT_EQ(replay_nearby(bare, breaks.runner()).replay.verdict, ReplayVerdict::NoFailure);
    EXPECT_EQ(breaks.runs, 1);
}

}  // namespace
}  // namespace fencepost::scenarios
