// Goal: the database model answers like a real PostgreSQL 15.
//
// Method: random interleavings of two and three sessions run on both, step by step. The real one is
// a private cluster; without PostgreSQL on this machine the tests are skipped and say so.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/fidelity/postgres/compare.h"

namespace fencepost::fidelity {
namespace {

TEST(PostgresFidelityTest, InterleavingsAtReadCommittedAnswerAlike) {
    PostgresOptions options{.cases = 2000, .seed = 15};
    if (const char* cases = std::getenv("CASES")) options.cases = std::atoll(cases);
    if (const char* seed = std::getenv("SEED")) options.seed = std::strtoull(seed, nullptr, 0);
    if (const char* level = std::getenv("LEVEL"))
        options.level = static_cast<model::IsolationLevel>(std::atoi(level));
    if (std::getenv("ALL") == nullptr) options.first_only = true;
    const PostgresComparison result = compare_postgres(options);
    if (result.skipped) GTEST_SKIP() << *result.skipped;
    std::cout << result.version << ": " << result.cases << " interleavings, " << result.steps
              << " steps, " << result.differences << " differences, " << result.seconds << " s\n";
    for (const auto& [what, count] : result.seen) std::cout << "  " << count << " " << what << "\n";
    EXPECT_EQ(result.differences, 0) << result.first_difference;
    EXPECT_EQ(result.cases, options.cases);
}

}  // namespace
}  // namespace fencepost::fidelity
