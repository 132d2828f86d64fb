// Goal: the server that the model is compared with is what it seems: its clock is the test's, it
// ends with its object, and time stands still within its scripts.
#include "tests/fidelity/redis/processes.h"

#include <gtest/gtest.h>

#include "tests/fidelity/redis/session.h"

namespace fencepost::fidelity {
namespace {

class RedisProcessTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto missing = redis_server_is_missing()) GTEST_SKIP() << *missing;
        clock_.set(kStartUs);
        server_.start();
    }

    ScratchFolder folder_;
    ServerClock clock_{folder_.path() / "clock"};
    RedisProcess server_{clock_, folder_.path() / "server", {"--port", "0", "--save", ""}};
};

TEST_F(RedisProcessTest, ItsWallClockIsTheTests) {
    RedisConnection connection = server_.connect();
    clock_.set(kStartUs + 1'234'567);
    EXPECT_EQ(connection.command({"TIME"}),
              Reply::array({Reply::bulk("1700000001"), Reply::bulk("234567")}));
    EXPECT_EQ(connection.command({"SET", "k", "v", "PX", "10"}), Reply::status("OK"));
    clock_.set(kStartUs + 1'244'999);
    EXPECT_EQ(connection.command({"PTTL", "k"}), Reply::number(0));
    clock_.set(kStartUs + 1'245'000);
    EXPECT_EQ(connection.command({"PTTL", "k"}), Reply::number(-2));
}

// In the model a command and a script have one time. The clock of the comparison stands still, so
// that alone would not show it. Whether a key has expired is judged by the time of the script's
// beginning; how long it has left, PTTL tells by the clock as it goes on.
TEST_F(RedisProcessTest, NoKeyVanishesWithinAScriptThoughTheClockGoesOn) {
    RedisConnection connection = server_.connect();
    clock_.advance_at_each_reading(1000);
    const std::string script =
        "redis.call('SET', 'k', 'v', 'PX', 5)\n"
        "for i = 1, 1000 do\n"
        "  redis.call('TIME')\n"
        "  if redis.call('EXISTS', 'k') == 0 then return i end\n"
        "end\n"
        "return redis.call('PTTL', 'k')";
    EXPECT_EQ(connection.command({"EVAL", script, "0"}), Reply::number(0));
    EXPECT_GT(clock_.wall_us(), kStartUs + 1'000'000);
    EXPECT_EQ(connection.command({"EXISTS", "k"}), Reply::number(0));
}

TEST_F(RedisProcessTest, ItEndsWithItsObject) {
    const auto other_folder = folder_.path() / "other";
    {
        RedisProcess other(clock_, other_folder, {"--port", "0"});
        other.start();
        RedisConnection connection = other.connect();
        EXPECT_EQ(connection.command({"PING"}), Reply::status("PONG"));
    }
    EXPECT_THROW(RedisConnection(other_folder / "socket"), std::runtime_error);
}

}  // namespace
}  // namespace fencepost::fidelity
