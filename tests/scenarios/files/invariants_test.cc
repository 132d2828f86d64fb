// Goal: what an author states in SQL is looked at after every commit and at the end, is said with
// the commit that broke it, and changes nothing of the run.
// Method: the scenario holder-leaves under other names, with invariants on the ledger; lock-only is
// known to write a line twice under a pause.
#include <gtest/gtest.h>

#include "model/events.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

const SqlInvariant kOnce{
    .name = "once",
    .query =
        "SELECT account, business_day, count(*) FROM ledger GROUP BY account, business_day "
        "HAVING count(*) > 1",
    .message = "An account has one line a day."};

// holder-leaves under another name.
std::string stated(const std::string& name, std::vector<SqlInvariant> always,
                   std::vector<SqlInvariant> finally = {}) {
    Scenario scenario = *find_scenario("holder-leaves");
    scenario.name = name;
    scenario.condition = 0;
    scenario.always = std::move(always);
    scenario.finally = std::move(finally);
    scenario.checkers.emplace_back("invariants");
    validate(scenario);
    put_scenario(std::move(scenario));
    return name;
}

sim::Plan paused(const std::string& scenario) {
    sim::Fault pause = fault_at("B#1/daily-reconcile@2026-03-02T18:00:00Z/db.begin/1",
                                sim::Phase::Before, sim::FaultKind::Pause);
    pause.lasting = std::chrono::seconds{15};
    sim::Plan plan = plan_for(scenario, "lock-only", 0, {pause});
    plan.parameters = {{"accounts", 1}, {"batch", 1}};
    return plan;
}

const checkers::Judgement& judgement_of(const RunResult& result) {
    return *std::ranges::find(result.judgements, "invariants", &checkers::Judgement::checker);
}

TEST(InvariantsTest, WhatHoldsPassesWithTheNumberOfLooks) {
    const std::string name = stated("stated-holds", {kOnce},
                                    {{"lines",
                                      "SELECT 1 WHERE NOT EXISTS "
                                      "(SELECT 1 FROM ledger)",
                                      "There are lines."}});
    Runner runner;
    const RunResult result = runner.run(plan_for(name, "reconcile"));
    EXPECT_FALSE(result.failed());
    EXPECT_EQ(judgement_of(result).verdict, checkers::Verdict::Pass);
    EXPECT_TRUE(judgement_of(result).reason.starts_with("2 invariants held in "))
        << judgement_of(result).reason;
}

TEST(InvariantsTest, TheCommitThatBreaksOneIsNamedWithTheRow) {
    const std::string name = stated("stated-breaks", {kOnce});
    Runner runner;
    const RunResult result = runner.run(paused(name));
    const checkers::Judgement& judgement = judgement_of(result);
    ASSERT_EQ(judgement.verdict, checkers::Verdict::Fail);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "once (1, 2026-03-02, 2)");
    EXPECT_TRUE(judgement.findings[0].message.starts_with(
        "An account has one line a day. After the commit by "
        "B#1/daily-reconcile@2026-03-02T18:00:00Z at 2026-03-02T18:00:15.01927457Z (record 298) "
        "there is (1, 2026-03-02, 2)."))
        << judgement.findings[0].message;
    EXPECT_EQ(judgement.findings[0].record, 299U);
}

TEST(InvariantsTest, WhatIsStatedOfTheEndIsNotAskedBefore) {
    const SqlInvariant lines{"lines", "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ledger)",
                             "There are lines."};
    Runner runner;
    const RunResult always = runner.run(plan_for(stated("stated-early", {lines}), "reconcile"));
    ASSERT_EQ(judgement_of(always).verdict, checkers::Verdict::Fail);
    EXPECT_TRUE(judgement_of(always).findings[0].message.starts_with(
        "There are lines. Before the run there is (1)."));
    const RunResult finally = runner.run(plan_for(stated("stated-late", {}, {lines}), "reconcile"));
    EXPECT_EQ(judgement_of(finally).verdict, checkers::Verdict::Pass);
    EXPECT_EQ(judgement_of(finally).reason, "1 invariant held in 1 look");
}

TEST(InvariantsTest, ARunIsTheSameWithThemButForWhatTheyFound) {
    const auto events = [](const sim::History& history) {
        std::vector<std::string> lines;
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            const sim::Record record = history[id];
            if (record.as<model::InvariantBroken>() || record.as<model::InvariantLooked>())
                continue;
            lines.push_back(sim::to_text(record.at()) + " " + history.actor(record) + " " +
                            model::event_text(record));
        }
        return lines;
    };
    SqlInvariant at_the_end = kOnce;
    at_the_end.name = "once at the end";
    const std::string with = stated("stated-beside", {kOnce}, {at_the_end});
    Runner runner;
    runner.run(paused("holder-leaves"));
    const auto plain = events(runner.history());
    runner.run(paused(with));
    EXPECT_EQ(events(runner.history()), plain);
}

TEST(InvariantsTest, AQueryThatTheDatabaseRefusesIsSaidBeforeTheFirstRun) {
    const std::string name =
        stated("stated-wrong", {{"typo", "SELECT acount FROM ledger", "No sentence."}});
    Runner runner;
    try {
        runner.run(plan_for(name, "reconcile"));
        FAIL() << "it ran";
    } catch (const sim::PlanError& error) {
        EXPECT_TRUE(
            std::string(error.what()).starts_with("always[0].query: the query of \"typo\" fails: "))
            << error.what();
    }
}

}  // namespace
}  // namespace fencepost::scenarios
