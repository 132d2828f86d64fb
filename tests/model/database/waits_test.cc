// Who waits for whom, and what comes of it. Every expectation was seen on PostgreSQL 15.
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

class DatabaseWaitsTest : public DatabaseTest {
protected:
    DatabaseWaitsTest() {
        start(
            "CREATE TABLE t (k TEXT PRIMARY KEY, v INT, u INT UNIQUE);"
            "INSERT INTO t VALUES ('a', 0, 1), ('b', 0, 2), ('c', 1, 3);");
    }
    std::string rows() { return run('Z', "SELECT k, v, u FROM t ORDER BY k"); }
};

TEST_F(DatabaseWaitsTest, InsertOfAKeyThatAnOpenTransactionInsertedWaitsAndFailsAfterItsCommit) {
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES ('n', 1, 10)"), "1");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('n', 2, 11)"), "waits");
    EXPECT_TRUE(engine.waiting(of('B')));
    EXPECT_EQ(engine.waits_for(of('B')), std::vector<SessionId>{of('A')});
    EXPECT_EQ(engine.describe_wait(of('B')), "row t('n') held by session 1");
    EXPECT_EQ(gone_on(), "");
    EXPECT_EQ(run('A', "COMMIT"), "0");
    EXPECT_EQ(gone_on(), "B: 23505");
    EXPECT_EQ(rows(), "a|0|1 b|0|2 c|1|3 n|1|10");
}

TEST_F(DatabaseWaitsTest, InsertOfAKeyThatAnOpenTransactionInsertedSucceedsAfterItsRollback) {
    run('A', "BEGIN");
    run('A', "INSERT INTO t VALUES ('n', 1, 10)");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('n', 2, 11)"), "waits");
    EXPECT_EQ(run('A', "ROLLBACK"), "0");
    EXPECT_EQ(gone_on(), "B: 1");
    EXPECT_EQ(rows(), "a|0|1 b|0|2 c|1|3 n|2|11");
}

TEST_F(DatabaseWaitsTest, InsertWaitsForASecondaryUniqueKeyToo) {
    run('A', "BEGIN");
    run('A', "INSERT INTO t VALUES ('n', 1, 10)");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('m', 2, 10)"), "waits");
    EXPECT_EQ(engine.describe_wait(of('B')), "unique key t_u_key(10) held by session 1");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23505");
}

TEST_F(DatabaseWaitsTest, DoNothingWaitsAndThenInsertsNothing) {
    run('A', "BEGIN");
    run('A', "INSERT INTO t VALUES ('n', 1, 10)");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('n', 2, 11) ON CONFLICT DO NOTHING"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0");
}

TEST_F(DatabaseWaitsTest, DoNothingOnARowThatIsBeingDeletedWaitsAndThenInserts) {
    run('A', "BEGIN");
    run('A', "DELETE FROM t WHERE k = 'a'");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('a', 1, 50) ON CONFLICT DO NOTHING RETURNING k, v"),
              "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: a|1");
}

TEST_F(DatabaseWaitsTest, DoUpdateWaitsForTheRowAndSeesItsNewVersion) {
    const char* upsert =
        "INSERT INTO t VALUES ('a', 1, 50) ON CONFLICT (k) DO UPDATE SET v = t.v + 10 RETURNING k, "
        "v";
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    EXPECT_EQ(run('B', upsert), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: a|15");
    run('A', "BEGIN");
    run('A', "DELETE FROM t WHERE k = 'a'");
    EXPECT_EQ(run('B', upsert), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: a|1");
}

TEST_F(DatabaseWaitsTest, InsertOfAKeyWhoseRowIsBeingUpdatedWaitsAndFailsEvenAfterARollback) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('a', 9, 9)"), "waits");
    EXPECT_EQ(run('C', "INSERT INTO t VALUES ('a', 9, 9) ON CONFLICT DO NOTHING"), "waits");
    run('A', "ROLLBACK");
    EXPECT_EQ(gone_on(), "B: 23505, C: 0");
}

TEST_F(DatabaseWaitsTest, InsertOfAKeyWhoseRowIsOnlyLockedFailsAtOnce) {
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "SELECT k, v FROM t WHERE k = 'a' FOR UPDATE"), "a|0");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('a', 9, 9)"), "23505");
}

TEST_F(DatabaseWaitsTest, InsertOfAKeyThatIsBeingDeletedOrMovedAwayWaits) {
    run('A', "BEGIN");
    run('A', "DELETE FROM t WHERE k = 'a'");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('a', 1, 99)"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1");
    run('A', "BEGIN");
    run('A', "UPDATE t SET k = 'z' WHERE k = 'b'");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('b', 1, 98)"), "waits");
    EXPECT_EQ(run('C', "INSERT INTO t VALUES ('z', 1, 97)"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1, C: 23505");
}

TEST_F(DatabaseWaitsTest, UpdateOntoAKeyThatIsBeingDeletedWaits) {
    run('A', "BEGIN");
    run('A', "DELETE FROM t WHERE k = 'a'");
    EXPECT_EQ(run('B', "UPDATE t SET k = 'a' WHERE k = 'b'"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1");
    EXPECT_EQ(rows(), "a|0|2 c|1|3");
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 4 WHERE k = 'a'");
    EXPECT_EQ(run('B', "UPDATE t SET k = 'a' WHERE k = 'c'"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23505");
}

TEST_F(DatabaseWaitsTest, UpdateChecksItsConditionAgainOnTheNewVersion) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 1 WHERE k = 'a'");
    EXPECT_EQ(run('B', "UPDATE t SET v = 2 WHERE k = 'a' AND v = 0"), "waits");
    EXPECT_EQ(run('C', "UPDATE t SET v = v + 1 WHERE k = 'a'"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0, C: 1");
    EXPECT_EQ(rows(), "a|2|1 b|0|2 c|1|3");
}

TEST_F(DatabaseWaitsTest, ARowThatNoLongerFitsStaysLocked) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 1 WHERE k = 'a'");
    run('B', "BEGIN");
    EXPECT_EQ(run('B', "UPDATE t SET v = 9 WHERE k = 'a' AND v = 0"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0");
    EXPECT_EQ(run('C', "UPDATE t SET v = 7 WHERE k = 'a'"), "waits");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "C: 1");
}

TEST_F(DatabaseWaitsTest, ARowDeletedAndInsertedAgainIsAnotherRow) {
    run('A', "BEGIN");
    run('A', "DELETE FROM t WHERE k = 'a'");
    run('A', "INSERT INTO t VALUES ('a', 5, 5)");
    EXPECT_EQ(run('B', "UPDATE t SET v = 9 WHERE k = 'a'"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0");
}

TEST_F(DatabaseWaitsTest, UpdateOfARowThatIsDeletedChangesNothing) {
    run('A', "BEGIN");
    run('A', "DELETE FROM t WHERE k = 'a'");
    EXPECT_EQ(run('B', "UPDATE t SET v = 2 WHERE k = 'a'"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0");
}

TEST_F(DatabaseWaitsTest, ARowMovedIntoTheConditionIsNotSeenByAnOlderStatement) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 0 WHERE k = 'c'");
    EXPECT_EQ(run('B', "UPDATE t SET v = 7 WHERE v = 0 AND k = 'c'"), "0");
    run('A', "ROLLBACK");
    // Nor if the change is committed while the statement waits for something else.
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 7 WHERE k = 'a'");
    EXPECT_EQ(run('B', "UPDATE t SET v = v + 10 WHERE v = 0 RETURNING k"), "waits");
    EXPECT_EQ(run('C', "UPDATE t SET v = 0 WHERE k = 'c'"), "1");
    run('A', "ROLLBACK");
    EXPECT_EQ(gone_on(), "B: a b");
    EXPECT_EQ(rows(), "a|10|1 b|10|2 c|0|3");
}

TEST_F(DatabaseWaitsTest, DeleteAndUpdateFollowARowToItsNewKey) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET k = 'z' WHERE k = 'a'");
    EXPECT_EQ(run('B', "DELETE FROM t WHERE k = 'a'"), "waits");
    EXPECT_EQ(run('C', "UPDATE t SET v = 8 WHERE v = 0 RETURNING k"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0, C: b z");
}

TEST_F(DatabaseWaitsTest, AClaimThroughASubqueryIsHandedOutTwice) {
    const char* claim =
        "UPDATE t SET v = 1 WHERE k = (SELECT k FROM t WHERE v = 0 ORDER BY k LIMIT 1) RETURNING k";
    const char* claim_in =
        "UPDATE t SET v = 1 WHERE k IN (SELECT k FROM t WHERE v = 0 ORDER BY k LIMIT 1) RETURNING "
        "k";
    run('A', "BEGIN");
    EXPECT_EQ(run('A', claim), "a");
    EXPECT_EQ(run('B', claim), "waits");
    EXPECT_EQ(run('C', claim_in), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: a, C: a");
    EXPECT_EQ(run('A', claim), "b");
}

TEST_F(DatabaseWaitsTest, AClaimThroughALockingSubqueryIsHandedOutOnce) {
    const char* claim =
        "UPDATE t SET v = 1 WHERE k = (SELECT k FROM t WHERE v = 0 ORDER BY k LIMIT 1 FOR UPDATE) "
        "RETURNING k";
    run('A', "BEGIN");
    EXPECT_EQ(run('A', claim), "a");
    EXPECT_EQ(run('B', claim), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: b");
    const char* skip =
        "UPDATE t SET v = 1 WHERE k = (SELECT k FROM t WHERE v = $1 ORDER BY k LIMIT 1 FOR UPDATE "
        "SKIP "
        "LOCKED) RETURNING k";
    run('A', "UPDATE t SET v = 0");
    run('A', "BEGIN");
    run('B', "BEGIN");
    EXPECT_EQ(run('A', skip, {0}), "a");
    EXPECT_EQ(run('B', skip, {0}), "b");
    EXPECT_EQ(run('C', skip, {0}), "c");
    EXPECT_EQ(run('C', skip, {0}), "no rows");
}

TEST_F(DatabaseWaitsTest, InsertWhereNotExistsIsNoProtection) {
    const char* insert =
        "INSERT INTO t SELECT 'n', 1, 10 WHERE NOT EXISTS (SELECT 1 FROM t WHERE k = 'n')";
    run('A', "BEGIN");
    EXPECT_EQ(run('A', insert), "1");
    EXPECT_EQ(run('B', insert), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23505");
    EXPECT_EQ(run('B', insert), "0");
}

TEST_F(DatabaseWaitsTest, UpdateFromASubqueryKeepsTheValuesOfItsSnapshot) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 1 WHERE k = 'a'");
    EXPECT_EQ(run('B', "UPDATE t SET v = (SELECT sum(v) + 100 FROM t) WHERE k = 'a' RETURNING v"),
              "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 101");
    run('A', "UPDATE t SET v = 0 WHERE k = 'a'");
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 1 WHERE k = 'a'");
    EXPECT_EQ(run('B',
                  "UPDATE t SET v = 9 WHERE k = 'a' AND EXISTS (SELECT 1 FROM t x WHERE x.k = 'a' "
                  "AND x.v = 0)"),
              "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1");
}

TEST_F(DatabaseWaitsTest, AFailedStatementGivesTheLocksOfItsTransactionBack) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    EXPECT_EQ(run('B', "UPDATE t SET v = 6 WHERE k = 'a'"), "waits");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES ('b', 1, 1)"), "23505");
    EXPECT_EQ(gone_on(), "B: 1");
    EXPECT_EQ(run('A', "SELECT 1"), "25P02");
    EXPECT_EQ(run('A', "COMMIT"), std::to_string(kRolledBack));
}

TEST_F(DatabaseWaitsTest, AfterASavepointAFailureGivesBackOnlyWhatWasLockedSince) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    run('A', "SAVEPOINT s");
    run('A', "UPDATE t SET v = 5 WHERE k = 'b'");
    EXPECT_EQ(run('B', "UPDATE t SET v = 6 WHERE k = 'a'"), "waits");
    EXPECT_EQ(run('C', "UPDATE t SET v = 6 WHERE k = 'b'"), "waits");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES ('b', 1, 1)"), "23505");
    EXPECT_EQ(gone_on(), "C: 1");
    EXPECT_EQ(run('A', "ROLLBACK TO s"), "0");
    EXPECT_EQ(run('A', "SELECT v FROM t WHERE k = 'a'"), "5");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1");
    EXPECT_EQ(rows(), "a|6|1 b|6|2 c|1|3");
}

TEST_F(DatabaseWaitsTest, RollbackToASavepointFreesAKey) {
    run('A', "BEGIN");
    run('A', "SAVEPOINT s");
    run('A', "INSERT INTO t VALUES ('n', 1, 50)");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('n', 1, 51)"), "waits");
    run('A', "ROLLBACK TO s");
    EXPECT_EQ(gone_on(), "B: 1");
}

TEST_F(DatabaseWaitsTest, ForUpdateWaitsNoWaitFailsSkipLockedSkipsAndPlainSelectReads) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    EXPECT_EQ(run('B', "SELECT k, v FROM t WHERE k = 'a'"), "a|0");
    EXPECT_EQ(run('B', "SELECT k, v FROM t WHERE k = 'a' FOR UPDATE NOWAIT"), "55P03");
    EXPECT_EQ(run('B', "SELECT k, v FROM t WHERE k = 'a' FOR UPDATE SKIP LOCKED"), "no rows");
    EXPECT_EQ(run('B', "SELECT k, v FROM t ORDER BY k LIMIT 1 FOR UPDATE SKIP LOCKED"), "b|0");
    EXPECT_EQ(
        run('B', "SELECT k FROM t ORDER BY k LIMIT $2 OFFSET $1 FOR UPDATE SKIP LOCKED", {1, 1}),
        "c");
    run('B', "BEGIN");
    EXPECT_EQ(run('B', "SELECT k, v FROM t WHERE k = 'a' FOR UPDATE"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: a|5");
    EXPECT_EQ(run('A', "UPDATE t SET v = 6 WHERE k = 'a'"), "waits");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "A: 1");
}

TEST_F(DatabaseWaitsTest, ForUpdateWithALimitGoesOnToTheNextRowThatStillFits) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 1 WHERE k = 'a'");
    EXPECT_EQ(run('B', "SELECT k, v FROM t WHERE v = 0 ORDER BY k LIMIT 1 FOR UPDATE"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: b|0");
}

TEST_F(DatabaseWaitsTest, SharedLocksGoTogetherAndKeepWritersOut) {
    run('A', "BEGIN");
    run('B', "BEGIN");
    EXPECT_EQ(run('A', "SELECT k FROM t WHERE k = 'a' FOR SHARE"), "a");
    EXPECT_EQ(run('B', "SELECT k FROM t WHERE k = 'a' FOR SHARE"), "a");
    EXPECT_EQ(run('C', "UPDATE t SET v = 6 WHERE k = 'a'"), "waits");
    // PostgreSQL waits for one of them after the other.
    EXPECT_EQ(engine.waits_for(of('C')), std::vector<SessionId>{of('A')});
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "");
    EXPECT_EQ(engine.waits_for(of('C')), std::vector<SessionId>{of('B')});
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "C: 1");
}

TEST_F(DatabaseWaitsTest, WaitersGoOnInTheOrderInWhichTheyBeganToWait) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    run('D', "BEGIN");
    EXPECT_EQ(run('D', "UPDATE t SET v = v * 2 WHERE k = 'a'"), "waits");
    EXPECT_EQ(run('B', "UPDATE t SET v = v + 1 WHERE k = 'a'"), "waits");
    EXPECT_EQ(run('C', "UPDATE t SET v = v * 3 WHERE k = 'a'"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "D: 1");
    EXPECT_EQ(engine.waits_for(of('C')), (std::vector<SessionId>{of('D'), of('B')}));
    run('D', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1, C: 1");
    EXPECT_EQ(rows(), "a|33|1 b|0|2 c|1|3");
}

// PostgreSQL's upsert waits for the savepoint without the row's tuple lock, which the update takes.
TEST_F(DatabaseWaitsTest, AnUpsertFreedByASavepointQueuesBehindAnUpdateThatCameAfterIt) {
    const auto let_both_wait_for_a_savepoint = [&] {
        run('B', "BEGIN");
        run('B', "SELECT k FROM t WHERE k = 'a' FOR UPDATE");
        run('B', "SAVEPOINT s");
        run('B', "UPDATE t SET v = 9 WHERE k = 'a'");
        EXPECT_EQ(run('A',
                      "INSERT INTO t VALUES ('a', 0, 7) ON CONFLICT (k) DO UPDATE SET "
                      "v = t.v + 5 RETURNING v"),
                  "waits");
        EXPECT_EQ(run('C', "UPDATE t SET v = t.v * 2 + 1 WHERE k = 'a' RETURNING v"), "waits");
    };
    for (const char* undo : {"INSERT INTO t VALUES ('b', 1, 1)", "ROLLBACK TO s"}) {
        let_both_wait_for_a_savepoint();
        run('B', undo);
        EXPECT_EQ(gone_on(), "") << undo;
        run('B', "ROLLBACK");
        EXPECT_EQ(gone_on(), "C: 1, A: 6") << undo;
        run('A', "UPDATE t SET v = 0 WHERE k = 'a'");
    }
    // A savepoint that was released lasts as long as its transaction: both are freed at once.
    let_both_wait_for_a_savepoint();
    run('B', "RELEASE s");
    run('B', "ROLLBACK");
    EXPECT_EQ(gone_on(), "A: 5, C: 11");
}

TEST_F(DatabaseWaitsTest, AWaitingStatementHoldsTheRowsBeforeTheOneItWaitsFor) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'b'");
    EXPECT_EQ(run('B', "UPDATE t SET v = v + 1"), "waits");
    EXPECT_EQ(run('C', "UPDATE t SET v = 9 WHERE k = 'a'"), "waits");
    EXPECT_EQ(run('D', "UPDATE t SET v = 9 WHERE k = 'c'"), "1");
    EXPECT_FALSE(engine.in_deadlock(of('B')));
    EXPECT_EQ(run('A', "UPDATE t SET v = 5 WHERE k = 'a'"), "waits");
    EXPECT_TRUE(engine.in_deadlock(of('A')));
    EXPECT_TRUE(engine.in_deadlock(of('B')));
    // It stands before A in the queue for that row.
    EXPECT_TRUE(engine.in_deadlock(of('C')));
}

TEST_F(DatabaseWaitsTest, ADeadlocksVictimLosesItsTransactionAndTheOtherGoesOn) {
    run('A', "BEGIN");
    run('B', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    run('B', "UPDATE t SET v = 6 WHERE k = 'b'");
    EXPECT_EQ(run('A', "UPDATE t SET v = 5 WHERE k = 'b'"), "waits");
    EXPECT_FALSE(engine.in_deadlock(of('A')));
    EXPECT_EQ(run('B', "UPDATE t SET v = 6 WHERE k = 'a'"), "waits");
    EXPECT_TRUE(engine.in_deadlock(of('A')));
    engine.fail_wait(of('A'), {"40P01", "deadlock detected"});
    EXPECT_EQ(gone_on(), "A: 40P01, B: 1");
    EXPECT_TRUE(engine.in_failed_transaction(of('A')));
    EXPECT_EQ(run('A', "SELECT 1"), "25P02");
    EXPECT_EQ(run('A', "COMMIT"), "-1");
    EXPECT_FALSE(engine.in_transaction(of('A')));
    EXPECT_EQ(run('B', "COMMIT"), "0");
    EXPECT_EQ(rows(), "a|6|1 b|6|2 c|1|3");
}

TEST_F(DatabaseWaitsTest, TheOtherPartOfADeadlockCanBeTheVictimAsWell) {
    run('A', "BEGIN");
    run('B', "BEGIN");
    run('A', "INSERT INTO t VALUES ('x', 1, 10)");
    run('B', "INSERT INTO t VALUES ('y', 1, 11)");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES ('y', 1, 12)"), "waits");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('x', 1, 13)"), "waits");
    engine.fail_wait(of('B'), {"40P01", "deadlock detected"});
    EXPECT_EQ(gone_on(), "B: 40P01, A: 1");
    EXPECT_EQ(run('B', "ROLLBACK"), "0");
    EXPECT_EQ(run('A', "COMMIT"), "0");
    EXPECT_EQ(rows(), "a|0|1 b|0|2 c|1|3 x|1|10 y|1|12");
}

TEST_F(DatabaseWaitsTest, ClosingASessionRollsBackAndFreesOthers) {
    run('A', "BEGIN");
    run('A', "INSERT INTO t VALUES ('n', 1, 10)");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES ('n', 2, 11)"), "waits");
    EXPECT_EQ(run('C', "INSERT INTO t VALUES ('n', 3, 12)"), "waits");
    engine.close(of('B'));
    engine.close(of('A'));
    EXPECT_EQ(gone_on(), "C: 1");
    EXPECT_EQ(rows(), "a|0|1 b|0|2 c|1|3 n|3|12");
}

TEST_F(DatabaseWaitsTest, AStatementOnItsOwnThatIsCancelledLeavesNothing) {
    run('A', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'b'");
    EXPECT_EQ(run('B', "UPDATE t SET v = v + 1"), "waits");
    engine.fail_wait(of('B'), {"57014", "canceling statement due to statement timeout"});
    EXPECT_EQ(gone_on(), "B: 57014");
    EXPECT_EQ(run('C', "UPDATE t SET v = 9 WHERE k = 'a'"), "1");
    EXPECT_FALSE(engine.in_transaction(of('B')));
    EXPECT_EQ(run('B', "SELECT v FROM t WHERE k = 'c'"), "1");
}

TEST_F(DatabaseWaitsTest, OpenTransactionsSeeTheirOwnChangesAndNobodyElses) {
    run('A', "BEGIN");
    run('B', "BEGIN");
    run('A', "UPDATE t SET v = 5 WHERE k = 'a'");
    run('B', "UPDATE t SET v = 6 WHERE k = 'b'");
    run('B', "DELETE FROM t WHERE k = 'c'");
    run('A', "INSERT INTO t VALUES ('n', 7, 7)");
    EXPECT_EQ(run('A', "SELECT k, v FROM t ORDER BY k"), "a|5 b|0 c|1 n|7");
    EXPECT_EQ(run('B', "SELECT k, v FROM t ORDER BY k"), "a|0 b|6");
    EXPECT_EQ(rows(), "a|0|1 b|0|2 c|1|3");
    run('B', "COMMIT");
    EXPECT_EQ(run('A', "SELECT k, v FROM t ORDER BY k"), "a|5 b|6 n|7");
    run('A', "COMMIT");
    EXPECT_EQ(rows(), "a|5|1 b|6|2 n|7|7");
}

TEST_F(DatabaseWaitsTest, APeekSeesWhatIsCommittedAndLeavesNoTrace) {
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "UPDATE t SET v = 9 WHERE k = 'a'"), "1");
    EXPECT_EQ(run('B', "UPDATE t SET v = 8 WHERE k = 'a'"), "waits");
    const std::uint64_t wait = engine.wait_number(of('B'));
    EXPECT_EQ(text_of(engine.peek("SELECT v FROM t WHERE k = 'a'")), "0");
    EXPECT_EQ(engine.wait_number(of('B')), wait);
    EXPECT_EQ(of('C'), 3U) << "the id that it would have had without";
    EXPECT_EQ(gone_on(), "");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1");
    EXPECT_EQ(text_of(engine.peek("SELECT v FROM t WHERE k = 'a'")), "8");
}

TEST_F(DatabaseWaitsTest, APeekAtATableThatIsBeingAlteredWaitsForNobody) {
    run('A', "BEGIN");
    run('A', "ALTER TABLE t ADD COLUMN w INT");
    EXPECT_EQ(text_of(engine.peek("SELECT v FROM t")), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "") << "nobody is left waiting";
}

}  // namespace
}  // namespace fencepost::model
