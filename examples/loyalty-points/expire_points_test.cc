// Goal: points expire once a night, whatever happens to the cluster.
#include <fencepost/gtest.h>

#include "handler.h"

namespace loyalty {
namespace {

TEST(ExpirePointsTest, PassTheAcceptanceChecklist) {
    EXPECT_FENCEPOST_ACCEPTS(expire_points_handler());
}

FENCEPOST_SCENARIO_TEST(ExpirePointsTest, SurviveACrashBeforeTheAnswer, "crash-before-response",
                        expire_points_handler(), 500)

// A test that cannot fail shows nothing.
TEST(ExpirePointsTest, LookingFirstIsNotEnough) {
    const auto verdict = fencepost::kit::hold("same-instant", look_first_handler(), 200);
    ASSERT_FALSE(verdict.accepted);
    EXPECT_EQ(verdict.failures.front().failure.invariant, "once");
}

}  // namespace
}  // namespace loyalty
