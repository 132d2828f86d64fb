// DDL in images and at run time, and what the engine knows of tables.
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

class DatabaseSchemaTest : public DatabaseTest {
protected:
    static std::string error_of(const std::string& script) {
        try {
            (void)DatabaseImage::build(script);
        } catch (const ImageError& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(DatabaseSchemaTest, KnowsColumnsAndUniqueKeysWithPostgresNames) {
    const DatabaseImage image = DatabaseImage::build(
        "CREATE TABLE tenant (id BIGINT PRIMARY KEY);"
        "CREATE TABLE IF NOT EXISTS claim (tenant BIGINT NOT NULL REFERENCES tenant (id), job "
        "VARCHAR(40), "
        "  at TIMESTAMP(6) WITH TIME ZONE, doc JSONB, owner TEXT UNIQUE, CONSTRAINT claim_once "
        "UNIQUE "
        "  (job, at), PRIMARY KEY (tenant, job)) WITH (fillfactor = 70);"
        "CREATE UNIQUE INDEX CONCURRENTLY one_open ON claim USING btree (tenant) WHERE owner IS "
        "NULL;");
    const TableInfo* claim = image.schema().find("claim");
    ASSERT_NE(claim, nullptr);
    EXPECT_EQ(claim->columns.size(), 5U);
    EXPECT_EQ(claim->primary_key(), (std::vector<std::uint16_t>{0, 1}));
    std::string names;
    for (const UniqueIndex& index : claim->uniques) names += index.name + " ";
    EXPECT_EQ(names, "claim_pkey claim_owner_key claim_once one_open ");
    EXPECT_EQ(claim->foreign_keys.size(), 1U);
    EXPECT_EQ(image.schema().find("nothing"), nullptr);
}

TEST_F(DatabaseSchemaTest, AWrongScriptSaysWhereAndWhat) {
    EXPECT_EQ(
        error_of("CREATE TABLE a (x BIGINT PRIMARY KEY);\n\nINSERT INTO b VALUES (1);"),
        "script 1, line 3: relation \"b\" does not exist (42P01) in: INSERT INTO b VALUES (1)");
    EXPECT_NE(error_of("CREATE TABLE a (x BIGINT)").find("add one, for example"),
              std::string::npos);
    EXPECT_NE(error_of("CREATE TABLE a (x BIGINT PRIMARY KEY, at TIMESTAMPTZ DEFAULT now())")
                  .find("db_now_us()"),
              std::string::npos);
    EXPECT_EQ(error_of("BEGIN"), "script 1, line 1: the script ends inside a transaction");
    EXPECT_NE(error_of("CREATE FUNCTION f() RETURNS INT"), "");
    EXPECT_NE(error_of("CREATE TABLE a ("), "");
    EXPECT_EQ(error_of(" ; -- nothing\n ;"), "");
}

TEST_F(DatabaseSchemaTest, StartUpScriptsCanRunAgain) {
    start("");
    for (int time = 0; time < 3; ++time) {
        EXPECT_EQ(run('A', "CREATE TABLE IF NOT EXISTS t (k TEXT PRIMARY KEY)"), "0");
        EXPECT_EQ(run('A', "ALTER TABLE t ADD COLUMN IF NOT EXISTS v BIGINT NOT NULL DEFAULT 7"),
                  "0");
        EXPECT_EQ(run('A', "CREATE UNIQUE INDEX IF NOT EXISTS t_v ON t (v)"), "0");
    }
    EXPECT_EQ(run('A', "CREATE TABLE t (k TEXT PRIMARY KEY)"), "42P07");
    EXPECT_EQ(run('A', "ALTER TABLE t ADD COLUMN v BIGINT"), "42701");
    EXPECT_EQ(run('A', "ALTER TABLE none ADD COLUMN v BIGINT"), "42P01");
    EXPECT_EQ(run('A', "ALTER TABLE IF EXISTS none ADD COLUMN v BIGINT"), "0");
    EXPECT_EQ(run('A', "INSERT INTO t (k) VALUES ('a')"), "1");
    EXPECT_EQ(run('A', "INSERT INTO t (k) VALUES ('b')"), "23505");
    EXPECT_EQ(run('A', "DROP INDEX t_v"), "0");
    EXPECT_EQ(run('A', "INSERT INTO t (k) VALUES ('b')"), "1");
    EXPECT_EQ(run('A', "ALTER TABLE t ADD CONSTRAINT t_v UNIQUE (v)"), "23505");
    EXPECT_EQ(run('A', "DROP TABLE IF EXISTS t CASCADE"), "0");
    EXPECT_EQ(run('A', "SELECT * FROM t"), "42P01");
}

TEST_F(DatabaseSchemaTest, DdlIsPartOfItsTransaction) {
    start("CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES ('a');");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "INSERT INTO t VALUES ('b')"), "1");
    EXPECT_EQ(run('A', "ALTER TABLE t ADD COLUMN v BIGINT DEFAULT 7"), "0");
    EXPECT_EQ(run('A', "CREATE TABLE n (id BIGSERIAL PRIMARY KEY, line TEXT UNIQUE)"), "0");
    EXPECT_EQ(run('A', "INSERT INTO n (line) VALUES ('x') RETURNING id"), "1");
    EXPECT_EQ(run('A', "UPDATE t SET v = 8 WHERE k = 'b' RETURNING k, v"), "b|8");
    // Others do not see it, and wait for a table that is being altered.
    EXPECT_EQ(run('B', "SELECT * FROM n"), "42P01");
    EXPECT_EQ(run('B', "SELECT * FROM t ORDER BY k"), "waits");
    EXPECT_EQ(engine.describe_wait(of('B')), "table t held by session 1");
    EXPECT_EQ(run('A', "SELECT t.k, t.v, n.line FROM t, n ORDER BY k"), "a|7|x b|8|x");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: a|7 b|8");
    EXPECT_EQ(run('B', "SELECT id, line FROM n"), "1|x");
    EXPECT_EQ(run('B', "INSERT INTO n (line) VALUES ('x')"), "23505");

    run('A', "BEGIN");
    run('A', "CREATE TABLE gone (k TEXT PRIMARY KEY)");
    run('A', "SAVEPOINT s");
    run('A', "INSERT INTO gone VALUES ('x')");
    run('A', "CREATE TABLE gone2 (k TEXT PRIMARY KEY)");
    run('A', "ROLLBACK TO s");
    EXPECT_EQ(run('A', "SELECT * FROM gone"), "no rows");
    EXPECT_EQ(run('B', "UPDATE t SET v = 1 RETURNING k"), "a b");
    EXPECT_EQ(run('A', "SELECT * FROM gone"), "no rows");
    EXPECT_EQ(run('A', "SELECT * FROM gone2"), "42P01");
    run('A', "ROLLBACK");
    EXPECT_EQ(run('A', "SELECT * FROM gone"), "42P01");
}

TEST_F(DatabaseSchemaTest, DdlWaitsForTransactionsThatUseItsTable) {
    start(
        "CREATE TABLE t (k TEXT PRIMARY KEY); CREATE TABLE u (k TEXT PRIMARY KEY);"
        "INSERT INTO t VALUES ('a');");
    run('A', "BEGIN");
    run('A', "SELECT k FROM t FOR UPDATE");
    EXPECT_EQ(run('B', "ALTER TABLE u ADD COLUMN v BIGINT"), "0");
    EXPECT_EQ(run('B', "ALTER TABLE t ADD COLUMN v BIGINT"), "waits");
    run('A', "INSERT INTO u (k) VALUES ('x')");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0");
    EXPECT_EQ(run('B', "SELECT * FROM t"), "a|NULL");
}

TEST_F(DatabaseSchemaTest, PartialUniqueIndexesConflictOnlyWhereTheyApply) {
    start(
        "CREATE TABLE run (id BIGINT PRIMARY KEY, job TEXT, state TEXT);"
        "CREATE UNIQUE INDEX one_open ON run (job) WHERE state = 'open';"
        "CREATE UNIQUE INDEX folded ON run (lower(state), id);");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "INSERT INTO run VALUES (1, 'j', 'open')"), "1");
    EXPECT_EQ(run('B', "INSERT INTO run VALUES (2, 'j', 'done')"), "1");
    EXPECT_EQ(run('B', "INSERT INTO run VALUES (3, 'j', 'open')"), "waits");
    EXPECT_EQ(engine.describe_wait(of('B')), "unique key one_open('j') held by session 1");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23505");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "UPDATE run SET state = 'done' WHERE id = 1"), "1");
    EXPECT_EQ(run('B', "INSERT INTO run VALUES (3, 'j', 'open')"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 1");
}

TEST_F(DatabaseSchemaTest, ForeignKeysHoldAcrossOpenTransactions) {
    start(
        "CREATE TABLE p (id BIGINT PRIMARY KEY, v BIGINT); INSERT INTO p VALUES (1, 0), (2, 0);"
        "CREATE TABLE c (id BIGINT PRIMARY KEY, p BIGINT REFERENCES p (id));");
    EXPECT_EQ(run('A', "INSERT INTO c VALUES (1, 9)"), "23503");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "INSERT INTO c VALUES (1, 1)"), "1");
    EXPECT_EQ(run('B', "UPDATE p SET v = 1 WHERE id = 1"), "1");
    EXPECT_EQ(run('B', "DELETE FROM p WHERE id = 1"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23503");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "DELETE FROM p WHERE id = 2"), "1");
    EXPECT_EQ(run('B', "INSERT INTO c VALUES (2, 2)"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23503");
}

}  // namespace
}  // namespace fencepost::model
