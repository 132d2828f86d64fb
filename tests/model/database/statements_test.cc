// What the engine makes of PostgreSQL's SQL, and what it refuses.
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

class DatabaseStatementsTest : public DatabaseTest {
protected:
    DatabaseStatementsTest() {
        start(
            "CREATE TABLE t (k TEXT PRIMARY KEY, v BIGINT NOT NULL DEFAULT 0 CHECK (v < 1000),"
            " r DOUBLE PRECISION, done BOOLEAN NOT NULL DEFAULT FALSE);");
    }
    std::string message(std::string_view sql) {
        const Outcome outcome = engine.execute(of('A'), sql);
        const auto* failure = std::get_if<SqlFailure>(&outcome);
        return failure == nullptr ? "" : failure->message;
    }
};

TEST_F(DatabaseStatementsTest, ClassifiesStatements) {
    EXPECT_EQ(classify("begin"), StatementKind::Begin);
    EXPECT_EQ(classify(" -- note\n COMMIT ;"), StatementKind::Commit);
    EXPECT_EQ(classify("ABORT"), StatementKind::Rollback);
    EXPECT_EQ(classify("SAVEPOINT a"), StatementKind::Savepoint);
    EXPECT_EQ(classify("ROLLBACK TO a"), StatementKind::RollbackTo);
    EXPECT_EQ(classify("RELEASE SAVEPOINT a"), StatementKind::Release);
    EXPECT_EQ(classify("SELECT 'FOR UPDATE'"), StatementKind::Query);
    EXPECT_EQ(classify("SELECT a FROM t FOR NO KEY UPDATE NOWAIT"), StatementKind::LockingQuery);
    EXPECT_EQ(classify("WITH x AS (SELECT 1) DELETE FROM t"), StatementKind::Write);
    EXPECT_EQ(classify("WITH x AS (SELECT 1) SELECT * FROM x"), StatementKind::Query);
    EXPECT_EQ(classify("CREATE INDEX i ON t (a)"), StatementKind::Ddl);
    EXPECT_EQ(classify("VACUUM"), StatementKind::Other);
    EXPECT_EQ(classify(""), StatementKind::Other);
}

TEST_F(DatabaseStatementsTest, ParametersAreNumberedMayRepeatAndComeInAnyOrder) {
    EXPECT_EQ(run('A', "INSERT INTO t (k, v, r, done) VALUES ($2, $1, $1 + 0.5, $3)", {7, "k", 1}),
              "1");
    EXPECT_EQ(run('A', "SELECT k, v, r, done FROM t WHERE k = $1 OR k = $1 || $2", {"k", "x"}),
              "k|7|7.500000|1");
    EXPECT_EQ(run('A', "SELECT v FROM t WHERE k = $1", {}), "08P01");
    EXPECT_EQ(run('A', "SELECT v FROM t WHERE k = $1", {"k", "x"}), "08P01");
    EXPECT_EQ(run('A', "SELECT v FROM t WHERE k = ?", {"k"}), "42601");
    EXPECT_EQ(run('A', "SELECT v FROM t WHERE k = $0", {"k"}), "42P02");
}

TEST_F(DatabaseStatementsTest, ReturningAnswersRowsAndTheirNumber) {
    const Outcome outcome = engine.execute(
        of('A'), "INSERT INTO t (k, v) VALUES ('a', 1), ('b', 2) RETURNING k, v, done");
    const auto& result = std::get<SqlResult>(outcome);
    EXPECT_EQ(text_of(result), "a|1|0 b|2|0");
    EXPECT_EQ(result.affected(), 2);
    EXPECT_EQ(run('A', "UPDATE t SET v = v + 1, done = TRUE WHERE v > 1 RETURNING k, v, done"),
              "b|3|1");
    EXPECT_EQ(run('A', "DELETE FROM t RETURNING k"), "a b");
}

TEST_F(DatabaseStatementsTest, CastsAreUnderstood) {
    EXPECT_EQ(
        run('A', "SELECT $1::bigint + 1, '5'::int, ($2)::text, lower('X')::varchar(3)", {1, 7}),
        "2|5|7|x");
    EXPECT_EQ(run('A', "SELECT '2026-03-02'::timestamptz, '{}'::jsonb"), "2026-03-02|{}");
}

TEST_F(DatabaseStatementsTest, SeveralStatementsInOneAreRefused) {
    EXPECT_EQ(message("SELECT 1; SELECT 2"),
              "cannot insert multiple commands into a prepared statement");
    EXPECT_EQ(run('A', "SELECT ';' ;"), ";");
}

TEST_F(DatabaseStatementsTest, FailuresHavePostgresCodesAndWording) {
    run('A', "INSERT INTO t (k) VALUES ('a')");
    EXPECT_EQ(message("INSERT INTO t (k) VALUES ('a')"),
              "duplicate key value violates unique constraint \"t_pkey\"");
    EXPECT_EQ(message("INSERT INTO t (v) VALUES (1)"),
              "null value in column \"k\" of relation \"t\" violates not-null constraint");
    EXPECT_EQ(run('A', "INSERT INTO t (k, v) VALUES ('b', NULL)"), "23502");
    EXPECT_EQ(run('A', "UPDATE t SET v = 5000"), "23514");
    EXPECT_EQ(message("SELECT nope FROM t"), "column \"nope\" does not exist");
    EXPECT_EQ(message("SELECT * FROM nope"), "relation \"nope\" does not exist");
    EXPECT_EQ(message("SELECT * FROM nope FOR UPDATE"), "relation \"nope\" does not exist");
    EXPECT_EQ(message("selec"), "syntax error at or near \"selec\"");
    EXPECT_EQ(message("DELETE FROM t LIMIT 1"), "syntax error at or near \"LIMIT\"");
    EXPECT_EQ(message("INSERT OR REPLACE INTO t VALUES (1)"), "syntax error at or near \"OR\"");
    EXPECT_EQ(message("SELECT 'open"), "unterminated quoted string");
    EXPECT_EQ(run('A', "INSERT INTO t (k) VALUES ('x') ON CONFLICT (v) DO NOTHING"), "42P10");
    EXPECT_EQ(run('A', "VACUUM"), "0A000");
    EXPECT_EQ(run('A', "PRAGMA foreign_keys = OFF"), "42601");
    EXPECT_EQ(run('A', "ATTACH 'x' AS y"), "42601");
    EXPECT_EQ(run('A', "SELECT a.k FROM t a, t b FOR UPDATE"), "0A000");
}

TEST_F(DatabaseStatementsTest, SqlitesClockAndRandomnessAreOutOfReach) {
    for (const char* sql : {"SELECT random()", "SELECT CURRENT_TIMESTAMP", "SELECT datetime('now')",
                            "SELECT hex(randomblob(4))", "SELECT last_insert_rowid()",
                            "SELECT strftime('%s', 'now')"}) {
        EXPECT_EQ(run('A', sql), "0A000") << sql;
    }
    EXPECT_NE(message("SELECT random()").find("db_now_us()"), std::string::npos);
    EXPECT_NE(message("SELECT now()").find("db_now_us()"), std::string::npos);
    EXPECT_EQ(run('A', "SELECT k FROM t WHERE v > now()"), "42883");
}

TEST_F(DatabaseStatementsTest, TheClockIsTheWorlds) {
    EXPECT_EQ(message("SELECT db_now_us()"), "db_now_us() has no clock to read here");
    std::int64_t now = 1'772'474'400'000'000;
    engine.set_clock([](void* context) { return *static_cast<std::int64_t*>(context); }, &now);
    EXPECT_EQ(run('A', "SELECT db_now_us()"), "1772474400000000");
    now += 1;
    EXPECT_EQ(run('A', "INSERT INTO t (k, v) VALUES ('now', db_now_us() % 1000) RETURNING v"), "1");
}

TEST_F(DatabaseStatementsTest, OnConflictTakesASelectWithoutWhere) {
    run('A', "INSERT INTO t (k, v) VALUES ('a', 1)");
    EXPECT_EQ(run('A',
                  "INSERT INTO t (k, v) SELECT k, 9 FROM t ON CONFLICT (k) DO UPDATE SET v = "
                  "excluded.v RETURNING k, v"),
              "a|9");
    EXPECT_EQ(run('A', "INSERT INTO t DEFAULT VALUES"), "23502");
}

}  // namespace
}  // namespace fencepost::model
