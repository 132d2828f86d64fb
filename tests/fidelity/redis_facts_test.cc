// Goal: what was observed of Redis 7.0.15 holds of the model.
#include "tests/model/redis/fixture.h"

namespace fencepost::model {
namespace {

TEST_F(RedisTest, GivenPttlWhenTheKeyIsMissingWithoutDeadlineOrHeldThenTheThreeDiffer_R_TTL_1) {
    run({"SET", "forever", "x"});
    run({"SET", "held", "x", "PX", "1500"});
    EXPECT_EQ(run({"PTTL", "missing"}), number(-2));
    EXPECT_EQ(run({"PTTL", "forever"}), number(-1));
    EXPECT_EQ(run({"PTTL", "held"}), number(1500));
}

}  // namespace
}  // namespace fencepost::model
