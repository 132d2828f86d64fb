// Goal: the Redis model answers what redis-server answers, to the letter.
// Method: random sessions on both; `./fencepost fidelity` runs many more of them.
#include <gtest/gtest.h>

#include "tests/fidelity/redis/compare.h"

namespace fencepost::fidelity {
namespace {

class RedisComparisonTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RedisComparisonTest, ModelAndServerAgree) {
    if (const auto missing = redis_server_is_missing()) GTEST_SKIP() << *missing;
    const Comparison result = run(redis_comparisons()[GetParam()], {.cases = 8000, .seed = 2026});
    EXPECT_EQ(result.differences, 0) << result.what << ", seed " << result.seed << '\n'
                                     << result.first_difference;
    EXPECT_GT(result.steps, result.cases);
}

INSTANTIATE_TEST_SUITE_P(Each, RedisComparisonTest,
                         ::testing::Range<std::size_t>(0, redis_comparisons().size()));

}  // namespace
}  // namespace fencepost::fidelity
