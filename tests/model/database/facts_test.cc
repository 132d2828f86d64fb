// Goal: what was observed of PostgreSQL 15.18, fact by fact, holds for the model of the database.
//
// Each test is named after its fact. Those about connections and time run in a small world.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "jobs/ports/ports.h"
#include "model/world.h"
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

using namespace std::chrono_literals;

class PostgresFacts : public DatabaseTest {
protected:
    PostgresFacts() { start(kScript); }
    void begin(std::string_view names, std::string_view level) {
        for (const char name : names) {
            run(name, "BEGIN ISOLATION LEVEL " + std::string(level));
        }
    }

    static constexpr const char* kScript =
        "CREATE TABLE job (id BIGINT PRIMARY KEY, state BIGINT NOT NULL, v BIGINT NOT NULL);"
        "CREATE TABLE mark (id BIGSERIAL PRIMARY KEY, name TEXT NOT NULL);"
        "INSERT INTO job VALUES (1, 0, 0), (2, 1, 0);";
};

TEST_F(PostgresFacts, P_INS_2_AtSerializableAKeyThatBothHadLookedForIsASerializationFailure) {
    begin("AB", "SERIALIZABLE");
    run('A', "SELECT id FROM job WHERE id = 7");
    run('B', "SELECT id FROM job WHERE id = 7");
    run('A', "INSERT INTO job VALUES (7, 0, 0)");
    run('A', "COMMIT");
    EXPECT_EQ(run('B', "INSERT INTO job VALUES (7, 0, 0)"), "40001");
}

TEST_F(PostgresFacts, P_INS_3_AfterAnErrorCommitRollsBackWithoutAnError) {
    run('A', "BEGIN");
    run('A', "INSERT INTO job VALUES (7, 0, 0)");
    EXPECT_EQ(run('A', "INSERT INTO job VALUES (1, 0, 0)"), "23505");
    EXPECT_EQ(run('A', "SELECT id FROM job"), "25P02");
    const Outcome outcome = engine.execute(of('A'), "COMMIT");
    EXPECT_EQ(std::get<SqlResult>(outcome).affected(), kRolledBack);
    EXPECT_EQ(run('A', "SELECT count(*) FROM job WHERE id = 7"), "0");
}

TEST_F(PostgresFacts, P_UPD_1_AConditionIsCheckedAgainAfterTheWait) {
    const auto after = [this](std::string_view change, std::string_view end) {
        start(kScript);
        run('A', "BEGIN");
        run('A', change);
        EXPECT_EQ(run('B', "UPDATE job SET v = v + 1 WHERE id = 1 AND state = 0"), "waits");
        run('A', end);
        return gone_on();
    };
    EXPECT_EQ(after("UPDATE job SET state = 1 WHERE id = 1", "COMMIT"), "B: 0");
    EXPECT_EQ(after("UPDATE job SET v = v + 1 WHERE id = 1", "COMMIT"), "B: 1");
    EXPECT_EQ(run('B', "SELECT v FROM job WHERE id = 1"), "2");
    EXPECT_EQ(after("DELETE FROM job WHERE id = 1", "COMMIT"), "B: 0");
    EXPECT_EQ(after("UPDATE job SET state = 1 WHERE id = 1", "ROLLBACK"), "B: 1");
}

TEST_F(PostgresFacts, P_UPD_2_ARowMovedIntoTheConditionIsNeitherSeenNorWaitedFor) {
    run('A', "BEGIN");
    run('A', "UPDATE job SET state = 0 WHERE id = 2");
    EXPECT_EQ(run('B', "UPDATE job SET v = 1 WHERE id = 2 AND state = 0"), "0");
}

TEST_F(PostgresFacts, P_UPD_4_ABlindWriteOfAReadValueIsLostOrFails) {
    for (const auto& [level, second] : {std::pair{"READ COMMITTED", "B: 1"},
                                        {"REPEATABLE READ", "B: 40001"},
                                        {"SERIALIZABLE", "B: 40001"}}) {
        start(kScript);
        begin("AB", level);
        run('A', "SELECT v FROM job WHERE id = 1");
        run('B', "SELECT v FROM job WHERE id = 1");
        run('A', "UPDATE job SET v = 1 WHERE id = 1");
        EXPECT_EQ(run('B', "UPDATE job SET v = 1 WHERE id = 1"), "waits") << level;
        run('A', "COMMIT");
        EXPECT_EQ(gone_on(), second) << level;
        run('B', "COMMIT");
        EXPECT_EQ(run('C', "SELECT v FROM job WHERE id = 1"), "1") << level;
    }
}

TEST_F(PostgresFacts, P_RACE_1_LookingFirstProtectsAtSerializableAlone) {
    for (const auto& [level, second, rows] : {std::tuple{"READ COMMITTED", "0", "2"},
                                              {"REPEATABLE READ", "0", "2"},
                                              {"SERIALIZABLE", "40001", "1"}}) {
        start(kScript);
        begin("AB", level);
        for (const char name : {'A', 'B'}) {
            EXPECT_EQ(run(name, "SELECT id FROM mark WHERE name = 'x'"), "no rows");
            EXPECT_EQ(run(name, "INSERT INTO mark (name) VALUES ('x')"), "1");
        }
        EXPECT_EQ(run('A', "COMMIT"), "0");
        EXPECT_EQ(run('B', "COMMIT"), second) << level;
        EXPECT_EQ(run('C', "SELECT count(*) FROM mark"), rows) << level;
    }
    start(kScript);
    begin("AB", "READ COMMITTED");
    for (const char name : {'A', 'B'}) {
        EXPECT_EQ(run(name,
                      "INSERT INTO mark (name) SELECT 'x' WHERE NOT EXISTS (SELECT 1 FROM mark "
                      "WHERE name = 'x')"),
                  "1");
    }
}

TEST_F(PostgresFacts, P_LOCK_1_AHeldRowIsRefusedSkippedGivenUpReadOrWaitedFor) {
    run('A', "BEGIN");
    run('A', "UPDATE job SET v = 5 WHERE id = 1");
    EXPECT_EQ(run('B', "SELECT id FROM job WHERE id = 1 FOR UPDATE NOWAIT"), "55P03");
    EXPECT_EQ(run('B', "SELECT id FROM job WHERE id = 1 FOR UPDATE SKIP LOCKED"), "no rows");
    EXPECT_EQ(run('B', "SELECT v FROM job WHERE id = 1"), "0");
    for (const char* given_up : {"55P03", "57014"}) {
        EXPECT_EQ(run('B', "UPDATE job SET v = 6 WHERE id = 1"), "waits");
        engine.fail_wait(of('B'), {given_up, "canceling statement"});
        EXPECT_EQ(gone_on(), std::string("B: ") + given_up);
    }
    run('R', "BEGIN ISOLATION LEVEL REPEATABLE READ");
    run('R', "SELECT count(*) FROM job");
    EXPECT_EQ(run('B', "SELECT v FROM job WHERE id = 1 FOR UPDATE"), "waits");
    EXPECT_EQ(run('R', "SELECT v FROM job WHERE id = 1 FOR UPDATE"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 5, R: 40001");
}

TEST_F(PostgresFacts, P_SEQ_1_ARollbackDoesNotGiveASequencesValueBack) {
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "INSERT INTO mark (name) VALUES ('x') RETURNING id"), "1");
    run('A', "ROLLBACK");
    EXPECT_EQ(run('A', "INSERT INTO mark (name) VALUES ('x') RETURNING id"), "2");
}

// Nodes with sessions on the database of a world.
class PostgresConnectionFacts : public testing::Test {
protected:
    using Body = std::function<void(jobs::sql::Session&)>;

    PostgresConnectionFacts() {
        const DatabaseImage image = DatabaseImage::build(
            "CREATE TABLE job (id BIGINT PRIMARY KEY, v BIGINT NOT NULL);"
            "INSERT INTO job VALUES (1, 0), (2, 0);");
        WorldOptions options;
        options.database.call_timeout = 3s;
        world_.reset(1, kStart, image, options);
    }
    ~PostgresConnectionFacts() override { world_.kernel().end_run(); }

    // `body` runs with a session of its own, so long after the start; what it throws is kept.
    void session(const std::string& name, sim::Duration after, Body body) {
        sim::Node& node = world_.kernel().add_node(
            name, [this, name, body = std::move(body)](sim::Incarnation& incarnation) {
                const jobs::Ports ports = world_.ports_of(incarnation);
                try {
                    const auto session = ports.database.connect();
                    body(*session);
                    ended_[name] = "done";
                } catch (const jobs::sql::ServerError& error) {
                    ended_[name] = error.sqlstate();
                } catch (const jobs::CommitOutcomeUnknown&) {
                    ended_[name] = "unknown";
                } catch (const jobs::ConnectionLost&) {
                    ended_[name] = "lost";
                }
                at_[name] = world_.kernel().now();
            });
        at(after, [this, &node] { world_.kernel().boot(node); });
    }
    void at(sim::Duration after, std::function<void()> what) {
        world_.kernel().schedule(kStart + after, std::move(what));
    }
    void sleep(sim::Duration span) { world_.kernel().sleep(span); }
    void run() { static_cast<void>(world_.kernel().run(kStart + 60s, 1'000'000)); }
    std::int64_t value(std::int64_t id) {
        const std::vector<SqlValue> parameters{id};
        return world_.database()
            .read_committed("SELECT v FROM job WHERE id = $1", parameters)
            .integer(0, 0);
    }

    static constexpr sim::Time kStart{std::chrono::sys_days{std::chrono::year{2026} / 3 / 2}};

    World world_;
    std::map<std::string, std::string> ended_;
    std::map<std::string, sim::Time> at_;
};

TEST_F(PostgresConnectionFacts, P_LOCK_2_ADeadlockEndsAfterASecondForTheOneThatWaitedFirst) {
    const auto both = [this](std::int64_t first, std::int64_t second, sim::Duration pause) {
        return [this, first, second, pause](jobs::sql::Session& session) {
            session.execute("BEGIN");
            session.execute("UPDATE job SET v = v + 1 WHERE id = $1", first);
            sleep(pause);
            session.execute("UPDATE job SET v = v + 1 WHERE id = $1", second);
            session.execute("COMMIT");
        };
    };
    session("A", 0s, both(1, 2, 100ms));
    session("B", 0s, both(2, 1, 300ms));
    run();
    EXPECT_EQ(ended_["A"], "40P01");
    EXPECT_EQ(ended_["B"], "done");
    EXPECT_GE(at_["A"] - kStart, 1100ms);
    EXPECT_LT(at_["A"] - kStart, 1200ms);
    EXPECT_EQ(value(1), 1);
}

TEST_F(PostgresConnectionFacts, P_COM_1_ACommitThatTheServerNeverFinishesLeavesNothing) {
    session("A", 0s, [this](jobs::sql::Session& session) {
        session.execute("BEGIN");
        session.execute("UPDATE job SET v = 7 WHERE id = 1");
        world_.database().restart(1s);
        session.execute("COMMIT");
    });
    run();
    EXPECT_TRUE(ended_["A"] == "lost" || ended_["A"] == "unknown") << ended_["A"];
    EXPECT_EQ(value(1), 0);
}

TEST_F(PostgresConnectionFacts, P_COM_4_AShutdownLosesOpenTransactionsAndRefusesUntilTheStart) {
    session("A", 0s, [this](jobs::sql::Session& session) {
        session.execute("BEGIN");
        session.execute("UPDATE job SET v = 7 WHERE id = 1");
        sleep(2s);
        session.execute("SELECT v FROM job");
    });
    at(1s, [this] { world_.database().restart(2s); });
    session("B", 2s, [](jobs::sql::Session& session) { session.execute("SELECT 1"); });
    session("C", 4s, [](jobs::sql::Session& session) { session.execute("SELECT 1"); });
    run();
    EXPECT_EQ(ended_["A"], "lost");
    EXPECT_EQ(ended_["B"], "lost");
    EXPECT_EQ(ended_["C"], "done");
    EXPECT_EQ(value(1), 0);
}

TEST_F(PostgresConnectionFacts, P_COM_6_AnAbandonedStatementIsAppliedWhenItsLockIsFree) {
    session("A", 0s, [this](jobs::sql::Session& session) {
        session.execute("BEGIN");
        session.execute("SELECT id FROM job WHERE id = 1 FOR UPDATE");
        sleep(10s);
        session.execute("COMMIT");
    });
    session("B", 1s, [](jobs::sql::Session& session) {
        session.execute("UPDATE job SET v = 7 WHERE id = 1");
    });
    at(9s, [this] {
        EXPECT_EQ(ended_["B"], "lost");
        EXPECT_EQ(value(1), 0);
    });
    run();
    EXPECT_EQ(value(1), 7);
}

}  // namespace
}  // namespace fencepost::model
