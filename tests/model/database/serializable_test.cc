// Goal: REPEATABLE READ and SERIALIZABLE as the comparison with a real PostgreSQL 15 has shown
// them.
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

class SerializableTest : public DatabaseTest {
protected:
    SerializableTest() {
        engine.set_default_isolation(IsolationLevel::Serializable);
        start(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, u BIGINT UNIQUE, v BIGINT NOT NULL DEFAULT 0);"
            "CREATE TABLE child (id BIGSERIAL PRIMARY KEY, parent BIGINT REFERENCES t (id), "
            "n BIGINT NOT NULL DEFAULT 0);"
            "CREATE TABLE log (id BIGSERIAL PRIMARY KEY, note BIGINT UNIQUE);"
            "INSERT INTO t VALUES (1, 10, 0), (2, 11, 0);"
            "INSERT INTO child (parent) VALUES (1)");
    }
    void begin(std::string_view names) {
        for (const char name : names) run(name, "BEGIN");
    }
};

TEST_F(SerializableTest, WriteSkewFailsOnceOneHasCommitted) {
    begin("AB");
    run('A', "SELECT sum(v) FROM t");
    run('B', "SELECT sum(v) FROM t");
    EXPECT_EQ(run('A', "UPDATE t SET v = 1 WHERE id = 1"), "1");
    EXPECT_EQ(run('B', "UPDATE t SET v = 1 WHERE id = 2"), "1");
    EXPECT_EQ(run('A', "COMMIT"), "0");
    EXPECT_EQ(run('B', "COMMIT"), "40001");
}

TEST_F(SerializableTest, ASelectThatWaitedLearnsLaterThatItHasToFail) {
    begin("AB");
    run('A', "SELECT id FROM t WHERE id = 1 FOR SHARE");
    run('B', "INSERT INTO t VALUES (3, NULL, 0)");
    EXPECT_EQ(run('B', "SELECT id, v FROM t WHERE id = 1 FOR UPDATE"), "waits");
    run('A', "UPDATE t SET v = 1 WHERE id = 2");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1|0");
    EXPECT_EQ(run('B', "COMMIT"), "40001");
}

TEST_F(SerializableTest, AChildThatWaitedForItsParentLearnsLaterThatItHasToFail) {
    begin("AB");
    run('B', "SELECT id FROM t WHERE id = 1 FOR UPDATE");
    run('B', "DELETE FROM t WHERE id = 2");
    EXPECT_EQ(run('A', "INSERT INTO child (parent) VALUES (1)"), "waits");
    run('B', "COMMIT");
    EXPECT_EQ(gone_on(), "A: 1");
    EXPECT_EQ(run('A', "COMMIT"), "40001");
}

TEST_F(SerializableTest, AnInsertThatWaitedForAKeyLearnsAtTheIndexThatItHasToFail) {
    begin("AB");
    run('A', "UPDATE t SET v = 0 WHERE u = 10");
    run('B', "SELECT id FROM t");
    EXPECT_EQ(run('B', "INSERT INTO t VALUES (1, 10, 0)"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 40001");
}

TEST_F(SerializableTest, AForeignKeySeesTheNewestChildrenAndHasNoQuarrelWithTheirWriters) {
    begin("A");
    run('A', "INSERT INTO log (note) VALUES (0)");
    run('B', "UPDATE child SET parent = 2 WHERE id = 1");
    EXPECT_EQ(run('A', "DELETE FROM t WHERE id = 1"), "1");
    EXPECT_EQ(run('A', "COMMIT"), "0");
}

TEST_F(SerializableTest, AForeignKeyComesUponVersionsThatAreReplacedAlready) {
    begin("A");
    run('A', "INSERT INTO log (note) VALUES (0)");
    run('B', "UPDATE child SET parent = 2 WHERE id = 1");
    run('B', "UPDATE child SET n = n + 1 WHERE id = 1");
    EXPECT_EQ(run('A', "DELETE FROM t WHERE id = 1"), "40001");
}

TEST_F(SerializableTest, AParentThatIsTooNewIsStillRead) {
    begin("AB");
    run('B', "UPDATE t SET v = 1 WHERE id = 2");
    run('A', "INSERT INTO t VALUES (3, NULL, 0)");
    run('A', "SELECT id FROM child");
    run('A', "COMMIT");
    EXPECT_EQ(run('B', "INSERT INTO child (parent) VALUES (3)"), "40001");
}

TEST_F(SerializableTest, ALockOfOnesOwnOnAnOldVersionLeadsToTheNewestAndItsLockers) {
    begin("B");
    run('B', "SELECT id FROM log");
    run('A', "UPDATE t SET v = 0 WHERE id = 1");
    begin("A");
    run('A', "INSERT INTO child (parent) VALUES (1)");
    EXPECT_EQ(run('B', "SELECT id FROM t WHERE id = 1 FOR KEY SHARE"), "1");
    EXPECT_EQ(run('B', "SELECT id FROM t WHERE id = 1 FOR UPDATE"), "waits");
    run('A', "ROLLBACK");
    EXPECT_EQ(gone_on(), "B: 40001");
}

TEST_F(SerializableTest, SkipLockedSkipsAnOldVersionThatSomebodyHasLocked) {
    begin("AC");
    run('A', "SELECT id FROM log");
    run('C', "INSERT INTO child (parent) VALUES (2)");
    run('B', "UPDATE t SET v = 1 WHERE id = 2");
    EXPECT_EQ(run('A', "SELECT id FROM t WHERE id = 2 FOR UPDATE SKIP LOCKED"), "no rows");
    EXPECT_EQ(run('A', "SELECT id FROM t WHERE id = 2 FOR UPDATE NOWAIT"), "55P03");
}

TEST_F(SerializableTest, AChildComesToItsParentsNewestVersionPastALockBeforeASavepoint) {
    const auto child_after = [this](std::string_view savepoint) {
        run('A', "ROLLBACK");
        begin("AC");
        run('A', "SELECT id FROM log");
        run('C', "UPDATE t SET v = 1 WHERE id = 2");
        run('C', "SELECT id FROM t WHERE id = 2 FOR UPDATE");
        run('C', savepoint);
        run('C', "UPDATE t SET v = 2 WHERE id = 2");
        EXPECT_EQ(run('A', "INSERT INTO child (parent) VALUES (2)"), "waits");
        run('C', "COMMIT");
        return gone_on();
    };
    EXPECT_EQ(child_after("SAVEPOINT s"), "A: 1");
    EXPECT_EQ(child_after("SELECT 1"), "A: 40001");
}

TEST_F(SerializableTest, WhoHasToFailLearnsOfItAtARowAndNotInAnEmptyTable) {
    begin("A");
    run('A', "INSERT INTO t VALUES (3, NULL, 0)");
    run('A', "SELECT id FROM t");
    run('B', "UPDATE t SET v = 1 WHERE id = 2");
    begin("B");
    run('B', "UPDATE t SET v = 2 WHERE id = 2");
    EXPECT_EQ(run('A', "SELECT id FROM log"), "no rows");
    EXPECT_EQ(run('A', "SELECT id FROM child"), "40001");
}

TEST_F(SerializableTest, SaysWhenTheOrderOfRowsDecidedWhoFails) {
    begin("AC");
    run('C', "DELETE FROM t WHERE id = 2");
    run('A', "SELECT id FROM log");
    EXPECT_EQ(
        run('B', "INSERT INTO t VALUES (1, 12, 2) ON CONFLICT (id) DO UPDATE SET v = 2, u = 12"),
        "1");
    EXPECT_FALSE(engine.order_decided());
    run('A', "INSERT INTO child (parent) VALUES (1)");
    EXPECT_TRUE(engine.order_decided());
}

}  // namespace
}  // namespace fencepost::model
