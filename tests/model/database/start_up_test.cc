// Goal: sessions that define the same things at the same time get what PostgreSQL 15 answers.
//
// Method: the dialogues about tables, columns, indexes and locks were held with PostgreSQL 15
// first; the answers are its own. Which of several waiters goes on first is chance there, and the
// order of waiting here.
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

// How one row with an empty text reads: the answer of a function of type void.
const std::string kLocked = "no rows";

class DatabaseStartUpTest : public DatabaseTest {
protected:
    // The failure of the completion of a statement that waited, as "code message".
    std::string failure_of_the_wait() {
        for (const Completion& completion : engine.take_completions()) {
            const auto* failure = std::get_if<SqlFailure>(&completion.answer);
            return failure == nullptr ? "none" : failure->sqlstate + " " + failure->message;
        }
        return "nobody has gone on";
    }
};

TEST_F(DatabaseStartUpTest, CreateTableIfNotExistsWaitsForAnotherAndMeetsTheCatalogue) {
    start("");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "CREATE TABLE IF NOT EXISTS n (id BIGINT PRIMARY KEY)"), "0");
    EXPECT_EQ(run('B', "CREATE TABLE IF NOT EXISTS n (id BIGINT PRIMARY KEY)"), "waits");
    EXPECT_EQ(engine.describe_wait(of('B')), "the name n held by session 1");
    run('A', "COMMIT");
    EXPECT_EQ(failure_of_the_wait(),
              "23505 duplicate key value violates unique constraint \"pg_type_typname_nsp_index\"");
    EXPECT_EQ(run('B', "CREATE TABLE IF NOT EXISTS n (id BIGINT PRIMARY KEY)"), "0");
    EXPECT_EQ(run('B', "CREATE TABLE n (id BIGINT PRIMARY KEY)"), "42P07");
}

TEST_F(DatabaseStartUpTest, CreateTableGoesOnWhenTheOtherIsRolledBack) {
    start("");
    run('A', "BEGIN");
    run('A', "CREATE TABLE n (id BIGINT PRIMARY KEY)");
    EXPECT_EQ(run('B', "CREATE TABLE n (id BIGINT PRIMARY KEY, v BIGINT)"), "waits");
    EXPECT_EQ(run('C', "CREATE TABLE n (id BIGINT PRIMARY KEY)"), "waits");
    run('A', "ROLLBACK");
    EXPECT_EQ(gone_on(), "B: 0, C: 23505");
    EXPECT_EQ(run('A', "INSERT INTO n VALUES (1, 2)"), "1");
}

TEST_F(DatabaseStartUpTest, IndexesOfOneTableAreMadeSideBySideAndOfOneNameInTurn) {
    start("CREATE TABLE n (id BIGINT PRIMARY KEY, v BIGINT);");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "CREATE INDEX n_x ON n (v)"), "0");
    EXPECT_EQ(run('B', "SELECT v FROM n"), "no rows");
    EXPECT_EQ(run('B', "SELECT v FROM n FOR UPDATE"), "no rows");
    EXPECT_EQ(run('B', "CREATE INDEX n_y ON n (v)"), "0");
    EXPECT_EQ(run('B', "CREATE INDEX IF NOT EXISTS n_x ON n (v)"), "waits");
    EXPECT_EQ(run('C', "INSERT INTO n VALUES (1, 1)"), "waits");
    EXPECT_EQ(run('D', "ALTER TABLE n ADD COLUMN w BIGINT"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 23505, C: 1, D: 0");
    EXPECT_EQ(run('B', "CREATE INDEX n_x ON n (v)"), "42P07");
    EXPECT_EQ(run('B', "CREATE INDEX IF NOT EXISTS n_x ON n (v)"), "0");
}

TEST_F(DatabaseStartUpTest, CreateIndexWaitsForWritersAndNotForWhoLocksRows) {
    start("CREATE TABLE n (id BIGINT PRIMARY KEY); INSERT INTO n VALUES (1);");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "SELECT id FROM n FOR UPDATE"), "1");
    EXPECT_EQ(run('B', "CREATE INDEX n_z ON n (id)"), "0");
    run('A', "INSERT INTO n VALUES (2)");
    EXPECT_EQ(run('B', "CREATE INDEX n_w ON n (id)"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0");
}

TEST_F(DatabaseStartUpTest, AddColumnIfNotExistsLooksAfterItsWait) {
    start("CREATE TABLE n (id BIGINT PRIMARY KEY);");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "ALTER TABLE n ADD COLUMN IF NOT EXISTS w BIGINT"), "0");
    EXPECT_EQ(run('B', "ALTER TABLE n ADD COLUMN IF NOT EXISTS w BIGINT"), "waits");
    EXPECT_EQ(run('C', "ALTER TABLE n ADD COLUMN w BIGINT"), "waits");
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: 0, C: 42701");
}

TEST_F(DatabaseStartUpTest, TablesAndIndexesShareTheirNames) {
    start("CREATE TABLE n (id BIGINT PRIMARY KEY, v BIGINT); CREATE INDEX n_x ON n (v);");
    EXPECT_EQ(run('A', "CREATE INDEX n ON n (v)"), "42P07");
    EXPECT_EQ(run('A', "CREATE INDEX IF NOT EXISTS n ON n (v)"), "0");
    EXPECT_EQ(run('A', "CREATE TABLE n_x (id BIGINT PRIMARY KEY)"), "42P07");
    EXPECT_EQ(run('A', "CREATE TABLE n_pkey (id BIGINT PRIMARY KEY)"), "42P07");
    EXPECT_EQ(run('A', "CREATE TABLE IF NOT EXISTS n_x (id BIGINT PRIMARY KEY)"), "0");
    EXPECT_EQ(run('A', "CREATE INDEX q ON nonesuch (id)"), "42P01");
    EXPECT_EQ(run('A', "CREATE INDEX IF NOT EXISTS n_x ON nonesuch (id)"), "42P01");
    EXPECT_EQ(run('A', "CREATE INDEX q ON n (nonesuch)"), "42703");
}

TEST_F(DatabaseStartUpTest, AnIndexWithoutANameGetsTheFirstFreeOne) {
    start("CREATE TABLE n (id BIGINT PRIMARY KEY, v BIGINT, w TEXT);");
    for (int time = 0; time < 3; ++time) run('A', "CREATE INDEX ON n (v, w)");
    run('A', "CREATE UNIQUE INDEX ON n USING btree (lower(w))");
    EXPECT_EQ(run('A', "CREATE INDEX IF NOT EXISTS ON n (v)"), "42601");
    std::string names;
    for (const IndexInfo& index : engine.schema().find("n")->indexes) {
        names += index.name + (index.unique ? " unique " : " ") + index.definition + "; ";
    }
    EXPECT_EQ(names,
              "n_v_w_idx (v, w); n_v_w_idx1 (v, w); n_v_w_idx2 (v, w); "
              "n_lower_idx unique (lower(w)); ");
}

TEST_F(DatabaseStartUpTest, AUniqueIndexOverDuplicatesIsRefused) {
    start("CREATE TABLE n (id BIGINT PRIMARY KEY, v BIGINT); INSERT INTO n VALUES (1, 7), (2, 7);");
    const Outcome outcome = engine.execute(of('A'), "CREATE UNIQUE INDEX n_v ON n (v)");
    EXPECT_EQ(std::get<SqlFailure>(outcome),
              (SqlFailure{"23505", "could not create unique index \"n_v\""}));
}

TEST_F(DatabaseStartUpTest, TablesMadeSideBySideKeepTheirRowsApart) {
    start("CREATE TABLE first (id BIGINT PRIMARY KEY);");
    run('A', "BEGIN");
    run('B', "BEGIN");
    run('A', "CREATE TABLE x (id BIGINT PRIMARY KEY)");
    run('B', "CREATE TABLE y (id BIGINT PRIMARY KEY, v TEXT)");
    EXPECT_EQ(run('A', "INSERT INTO x VALUES (1)"), "1");
    EXPECT_EQ(run('B', "INSERT INTO y VALUES (1, 'b')"), "1");
    EXPECT_EQ(run('A', "INSERT INTO x VALUES (2)"), "1");
    run('B', "COMMIT");
    EXPECT_EQ(run('A', "SELECT id FROM x ORDER BY id"), "1 2");
    EXPECT_EQ(run('A', "SELECT v FROM y"), "b");
    run('A', "COMMIT");
    EXPECT_EQ(run('B', "SELECT x.id, y.v FROM x, y ORDER BY x.id"), "1|b 2|b");
    EXPECT_EQ(run('B', "UPDATE y SET v = 'c' RETURNING v"), "c");
}

TEST_F(DatabaseStartUpTest, TellsWhenASchemaIsCommitted) {
    start("");
    std::vector<SessionId> told;
    engine.set_schema_observer(
        [&](SessionId session, std::span<const std::string>) { told.push_back(session); });
    run('A', "CREATE TABLE n (id BIGINT PRIMARY KEY)");
    run('A', "CREATE TABLE IF NOT EXISTS n (id BIGINT PRIMARY KEY)");
    run('B', "BEGIN");
    run('B', "CREATE INDEX n_x ON n (id)");
    run('B', "CREATE INDEX n_y ON n (id)");
    EXPECT_EQ(told, (std::vector<SessionId>{of('A')}));
    run('B', "COMMIT");
    EXPECT_EQ(told, (std::vector<SessionId>{of('A'), of('B')}));
    run('B', "BEGIN");
    run('B', "DROP TABLE n");
    run('B', "ROLLBACK");
    EXPECT_EQ(told.size(), 2U);
}

TEST_F(DatabaseStartUpTest, TellsWhatACommittedTransactionHasDroppedThoughItIsThereAgain) {
    start("CREATE TABLE n (id BIGINT PRIMARY KEY); CREATE TABLE o (id BIGINT PRIMARY KEY);");
    std::vector<std::string> told;
    engine.set_schema_observer([&](SessionId, std::span<const std::string> dropped) {
        told.insert(told.end(), dropped.begin(), dropped.end());
    });
    run('A', "BEGIN");
    run('A', "DROP TABLE n");
    run('A', "CREATE TABLE n (id BIGINT PRIMARY KEY)");
    run('A', "SAVEPOINT s");
    run('A', "DROP TABLE o");
    run('A', "ROLLBACK TO SAVEPOINT s");
    EXPECT_EQ(told, std::vector<std::string>{});
    run('A', "COMMIT");
    EXPECT_EQ(told, std::vector<std::string>{"n"});
}

TEST_F(DatabaseStartUpTest, AdvisoryLocksAreHeldUntilTheirTransactionEnds) {
    start("");
    run('A', "BEGIN");
    EXPECT_EQ(run('A', "SELECT pg_advisory_xact_lock(42)"), kLocked);
    EXPECT_EQ(run('A', "SELECT pg_advisory_xact_lock(42)"), kLocked);
    run('B', "BEGIN");
    EXPECT_EQ(run('B', "SELECT pg_try_advisory_xact_lock(42)"), "0");
    EXPECT_EQ(run('B', "SELECT pg_advisory_xact_lock($1)", {std::int64_t{42}}), "waits");
    EXPECT_EQ(engine.describe_wait(of('B')), "advisory lock 42 held by session 1");
    EXPECT_EQ(run('C', "SELECT pg_advisory_xact_lock(42)"), "waits");
    EXPECT_EQ(run('D', "SELECT pg_advisory_xact_lock(-43)"), kLocked);
    run('A', "COMMIT");
    EXPECT_EQ(gone_on(), "B: " + kLocked);
    run('B', "ROLLBACK");
    EXPECT_EQ(gone_on(), "C: " + kLocked);
    EXPECT_EQ(run('B', "SELECT pg_try_advisory_xact_lock(42)"), "1");  // of a statement on its own
}

TEST_F(DatabaseStartUpTest, AdvisoryLocksGoBackWithTheirSavepointAndWithAFailure) {
    start("");
    run('A', "BEGIN");
    run('A', "SAVEPOINT s");
    run('A', "SELECT pg_advisory_xact_lock(hashtext('start-up'))");
    EXPECT_EQ(run('B', "SELECT pg_try_advisory_xact_lock(hashtext($1))", {std::string("start-up")}),
              "0");
    run('A', "ROLLBACK TO s");
    EXPECT_EQ(run('B', "SELECT pg_try_advisory_xact_lock(hashtext('start-up'))"), "1");
    run('A', "SELECT pg_advisory_xact_lock(1)");
    EXPECT_EQ(run('A', "SELECT * FROM nonesuch"), "42P01");
    EXPECT_EQ(run('B', "SELECT pg_try_advisory_xact_lock(1)"), "1");
}

TEST_F(DatabaseStartUpTest, ADeadlockOfAnAdvisoryLockWithARowIsFound) {
    start("CREATE TABLE k (id BIGINT PRIMARY KEY); INSERT INTO k VALUES (1);");
    run('A', "BEGIN");
    run('A', "SELECT pg_advisory_xact_lock(42)");
    run('B', "BEGIN");
    run('B', "SELECT id FROM k FOR UPDATE");
    EXPECT_EQ(run('B', "SELECT pg_advisory_xact_lock(42)"), "waits");
    EXPECT_EQ(run('A', "DELETE FROM k"), "waits");
    EXPECT_TRUE(engine.in_deadlock(of('B')));
    engine.fail_wait(of('B'), {"40P01", "deadlock detected"});
    EXPECT_EQ(gone_on(), "B: 40P01, A: 1");
}

TEST_F(DatabaseStartUpTest, OtherFormsOfAdvisoryLocksAreRefusedInWords) {
    start("CREATE TABLE k (id BIGINT PRIMARY KEY);");
    EXPECT_EQ(run('A', "SELECT pg_advisory_xact_lock(1, 2)"), "0A000");
    EXPECT_EQ(run('A', "SELECT pg_advisory_xact_lock(id) FROM k"), "0A000");
    EXPECT_EQ(run('A', "SELECT 1, pg_advisory_xact_lock(1)"), "0A000");
    EXPECT_EQ(run('A', "SELECT pg_advisory_xact_lock($1)", {std::string("a")}), "22P02");
    EXPECT_EQ(run('A', "SELECT pg_advisory_xact_lock($1)"), "08P01");
}

}  // namespace
}  // namespace fencepost::model
