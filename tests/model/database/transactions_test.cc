// Transactions, savepoints and sessions of one client at a time.
#include <malloc.h>

#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

// What the program has allocated; 0 where the allocator does not tell.
std::size_t memory_in_use() {
    return mallinfo2().uordblks;
}

class DatabaseTransactionsTest : public DatabaseTest {
protected:
    DatabaseTransactionsTest() {
        start(
            "CREATE TABLE t (k TEXT PRIMARY KEY, v BIGINT);"
            "CREATE TABLE log (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, line TEXT);"
            "INSERT INTO t VALUES ('a', 0);");
    }
};

TEST_F(DatabaseTransactionsTest, CommitKeepsAndRollbackForgets) {
    run('A', "BEGIN");
    EXPECT_TRUE(engine.in_transaction(of('A')));
    run('A', "UPDATE t SET v = 1");
    run('A', "ROLLBACK");
    EXPECT_FALSE(engine.in_transaction(of('A')));
    EXPECT_EQ(run('A', "SELECT v FROM t"), "0");
    run('A', "START TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;");
    run('A', "UPDATE t SET v = 2");
    EXPECT_EQ(run('A', "END"), "0");
    EXPECT_EQ(run('B', "SELECT v FROM t"), "2");
}

TEST_F(DatabaseTransactionsTest, ModesOfTransactionsOtherThanTheIsolationLevelAreRefused) {
    EXPECT_EQ(run('A', "BEGIN READ ONLY"), "0A000");
    EXPECT_EQ(run('A', "BEGIN ISOLATION LEVEL SERIALIZABLE, DEFERRABLE"), "0A000");
    EXPECT_EQ(run('A', "BEGIN ISOLATION LEVEL SNAPSHOT"), "42601");
    EXPECT_FALSE(engine.in_transaction(of('A')));
    EXPECT_EQ(run('A', "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE"), "0");
}

TEST_F(DatabaseTransactionsTest, CommitOfAFailedTransactionAnswersThatItRolledBack) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 1");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES ('a', 9)"), "23505");
    EXPECT_TRUE(engine.in_failed_transaction(of('A')));
    EXPECT_EQ(run('A', "SELECT 1"), "25P02");
    EXPECT_EQ(run('A', "SAVEPOINT s"), "25P02");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES ('b', 9)"), "25P02");
    EXPECT_EQ(run('A', "COMMIT"), "-1");
    EXPECT_FALSE(engine.in_failed_transaction(of('A')));
    EXPECT_EQ(run('A', "SELECT k, v FROM t"), "a|0");
}

TEST_F(DatabaseTransactionsTest, SavepointsNestAndAreFoundByTheirLastName) {
    run('A', "BEGIN");
    run('A', "INSERT INTO t VALUES ('b', 1)");
    run('A', "SAVEPOINT s");
    run('A', "INSERT INTO t VALUES ('c', 1)");
    run('A', "SAVEPOINT S");
    run('A', "INSERT INTO t VALUES ('d', 1)");
    EXPECT_EQ(run('A', "ROLLBACK TO SAVEPOINT s"), "0");
    EXPECT_EQ(run('A', "SELECT k FROM t ORDER BY k"), "a b c");
    EXPECT_EQ(run('A', "RELEASE s"), "0");
    run('A', "INSERT INTO t VALUES ('e', 1)");
    EXPECT_EQ(run('A', "ROLLBACK WORK TO s"), "0");
    EXPECT_EQ(run('A', "SELECT k FROM t ORDER BY k"), "a b");
    EXPECT_EQ(run('A', "COMMIT"), "0");
    EXPECT_EQ(run('B', "SELECT k FROM t ORDER BY k"), "a b");
}

TEST_F(DatabaseTransactionsTest, SavepointsOfNoTransactionOrNoNameFail) {
    EXPECT_EQ(run('A', "SAVEPOINT s"), "25P01");
    EXPECT_EQ(run('A', "RELEASE s"), "25P01");
    EXPECT_EQ(run('A', "ROLLBACK TO s"), "25P01");
    EXPECT_EQ(run('A', "COMMIT"), "0");
    EXPECT_EQ(run('A', "ROLLBACK"), "0");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "BEGIN"), "0");
    EXPECT_EQ(run('A', "ROLLBACK TO s"), "3B001");
    EXPECT_EQ(run('A', "SELECT 1"), "25P02");
    run('A', "ROLLBACK");
    run('A', "BEGIN");
    run('A', "SAVEPOINT q");
    EXPECT_EQ(run('A', "bogus"), "42601");
    EXPECT_EQ(run('A', "SELECT 1"), "25P02");
    EXPECT_EQ(run('A', "ROLLBACK TO r"), "3B001");
    EXPECT_EQ(run('A', "ROLLBACK TO q"), "0");
    EXPECT_EQ(run('A', "SELECT 1"), "1");
}

TEST_F(DatabaseTransactionsTest, ATransactionThatChangedNothingLeavesNothingOpen) {
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "UPDATE t SET v = 1 WHERE k = 'none'"), "0");
    run('A', "COMMIT");
    EXPECT_EQ(run('B', "UPDATE t SET v = 7"), "1");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "DELETE FROM t WHERE k = 'none'"), "0");
    EXPECT_EQ(run('B', "UPDATE t SET v = 8"), "1");
    run('A', "ROLLBACK");
    EXPECT_EQ(run('A', "SELECT v FROM t"), "8");
}

TEST_F(DatabaseTransactionsTest, IdsAreNeverHandedOutTwice) {
    const char* insert = "INSERT INTO log (line) VALUES ($1) RETURNING id";
    EXPECT_EQ(run('A', insert, {"x"}), "1");
    run('A', "BEGIN");
    run('B', "BEGIN");
    EXPECT_EQ(run('A', insert, {"x"}), "2");
    EXPECT_EQ(run('B', insert, {"x"}), "3");
    EXPECT_EQ(run('A', insert, {"x"}), "4");
    run('A', "ROLLBACK");
    EXPECT_EQ(run('C', insert, {"x"}), "5");
    run('B', "COMMIT");
    EXPECT_EQ(run('A', "SELECT id FROM log ORDER BY id"), "1 3 5");
    EXPECT_EQ(run('A', "INSERT INTO log (id, line) VALUES (9, 'x')"), "428C9");
    EXPECT_EQ(run('A', "INSERT INTO log (id, line) OVERRIDING SYSTEM VALUE VALUES (6, 'x')"), "1");
    // An explicit value does not move the sequence.
    EXPECT_EQ(run('A', insert, {"x"}), "23505");
    EXPECT_EQ(run('A', insert, {"x"}), "7");
}

TEST_F(DatabaseTransactionsTest, AnInsertThatWaitedKeepsTheIdThatItDrew) {
    start("CREATE TABLE c (id BIGSERIAL PRIMARY KEY, k TEXT NOT NULL UNIQUE);");
    const char* insert = "INSERT INTO c (k) VALUES ('x') RETURNING id";
    run('A', "BEGIN");
    EXPECT_EQ(run('A', insert), "1");
    EXPECT_EQ(run('B', insert), "waits");
    run('A', "ROLLBACK");
    EXPECT_EQ(gone_on(), "B: 2");
    EXPECT_EQ(run('A', "INSERT INTO c (k) VALUES ('y') RETURNING id"), "3");
}

TEST_F(DatabaseTransactionsTest, CommitsAreReportedWithWholeRowsInOrder) {
    std::string seen;
    engine.set_commit_observer([&](SessionId session, std::span<const RowChange> changes) {
        seen += "[" + std::to_string(session);
        for (const RowChange& change : changes) {
            seen += " " + change.table->name + ":";
            for (const SqlValue& value : change.before) seen += text_of(value) + ",";
            seen += ">";
            for (const SqlValue& value : change.after) seen += text_of(value) + ",";
        }
        seen += "]";
    });
    run('A', "BEGIN");
    run('A', "INSERT INTO t VALUES ('b', 1)");
    run('A', "UPDATE t SET v = v + 1");
    run('A', "SAVEPOINT s");
    run('A', "DELETE FROM t");
    run('A', "ROLLBACK TO s");
    run('B', "INSERT INTO log (line) VALUES ('x')");
    EXPECT_EQ(seen, "[2 log:>1,x,]");
    seen.clear();
    run('A', "COMMIT");
    EXPECT_EQ(seen, "[1 t:>b,1, t:a,0,>a,1, t:b,1,>b,2,]");
    seen.clear();
    run('A', "SELECT k FROM t FOR UPDATE");
    run('A', "UPDATE t SET v = 1 WHERE k = 'none'");
    EXPECT_EQ(seen, "");
    run('A', "DELETE FROM t WHERE k = 'b'");
    EXPECT_EQ(seen, "[1 t:b,2,>]");
    engine.set_commit_observer({});
}

TEST_F(DatabaseTransactionsTest, ResetGivesThePristineDatabaseWithoutSessions) {
    const DatabaseImage image = DatabaseImage::build(
        "CREATE TABLE t (k TEXT PRIMARY KEY, v BIGINT);"
        "CREATE TABLE log (id BIGSERIAL PRIMARY KEY, line TEXT); INSERT INTO t VALUES ('a', 1);"
        "INSERT INTO log (line) VALUES ('seed');");
    std::size_t memory = 0;
    for (int round = 0; round < 10000; ++round) {
        if (round == 1000) memory = memory_in_use();
        engine.reset(image);
        const SessionId a = engine.open();
        const SessionId b = engine.open();
        ASSERT_EQ(a, 1U);
        ASSERT_EQ(text_of(engine.execute(a, "SELECT k, v FROM t")), "a|1");
        ASSERT_EQ(text_of(engine.execute(a, "BEGIN")), "0");
        ASSERT_EQ(text_of(engine.execute(b, "BEGIN")), "0");
        ASSERT_EQ(text_of(engine.execute(a, "INSERT INTO log (line) VALUES ('x') RETURNING id")),
                  "2");
        ASSERT_EQ(text_of(engine.execute(b, "INSERT INTO t VALUES ('b', 2)")), "1");
        ASSERT_EQ(text_of(engine.execute(a, "INSERT INTO t VALUES ('b', 2)")), "waits");
        if (round % 3 == 0) continue;
        ASSERT_EQ(text_of(engine.execute(b, "COMMIT")), "0");
        ASSERT_EQ(engine.take_completions().size(), 1U);
        if (round % 3 == 1) engine.close(a);
    }
    engine.reset(image);
    EXPECT_LE(memory_in_use(), memory + 4096);
}

TEST_F(DatabaseTransactionsTest, ImagesWithDifferentTablesCanTakeTurns) {
    const DatabaseImage first = DatabaseImage::build(
        "CREATE TABLE t (k TEXT PRIMARY KEY, v BIGINT); INSERT INTO t VALUES ('a', 1);");
    const DatabaseImage second = DatabaseImage::build(
        "CREATE TABLE other (x BIGINT PRIMARY KEY); CREATE TABLE t (v BIGINT, k TEXT PRIMARY KEY, "
        "w TEXT);"
        "INSERT INTO t VALUES (2, 'b', 'w');");
    for (int round = 0; round < 20; ++round) {
        engine.reset(first);
        SessionId session = engine.open();
        ASSERT_EQ(text_of(engine.execute(session, "SELECT * FROM t")), "a|1");
        ASSERT_EQ(text_of(engine.execute(session, "UPDATE t SET v = 5 RETURNING *")), "a|5");
        if (round % 2 == 0) {
            ASSERT_EQ(text_of(engine.execute(session, "ALTER TABLE t ADD COLUMN x BIGINT")), "0");
            ASSERT_EQ(text_of(engine.execute(session, "SELECT * FROM t")), "a|5|NULL");
        }
        engine.reset(second);
        session = engine.open();
        ASSERT_EQ(text_of(engine.execute(session, "SELECT * FROM t")), "2|b|w");
        ASSERT_EQ(text_of(engine.execute(session, "UPDATE t SET v = 5 RETURNING *")), "5|b|w");
    }
}

}  // namespace
}  // namespace fencepost::model
