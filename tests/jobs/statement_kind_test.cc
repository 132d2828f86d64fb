#include "jobs/statement_kind.h"

#include <gtest/gtest.h>

namespace fencepost::jobs {
namespace {

TEST(StatementKind, TellsWhatOnlyReads) {
    for (const char* statement :
         {"SELECT 1", "  select balance from account where id = $1 for update skip locked",
          "-- the newest\nSELECT max(id) FROM t", "/* x */ VALUES (1)", "TABLE account",
          "SHOW transaction_isolation", "WITH a AS (SELECT 1) SELECT * FROM a FOR NO KEY UPDATE",
          "WITH a AS (SELECT 'INSERT' AS \"delete\") SELECT * FROM a -- UPDATE"}) {
        EXPECT_TRUE(only_reads(statement)) << statement;
    }
}

TEST(StatementKind, TakesNothingElseForReading) {
    for (const char* statement :
         {"INSERT INTO t VALUES (1)", "update t set x = 1", "DELETE FROM t", "BEGIN", "COMMIT",
          "TRUNCATE t", "", ";", "CREATE TABLE t (id BIGINT PRIMARY KEY)",
          "-- SELECT\nDELETE FROM t", "/* SELECT */ DELETE FROM t", "SELECTED",
          "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
          "with new as (insert into t values (1) returning id) select id from new", "'SELECT'"}) {
        EXPECT_FALSE(only_reads(statement)) << statement;
    }
}

TEST(StatementKind, EndsAtAnUnclosedQuoteOrComment) {
    EXPECT_TRUE(only_reads("SELECT 'x"));
    EXPECT_FALSE(only_reads("/* SELECT"));
}

TEST(StatementKind, TellsWhatBeginsOrEndsATransaction) {
    for (const char* statement :
         {"BEGIN", "begin isolation level serializable", "START TRANSACTION", "COMMIT",
          "-- done\ncommit;", "END", "ABORT", "ROLLBACK", "ROLLBACK;", "rollback work",
          "ROLLBACK AND CHAIN", "PREPARE TRANSACTION 'x'"}) {
        EXPECT_TRUE(controls_transaction(statement)) << statement;
    }
    for (const char* statement :
         {"SAVEPOINT s", "RELEASE s", "ROLLBACK TO s", "ROLLBACK TO SAVEPOINT s",
          "rollback work to s", "ROLLBACK TRANSACTION TO SAVEPOINT s", "PREPARE x AS SELECT 1",
          "SELECT 'COMMIT'", "", "UPDATE t SET x = 1 -- COMMIT"}) {
        EXPECT_FALSE(controls_transaction(statement)) << statement;
    }
}

}  // namespace
}  // namespace fencepost::jobs
