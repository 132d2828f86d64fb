// Goal: the database model answers like a real PostgreSQL 15, at each isolation level.
//
// Method: random interleavings of two and three sessions run on both, step by step. The real one is
// a private cluster; without PostgreSQL on this machine the tests are skipped and say so. What the
// server has shown is counted, so that nothing passes that never happened.
#include <gtest/gtest.h>

#include "tests/fidelity/postgres/compare.h"
#include "tests/fidelity/postgres/shared_cluster.h"

namespace fencepost::fidelity {
namespace {

void expect_alike(PostgresOptions options, const std::vector<const char*>& needed) {
    const auto& cluster = shared_cluster();
    if (!cluster) GTEST_SKIP() << cluster.error();
    options.cluster = cluster->get();
    const PostgresComparison result = compare_postgres(options);
    std::cout << result.version << ": " << result.cases << " interleavings, " << result.steps
              << " steps, " << result.differences << " differences, " << result.seconds << " s\n";
    for (const auto& [what, count] : result.seen) std::cout << "  " << count << " " << what << "\n";
    std::int64_t known = 0;
    for (const auto& [what, count] : result.known) {
        std::cout << "  " << count << " known differences: " << what << "\n";
        known += count;
    }
    EXPECT_EQ(result.differences, 0) << result.first_difference;
    EXPECT_EQ(result.cases, options.cases);
    // A case ends at a known difference: most must not.
    EXPECT_LE(known * 100, result.cases);
    for (const char* what : needed) EXPECT_GT(result.seen.count(what), 0U) << what;
}

TEST(PostgresFidelityTest, InterleavingsAtReadCommittedAnswerAlike) {
    expect_alike({.cases = 1500, .seed = 15},
                 {"a session waits", "two sessions wait", "a session goes on", "error 23503",
                  "error 23505", "error 25P02", "error 40P01", "error 55P03"});
}

TEST(PostgresFidelityTest, InterleavingsAtRepeatableReadAnswerAlike) {
    expect_alike({.cases = 400, .seed = 15, .level = model::IsolationLevel::RepeatableRead},
                 {"a session waits", "a session goes on", "error 23505", "error 40001"});
}

TEST(PostgresFidelityTest, InterleavingsAtSerializableAnswerAlike) {
    expect_alike({.cases = 400, .seed = 15, .level = model::IsolationLevel::Serializable},
                 {"a session waits", "a session goes on", "error 23505", "error 40001"});
}

}  // namespace
}  // namespace fencepost::fidelity
