// Goal: what operators do takes effect: a deploy brings the other version, a cancel reaches the
// work, a script happens in every run; and plans that make no sense are refused.
#include <gtest/gtest.h>

#include <map>

#include "model/events.h"
#include "scenarios/search/fault_menu.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultKind;

constexpr const char* kFile = "acme/file-import@2026-03-02T18:00:00Z";

sim::Fault deploy(const char* node, std::int64_t version, sim::Duration after) {
    sim::Fault fault;
    fault.kind = FaultKind::Deploy;
    fault.party = node;
    fault.version = version;
    fault.grace = 10s;
    fault.at_time = find_scenario("rolling-upgrade")->start + after;
    return fault;
}

sim::Fault cancel(const char* unit, sim::Duration after) {
    sim::Fault fault;
    fault.kind = FaultKind::Cancel;
    fault.unit = unit;
    fault.at_time = find_scenario("long-job")->start + after;
    return fault;
}

// The versions that each node ran, in their order.
std::map<std::string, std::vector<std::int64_t>> versions(const sim::History& history) {
    std::map<std::string, std::vector<std::int64_t>> all;
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        if (const auto version = history[id].as<sim::NodeVersion>()) {
            all[history.party_name(history[id].party())].push_back(version->version);
        }
    }
    return all;
}

bool was_acted(const sim::History& history, std::string_view what) {
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const auto acted = history[id].as<model::OperatorActed>();
        if (acted && acted->what.starts_with(what)) return true;
    }
    return false;
}

TEST(OperatorsTest, AScriptHappensInEveryRunAndIsNoPlans) {
    Runner runner;
    const RunResult result = runner.run(plan_for("rolling-upgrade", "reconcile"));
    EXPECT_TRUE(result.faults.empty());
    EXPECT_FALSE(result.failed());
    EXPECT_TRUE(was_acted(runner.history(), "deploy A version 2"));
    const auto ran = versions(runner.history());
    EXPECT_EQ(ran.at("A"), (std::vector<std::int64_t>{1, 2, 1, 2}));
    EXPECT_EQ(ran.at("B"), (std::vector<std::int64_t>{1, 2}));
}

TEST(OperatorsTest, ADeployTakesEffect) {
    Runner runner;
    const auto plan = plan_for("rolling-upgrade", "reconcile", 1, {deploy("B", 2, 1s)});
    EXPECT_EQ(runner.run(plan).faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(versions(runner.history()).at("B").at(1), 2);
}

TEST(OperatorsTest, EveryNodeEndsWithTheLastVersion) {
    Runner runner;
    const auto plan =
        plan_for("rolling-upgrade", "reconcile", 1, {deploy("A", 1, 90s), deploy("B", 1, 91s)});
    EXPECT_FALSE(runner.run(plan).failed());
    for (const auto& [node, ran] : versions(runner.history())) EXPECT_EQ(ran.back(), 2) << node;
}

TEST(OperatorsTest, ACancelTakesEffectAndTheRestIsNotDone) {
    Runner runner;
    const auto plan = plan_for("long-job", "batch-import", 1, {cancel(kFile, 60s)});
    const RunResult result = runner.run(plan);
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_FALSE(result.failed());
    EXPECT_LT(result.virtual_time, 10min);
}

TEST(OperatorsTest, ACancelBeforeTheWorkIsKnownChangesNothing) {
    Runner runner;
    const auto plan = plan_for("long-job", "batch-import", 1, {cancel(kFile, 1s)});
    const RunResult result = runner.run(plan);
    EXPECT_FALSE(result.failed());
    EXPECT_GT(result.virtual_time, 10min);
}

TEST(OperatorsTest, AColumnAndATableThatAreAddedAtStartAreInTheHistory) {
    Runner runner;
    static_cast<void>(runner.run(plan_for("rolling-upgrade", "reconcile")));
    const sim::History& history = runner.history();
    bool column = false;
    bool table = false;
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const auto known = history[id].as<model::TableKnown>();
        if (!known) continue;
        column |= known->name == "ledger" && known->columns.ends_with(",source");
        table |= known->name == "posting";
    }
    EXPECT_TRUE(column);
    EXPECT_TRUE(table);
}

std::string refusal(const sim::Plan& plan) {
    try {
        validate(plan);
    } catch (const sim::PlanError& error) {
        return error.what();
    }
    return {};
}

TEST(OperatorsTest, WhatMakesNoSenseIsRefused) {
    EXPECT_EQ(refusal(plan_for("same-instant", "reconcile", 1, {deploy("A", 2, 1s)})),
              "faults[0].do: the nodes of same-instant run one version only");
    EXPECT_EQ(refusal(plan_for("rolling-upgrade", "reconcile", 1, {deploy("A", 3, 1s)})),
              "faults[0].version: there are the versions 1 and 2");
    EXPECT_EQ(refusal(plan_for("rolling-upgrade", "reconcile", 1, {cancel(kFile, 1s)})),
              "faults[0].do: nothing of rolling-upgrade can be cancelled");
    sim::Fault save;
    save.kind = FaultKind::SaveSchedule;
    save.job = "acme/daily-reconcile";
    save.at_time = find_scenario("same-instant")->start;
    EXPECT_EQ(refusal(plan_for("same-instant", "reconcile", 1, {save})),
              "faults[0].do: no schedule of same-instant can be saved");
    save.job = "daily-reconcile";
    EXPECT_NE(refusal(plan_for("same-instant-other-id", "reconcile", 1, {save}))
                  .find("faults[0].job: unknown job \"daily-reconcile\""),
              std::string::npos);
    EXPECT_NE(refusal(plan_for("long-job", "batch-import", 1, {cancel("acme/file", 1s)}))
                  .find("faults[0].unit: unknown unit \"acme/file\""),
              std::string::npos);
    EXPECT_EQ(refusal(plan_for("long-job", "reconcile")),
              "handler: reconcile cannot take part in long-job, because long-job is about work in "
              "batches that can be cancelled, which reconcile does not have");
}

TEST(OperatorsTest, MenusOfferOnlyWhatTheScenarioHas) {
    const auto kinds = [](const char* scenario) {
        std::set<FaultKind> all;
        const FaultMenu menu{*find_scenario(scenario), {}, {}};
        for (const FaultOption& option : menu.at_point("A", "db.commit")) {
            all.insert(option.fault.kind);
        }
        return all;
    };
    EXPECT_TRUE(kinds("rolling-upgrade").contains(FaultKind::Deploy));
    EXPECT_FALSE(kinds("rolling-upgrade").contains(FaultKind::Cancel));
    EXPECT_TRUE(kinds("long-job").contains(FaultKind::Cancel));
    EXPECT_FALSE(kinds("long-job").contains(FaultKind::Deploy));
}

}  // namespace
}  // namespace fencepost::scenarios
