// What the comparison with a real PostgreSQL 15 has taught the engine: each dialogue went another
// way there at first.
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

class FidelityTest : public DatabaseTest {
protected:
    FidelityTest() {
        start(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, u BIGINT UNIQUE, v BIGINT NOT NULL DEFAULT 0);"
            "CREATE TABLE child (id BIGSERIAL PRIMARY KEY, parent BIGINT REFERENCES t (id));"
            "CREATE TABLE log (id BIGSERIAL PRIMARY KEY, note BIGINT UNIQUE);"
            "INSERT INTO t VALUES (1, 10, 0), (2, 11, 0);"
            "INSERT INTO child (parent) VALUES (1)");
    }
    void begin(std::string_view names) {
        for (const char name : names) run(name, "BEGIN");
    }
};

TEST_F(FidelityTest, ADeleteThatAForeignKeyForbidsWaitsForTheRowFirst) {
    begin("AB");
    run('B', "SELECT id FROM t WHERE id = 1 FOR KEY SHARE");
    EXPECT_EQ(run('A', "DELETE FROM t WHERE id = 1"), "waits");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "A: 23503");
}

TEST_F(FidelityTest, ADeleteWaitsForWhoeverDeletesTheChildThatForbidsIt) {
    begin("AB");
    run('B', "DELETE FROM child WHERE id = 1");
    EXPECT_EQ(run('A', "DELETE FROM t WHERE id = 1"), "waits");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "A: 1");
}

TEST_F(FidelityTest, AChildWhoseParentNobodyHasCommittedFailsAtOnce) {
    begin("AB");
    run('B', "INSERT INTO t VALUES (3, 13, 0)");
    EXPECT_EQ(run('A', "INSERT INTO child (parent) VALUES (3)"), "23503");
}

TEST_F(FidelityTest, AParentThatIsDeletedIsGoneThoughAnotherHasItsKey) {
    begin("AB");
    run('B', "DELETE FROM t WHERE id = 2");
    EXPECT_EQ(run('A', "INSERT INTO child (parent) VALUES (2)"), "waits");
    run('B', "INSERT INTO t VALUES (2, 11, 1)");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "A: 23503");
}

TEST_F(FidelityTest, AChildThatItsOwnTransactionHasWrittenLooksForItsParentAgain) {
    begin("AB");
    run('A', "UPDATE child SET parent = 1 WHERE id = 1");
    EXPECT_EQ(run('B', "SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT"), "1");
    run('B', "ROLLBACK");
    run('A', "UPDATE child SET parent = 1 WHERE id = 1");
    EXPECT_EQ(run('B', "SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT"), "55P03");
}

TEST_F(FidelityTest, DoUpdateLocksByTheColumnsThatItAssigns) {
    begin("AB");
    run('B', "INSERT INTO child (parent) VALUES (1)");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES (1, 10, 0) ON CONFLICT (id) DO UPDATE SET u = 10"),
              "waits");
}

TEST_F(FidelityTest, DoUpdateLocksARowThatItsWhereLeavesAlone) {
    begin("AB");
    EXPECT_EQ(run('A',
                  "INSERT INTO t VALUES (1, 10, 0) ON CONFLICT (id) DO UPDATE SET v = 1 "
                  "WHERE t.v = 7"),
              "0");
    EXPECT_EQ(run('B', "SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT"), "55P03");
}

TEST_F(FidelityTest, AKeyThatDoUpdateGivesWaitsForItsOpenWriter) {
    begin("AB");
    run('A', "UPDATE t SET v = 1 WHERE id = 1");
    EXPECT_EQ(run('B',
                  "INSERT INTO t VALUES (2, 10, 0) ON CONFLICT (id) DO UPDATE SET "
                  "u = excluded.u"),
              "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23505");
}

TEST_F(FidelityTest, ANameThatBothRowsOfAnUpsertHaveIsAmbiguous) {
    EXPECT_EQ(run('A', "INSERT INTO t VALUES (1, 10, 0) ON CONFLICT (id) DO UPDATE SET v = v + 1"),
              "42702");
}

TEST_F(FidelityTest, AWaitingInsertHoldsTheKeysThatItHasEntered) {
    begin("AB");
    run('B', "UPDATE t SET v = 1 WHERE id = 1");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES (3, 10, 0)"), "waits");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES (3, 12, 0) ON CONFLICT (id) DO NOTHING"), "waits");
    EXPECT_TRUE(engine.in_deadlock(of('B')));
    EXPECT_GT(engine.wait_number(of('B')), engine.wait_number(of('A')));
}

TEST_F(FidelityTest, AnInsertThatHasLookedForConflictsDoesNotLookAgain) {
    begin("AB");
    run('B', "UPDATE t SET v = 1 WHERE id = 2");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES (2, 12, 0) ON CONFLICT (u) DO UPDATE SET v = t.v + 1"),
              "waits");
    EXPECT_EQ(run('B', "UPDATE t SET u = 12 WHERE id = 2"), "1");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "A: 23505");
}

TEST_F(FidelityTest, AnIdIsDrawnBeforeTheRowWaits) {
    begin("AB");
    EXPECT_EQ(run('A', "INSERT INTO log (note) VALUES (1) RETURNING id"), "1");
    EXPECT_EQ(run('B', "INSERT INTO log (note) VALUES (1) ON CONFLICT DO NOTHING"), "waits");
    engine.close(of('B'));
    run('A', "ROLLBACK");
    EXPECT_EQ(run('A', "INSERT INTO log (note) VALUES (1) RETURNING id"), "3");
}

TEST_F(FidelityTest, ForKeyShareReturnsTheVersionThatItFound) {
    begin("AC");
    run('A', "SELECT id FROM t WHERE id = 1 FOR UPDATE");
    EXPECT_EQ(run('B', "UPDATE t SET v = v + 1 WHERE id = 1"), "waits");
    EXPECT_EQ(run('C', "SELECT id, v FROM t WHERE id = 1 FOR KEY SHARE"), "waits");
    run('A', "ROLLBACK");
    EXPECT_EQ(gone_on(), "B: 1, C: 1|0");
}

TEST_F(FidelityTest, AWeakLockThatFollowsANewerVersionWaitsForItsWriter) {
    begin("ABC");
    run('A', "SELECT id FROM t WHERE id = 2 FOR UPDATE");
    EXPECT_EQ(run('B', "UPDATE t SET v = v + 1 WHERE id = 2"), "waits");
    run('A', "UPDATE t SET v = v + 1 WHERE id = 2");
    EXPECT_EQ(run('C', "INSERT INTO child (parent) VALUES (2)"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1");
    EXPECT_TRUE(engine.waiting(of('C')));
    // It has its lock already, and waits all the same.
    EXPECT_EQ(run('B', "SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED"), "1");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "C: 1");
}

TEST_F(FidelityTest, ASubqueryThatLocksKeepsItsLock) {
    begin("AB");
    EXPECT_EQ(run('A',
                  "UPDATE t SET v = 1 WHERE id = (SELECT id FROM t WHERE v = 0 ORDER BY id "
                  "LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id"),
              "1");
    EXPECT_EQ(run('B', "INSERT INTO child (parent) VALUES (1)"), "waits");
}

TEST_F(FidelityTest, ASubqueryThatHasWaitedLooksAtItsRowAgain) {
    begin("AB");
    run('A', "UPDATE t SET v = 5 WHERE id = 1");
    EXPECT_EQ(run('B',
                  "UPDATE t SET v = 9 WHERE id = (SELECT id FROM t WHERE v = 0 ORDER BY id "
                  "LIMIT 1 FOR UPDATE) RETURNING id"),
              "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 2");
}

TEST_F(FidelityTest, ForUpdateWithALimitGoesOnToTheNextRowThatItHadFound) {
    begin("AB");
    run('A', "UPDATE t SET v = 5 WHERE id = 1");
    EXPECT_EQ(run('B', "SELECT id FROM t WHERE v = 0 ORDER BY id LIMIT 1 FOR UPDATE"), "waits");
    run('C', "INSERT INTO t VALUES (0, 9, 0)");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 2");
}

TEST_F(FidelityTest, WhoeverWaitsForARowQueuesBehindThoseWhoWaitForItAlready) {
    begin("ABC");
    run('A', "SELECT id FROM t WHERE id = 1 FOR KEY SHARE");
    EXPECT_EQ(run('B', "DELETE FROM t WHERE id = 1"), "waits");
    run('A', "SAVEPOINT s");
    run('A', "UPDATE t SET v = v + 1 WHERE id = 1");
    EXPECT_EQ(run('C', "UPDATE t SET v = v + 1 WHERE id = 1"), "waits");
    run('A', "ROLLBACK TO s");
    EXPECT_EQ(gone_on(), "");
    EXPECT_EQ(engine.waits_for(of('C')), std::vector<SessionId>{of('B')});
}

TEST_F(FidelityTest, ALockOfAReleasedSavepointIsWaitedForToTheEndOfTheTransaction) {
    begin("AB");
    run('B', "SAVEPOINT outer_one");
    run('B', "SAVEPOINT inner_one");
    run('B', "UPDATE t SET v = v + 1 WHERE id = 2");
    EXPECT_EQ(run('A', "UPDATE t SET v = v + 1 WHERE id = 2"), "waits");
    run('B', "RELEASE inner_one");
    run('B', "ROLLBACK TO outer_one");
    EXPECT_EQ(gone_on(), "");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "A: 1");
}

TEST_F(FidelityTest, AWeakLockOnALaterVersionDoesNotQueue) {
    begin("ABC");
    run('C', "UPDATE t SET v = v + 1 WHERE id = 1");
    EXPECT_EQ(run('A', "DELETE FROM t WHERE id = 1"), "waits");
    run('C', "SAVEPOINT s");
    run('C', "SELECT id FROM t WHERE id = 1 FOR UPDATE");
    EXPECT_EQ(run('B', "SELECT id, v FROM t WHERE id = 1 FOR KEY SHARE"), "waits");
    run('C', "ROLLBACK TO s");
    EXPECT_EQ(gone_on(), "B: 1|0");
}

TEST_F(FidelityTest, WhoeverHasALockOnTheRowDoesNotQueue) {
    begin("ABC");
    run('C', "SELECT id FROM t WHERE id = 2 FOR KEY SHARE");
    EXPECT_EQ(run('A', "DELETE FROM t WHERE id = 2"), "waits");
    EXPECT_EQ(run('B', "UPDATE t SET v = v + 1 WHERE id = 2"), "1");
    EXPECT_EQ(run('C', "UPDATE t SET v = v + 1 WHERE id = 2"), "waits");
    EXPECT_EQ(engine.waits_for(of('C')), std::vector<SessionId>{of('B')});
    EXPECT_FALSE(engine.in_deadlock(of('C')));
}

TEST_F(FidelityTest, OneHolderOfASharedLockIsWaitedForAfterTheOther) {
    begin("ABC");
    run('A', "SELECT id FROM t WHERE id = 2 FOR KEY SHARE");
    run('C', "SELECT id FROM t WHERE id = 2 FOR SHARE");
    run('B', "UPDATE t SET v = v + 1 WHERE id = 1");
    EXPECT_EQ(run('B', "DELETE FROM t WHERE id = 2"), "waits");
    EXPECT_EQ(run('C', "UPDATE t SET v = v + 1 WHERE id = 1"), "waits");
    EXPECT_FALSE(engine.in_deadlock(of('C')));
    run('A', "COMMIT");
    EXPECT_TRUE(engine.in_deadlock(of('B')));
    EXPECT_GT(engine.wait_number(of('B')), engine.wait_number(of('C')));
}

TEST_F(FidelityTest, AnUpdateWritesItsRowBeforeItsNewKeys) {
    begin("AC");
    run('C', "INSERT INTO t VALUES (3, 12, 0)");
    EXPECT_EQ(run('B', "UPDATE t SET id = 3 WHERE id = 1"), "waits");
    EXPECT_EQ(run('A', "UPDATE t SET u = 10 WHERE id = 2"), "waits");
    EXPECT_EQ(engine.waits_for(of('A')), std::vector<SessionId>{of('B')});
}

TEST_F(FidelityTest, AStatementThatHasGoneOnWritesARowBeforeItWaitsForTheNext) {
    begin("AB");
    run('A', "SELECT id FROM t WHERE id = 1 FOR UPDATE");
    EXPECT_EQ(run('C', "DELETE FROM t WHERE v = 0"), "waits");
    run('B', "UPDATE t SET v = 1 WHERE id = 2");
    run('A', "COMMIT");
    EXPECT_EQ(engine.waits_for(of('C')), std::vector<SessionId>{of('B')});
    EXPECT_EQ(run('B', "INSERT INTO t VALUES (3, 10, 0) ON CONFLICT (u) DO NOTHING"), "waits");
    EXPECT_TRUE(engine.in_deadlock(of('B')));
}

TEST_F(FidelityTest, AWaitForTheNextLockIsANewWait) {
    begin("ABC");
    run('A', "UPDATE t SET v = 1 WHERE id = 1");
    run('B', "UPDATE t SET v = 1 WHERE id = 2");
    EXPECT_EQ(run('C', "SELECT id FROM t ORDER BY id FOR UPDATE"), "waits");
    const std::uint64_t first = engine.wait_number(of('C'));
    run('A', "COMMIT");
    EXPECT_TRUE(engine.waiting(of('C')));
    EXPECT_GT(engine.wait_number(of('C')), first);
}

}  // namespace
}  // namespace fencepost::model
