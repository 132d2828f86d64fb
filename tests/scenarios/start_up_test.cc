// Start-up: what jobs::StartUp does on the simulated cluster, what a run does with a start-up that
// fails, and what the history tells of both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/events.h"
#include "scenarios/handlers/initialise.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using jobs::Ports;
using jobs::StartUp;
using jobs::StartUpPlan;
using sim::FaultKind;
using sim::Phase;

constexpr const char* kScenario = "start-up-twice";

// Runs a start-up of a test's own on both nodes, each once unless it fails.
class StartUpRun {
public:
    explicit StartUpRun(StartUpBody body, std::vector<sim::Fault> faults = {},
                        std::int64_t start_ups = 1) {
        static int count = 0;
        const std::string name = fmt::format("start-up-test-{}", ++count);
        add_handler(start_up_handler(name, "For tests.", std::move(body)));
        auto plan = plan_for(kScenario, name, 1, std::move(faults));
        plan.parameters = {{"start_ups", start_ups}};
        result = runner.run(plan);
    }

    template <typename Event>
    [[nodiscard]] std::vector<std::string> all() const {
        std::vector<std::string> texts;
        const sim::History& history = runner.history();
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            if (history.kind_of(id) != Event::kKind) continue;
            texts.push_back(history.party_name(history[id].party()) + ": " +
                            model::event_text(history[id]));
        }
        return texts;
    }
    [[nodiscard]] std::vector<std::string> about(const std::string& word) const {
        std::vector<std::string> texts;
        const sim::History& history = runner.history();
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            const std::string text = model::event_text(history[id]);
            if (history.kind_of(id) == model::KeyChanged::kKind &&
                text.find(word) != std::string::npos) {
                texts.push_back(text);
            }
        }
        return texts;
    }

    Runner runner;
    RunResult result;
};

// One statement of a session, whose rows the history tells of.
void execute(const Ports& ports, const std::string& statement) {
    ports.database.connect()->execute(statement);
}

TEST(StartUpTest, ThreeStartsOfTwoNodesMakeEverythingOnce) {
    const StartUpRun run(
        [](const Ports& ports) {
            StartUp{ports, initialise::plan()}.run();
        },
        {}, 3);
    EXPECT_EQ(run.result.judgements.front().reason, "6 start-ups, each left what one leaves");
    EXPECT_EQ(run.all<model::IndexKnown>(),
              std::vector<std::string>{
                  "database: name=region_name_idx table=region on=(name) unique=no"});
    EXPECT_EQ(run.all<model::TableKnown>(),
              (std::vector<std::string>{
                  "database: index=0 name=start_up_version columns=component,version,updated_us",
                  "database: index=1 name=region columns=id,name,time_zone",
                  "database: index=2 name=price columns=plan,amount",
                  "database: index=2 name=price columns=plan,amount,currency"}));
    EXPECT_EQ(run.about("cache:price:basic").size(), 1U);
}

TEST(StartUpTest, AnOlderProgramLeavesTheVersionAndNewerValuesAlone) {
    const StartUpRun run([](const Ports& ports) {
        StartUp{ports, initialise::plan()}.run();
        StartUpPlan older = initialise::plan();
        older.upgrades.pop_back();
        older.cache = [](jobs::sql::Session&) {
            return std::vector<jobs::CachedValue>{{"cache:price:basic", "9"}};
        };
        StartUp{ports, std::move(older)}.run();
    });
    EXPECT_EQ(run.result.judgements.front().verdict, checkers::Verdict::Pass);
}

TEST(StartUpTest, ANewerProgramReplacesWhatAnOlderOneHasCached) {
    const StartUpRun run([](const Ports& ports) {
        if (ports.node == "A") ports.redis.command({"SET", "cache:price:basic", "1:9"});
        StartUp{ports, initialise::plan()}.run();
    });
    const auto changes = run.about("cache:price:basic");
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_NE(changes[1].find("before=1:9 after=2:900"), std::string::npos) << changes[1];
}

// Somebody makes the table in a transaction of his own, without the lock.
TEST(StartUpTest, WhoeverDoesNotTakeTheLockIsMetInTheCatalogueAndTheStartUpBeginsAgain) {
    const StartUpRun run([](const Ports& ports) {
        if (ports.node == "B") {
            ports.clock.sleep_for(std::chrono::milliseconds{2});
            return StartUp{ports, initialise::plan()}.run();
        }
        const auto session = ports.database.connect();
        jobs::sql::Transaction tx{*session};
        tx.execute(initialise::kRegionTable);
        ports.clock.sleep_for(std::chrono::milliseconds{500});
        tx.commit();
        StartUp{ports, initialise::plan()}.run();
    });
    std::size_t met = 0;
    for (const std::string& applied : run.all<sim::CallApplied>()) {
        if (applied.find("pg_type_typname_nsp_index") != std::string::npos) ++met;
    }
    EXPECT_EQ(met, 1U);
    EXPECT_EQ(run.all<model::StartUpFailed>(), std::vector<std::string>{});
    EXPECT_EQ(run.result.judgements.front().verdict, checkers::Verdict::Pass);
}

TEST(StartUpTest, WhatWillNotPassEndsTheStartUpAtOnce) {
    int attempts = 0;
    const StartUpRun run([&attempts](const Ports& ports) {
        StartUpPlan plan = initialise::plan();
        const bool first = ports.node == "A" && ++attempts == 1;
        if (first) plan.schema.emplace_back("CREATE TABLE t (id NOTHING");
        StartUp{ports, std::move(plan)}.run();
    });
    ASSERT_EQ(run.all<model::StartUpFailed>().size(), 1U);
    EXPECT_EQ(attempts, 2);  // the second is that of the process which the supervisor started
    EXPECT_EQ(run.result.judgements.front().verdict, checkers::Verdict::Fail);
}

TEST(StartUpTest, AStartUpThatFailsEndsItsProcessAndTheSupervisorStartsItAgain) {
    int starts = 0;
    const StartUpRun run([&starts](const Ports& ports) {
        if (ports.node == "B" && ++starts < 3) throw std::runtime_error("no licence");
        StartUp{ports, initialise::plan()}.run();
    });
    EXPECT_EQ(run.all<model::StartUpFailed>(),
              (std::vector<std::string>(2, "B: sqlstate= error=no licence")));
    EXPECT_EQ(run.all<sim::NodeEnded>(),
              (std::vector<std::string>{"B: incarnation=1 how=start-up failed",
                                        "B: incarnation=2 how=start-up failed"}));
    EXPECT_EQ(run.all<model::StartUpDone>(), (std::vector<std::string>{"A: ", "B: "}));
    EXPECT_FALSE(run.result.failed());
    EXPECT_GT(run.result.virtual_time, std::chrono::seconds{2});
}

TEST(StartUpTest, KilledBeforeTheAnswerToAnUpgradesCommitItIsNotMadeAgain) {
    auto crash = fault_at("*#1/start-up/db.commit/3", Phase::Applied, FaultKind::Crash);
    crash.restart_after = std::chrono::seconds{1};
    const StartUpRun run(
        [](const Ports& ports) {
            StartUp{ports, initialise::plan()}.run();
        },
        {crash});
    EXPECT_EQ(run.result.faults, std::vector{FaultFate::TookEffect});
    EXPECT_EQ(run.result.judgements.front().reason, "2 start-ups, each left what one leaves");
}

TEST(StartUpTest, TheHistoryTellsOfDroppedTablesAndIndexesAndOfNoneThatARollbackTook) {
    const StartUpRun run([](const Ports& ports) {
        if (ports.node == "A") {
            execute(ports, "CREATE TABLE gone (id TEXT PRIMARY KEY)");
            execute(ports, "CREATE UNIQUE INDEX gone_id ON gone (id)");
            execute(ports, "DROP INDEX gone_id");
            execute(ports, "DROP TABLE gone");
            const auto session = ports.database.connect();
            jobs::sql::Transaction tx{*session};
            tx.execute("CREATE TABLE never (id TEXT PRIMARY KEY)");
        }
        StartUp{ports, initialise::plan()}.run();
    });
    EXPECT_EQ(run.all<model::RelationDropped>(),
              (std::vector<std::string>{"database: name=gone_id", "database: name=gone"}));
    for (const std::string& table : run.all<model::TableKnown>()) {
        EXPECT_EQ(table.find("never"), std::string::npos);
    }
    EXPECT_FALSE(run.result.failed());
}

TEST(StartUpTest, TheHistoryTellsOfATableThatATransactionDroppedAndMadeAgain) {
    const StartUpRun run([](const Ports& ports) {
        if (ports.node == "A") {
            execute(ports, "CREATE TABLE again (id TEXT PRIMARY KEY)");
            const auto session = ports.database.connect();
            jobs::sql::Transaction tx{*session};
            tx.execute("INSERT INTO again VALUES ('went with the old one')");
            tx.execute("DROP TABLE again");
            tx.execute("CREATE TABLE again (id TEXT PRIMARY KEY)");
            tx.execute("INSERT INTO again VALUES ('kept')");
            tx.commit();
        }
        StartUp{ports, initialise::plan()}.run();
    });
    EXPECT_EQ(run.all<model::RelationDropped>(), std::vector<std::string>{"database: name=again"});
    const auto mentions = [](std::string_view what) {
        return [what](const std::string& text) { return text.find(what) != std::string::npos; };
    };
    EXPECT_EQ(std::ranges::count_if(run.all<model::TableKnown>(), mentions("again")), 2);
    EXPECT_EQ(std::ranges::count_if(run.all<model::RowChanged>(), mentions("kept")), 1);
    EXPECT_EQ(std::ranges::count_if(run.all<model::RowChanged>(), mentions("went")), 0);
}

}  // namespace
}  // namespace fencepost::scenarios
