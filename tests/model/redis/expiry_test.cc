// Deadlines: absolute, on Redis's own wall clock, and found out lazily.
#include "tests/model/redis/fixture.h"

namespace fencepost::model {
namespace {

TEST_F(RedisTest, AKeyIsThereAtItsDeadlineAndGoneAfterIt) {
    run({"SET", "lease", "a", "NX", "PX", "1000"});
    EXPECT_EQ(run({"PEXPIRETIME", "lease"}), number(kStartMs + 1000));
    pass(1000ms);
    EXPECT_EQ(run({"EXISTS", "lease"}), number(1));
    EXPECT_EQ(run({"PTTL", "lease"}), number(0));
    EXPECT_EQ(run({"SET", "lease", "b", "NX"}), nil());
    pass(999us);
    EXPECT_EQ(run({"EXISTS", "lease"}), number(1));
    pass(1us);
    EXPECT_EQ(run({"EXISTS", "lease"}), number(0));
    EXPECT_EQ(run({"PTTL", "lease"}), number(-2));
    EXPECT_EQ(run({"SET", "lease", "b", "NX"}), ok());
}

TEST_F(RedisTest, PttlTellsMissingFromWithoutDeadlineFromHeld) {
    run({"SET", "k", "v"});
    EXPECT_EQ(run({"PTTL", "missing"}), number(-2));
    EXPECT_EQ(run({"PTTL", "k"}), number(-1));
    EXPECT_EQ(run({"EXPIRETIME", "k"}), number(-1));
    run({"PEXPIRE", "k", "1499"});
    EXPECT_EQ(run({"PTTL", "k"}), number(1499));
    EXPECT_EQ(run({"TTL", "k"}), number(1));
    run({"PEXPIRE", "k", "1500"});
    EXPECT_EQ(run({"TTL", "k"}), number(2));
}

TEST_F(RedisTest, PexpireOfTheMissingTheHeldAndThePast) {
    EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), number(0));
    run({"SET", "k", "v"});
    EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), number(1));
    EXPECT_EQ(run({"PEXPIRE", "k", "500", "GT"}), number(0));
    EXPECT_EQ(run({"PEXPIRE", "k", "2000", "GT"}), number(1));
    EXPECT_EQ(run({"PEXPIRE", "k", "3000", "NX"}), number(0));
    EXPECT_EQ(run({"PEXPIRE", "k", "1000", "XX"}), number(1));
    EXPECT_EQ(run({"PEXPIRE", "k", "500", "LT"}), number(1));
    EXPECT_EQ(run({"PEXPIRE", "k", "0"}), number(1));
    EXPECT_EQ(run({"EXISTS", "k"}), number(0));
}

TEST_F(RedisTest, ExpireOptionsThatContradictEachOtherAreErrors) {
    EXPECT_EQ(run({"EXPIRE", "k", "1", "NX", "GT"}),
              error("ERR NX and XX, GT or LT options at the same time are not compatible"));
    EXPECT_EQ(run({"EXPIRE", "k", "1", "GT", "LT"}),
              error("ERR GT and LT options at the same time are not compatible"));
    EXPECT_EQ(run({"EXPIRE", "k", "1", "foo"}), error("ERR Unsupported option foo"));
    EXPECT_EQ(run({"EXPIRE", "k", "9223372036854775"}),
              error("ERR invalid expire time in 'expire' command"));
}

TEST_F(RedisTest, PersistTakesTheDeadlineAway) {
    run({"SET", "k", "v", "EX", "1"});
    EXPECT_EQ(run({"PERSIST", "k"}), number(1));
    EXPECT_EQ(run({"PERSIST", "k"}), number(0));
    pass(1h);
    EXPECT_EQ(run({"GET", "k"}), bulk("v"));
}

TEST_F(RedisTest, GetExMovesTheDeadlineAndAPastOneDeletes) {
    run({"SET", "k", "v"});
    EXPECT_EQ(run({"GETEX", "k", "PX", "100"}), bulk("v"));
    EXPECT_EQ(run({"PTTL", "k"}), number(100));
    EXPECT_EQ(run({"GETEX", "k", "PXAT", "1"}), bulk("v"));
    EXPECT_EQ(run({"GET", "k"}), nil());
}

TEST_F(RedisTest, AnExpiredKeyIsCountedUntilSomeoneComesUponIt) {
    run({"SET", "a", "5", "PX", "10"});
    run({"SET", "b", "5", "PX", "10"});
    pass(11ms);
    EXPECT_EQ(run({"DBSIZE"}), number(2));
    EXPECT_EQ(run({"INCR", "a"}), number(1));
    EXPECT_EQ(run({"PTTL", "a"}), number(-1));
    EXPECT_EQ(run({"GET", "b"}), nil());
    EXPECT_EQ(run({"DBSIZE"}), number(1));
}

TEST_F(RedisTest, KeysLeavesOutWhatHasExpiredAndLetsItLie) {
    run({"SET", "a", "5", "PX", "10"});
    run({"SET", "b", "5"});
    pass(11ms);
    EXPECT_EQ(run({"KEYS", "*"}), Reply::array({bulk("b")}));
    EXPECT_EQ(run({"DBSIZE"}), number(2));
}

TEST_F(RedisTest, AStepOfTheWallClockShortensOrProlongsALease) {
    run({"SET", "lease", "a", "PX", "10000"});
    step_wall_clock(8s);
    EXPECT_EQ(run({"PTTL", "lease"}), number(2000));
    step_wall_clock(-18s);
    EXPECT_EQ(run({"PTTL", "lease"}), number(20000));
    step_wall_clock(22s);
    EXPECT_EQ(run({"GET", "lease"}), nil());
}

TEST_F(RedisTest, TheTimeToLiveCountsFromExecution) {
    pass(600ms);
    run({"SET", "k", "v", "PX", "500"});
    EXPECT_EQ(run({"PTTL", "k"}), number(500));
}

TEST_F(RedisTest, TimeIsTheWallClockInSecondsAndMicroseconds) {
    step_wall_clock(1234567us);
    EXPECT_EQ(run({"TIME"}), Reply::array({bulk("1700000001"), bulk("234567")}));
}

TEST_F(RedisTest, TheObserverSeesWhoChangedWhat) {
    using Kind = KeyChange::Kind;
    run({"SET", "k", "a", "PX", "1000"});
    run({"SET", "k", "b", "KEEPTTL"});
    run({"PEXPIRE", "k", "5000"});
    run({"GET", "k"});
    pass(5001ms);
    EXPECT_EQ(server_.execute(8, {"GET", "k"}, now()), nil());
    run({"SET", "k", "c"});
    run({"DEL", "k"});
    const std::vector<Seen> expected = {
        {Kind::Set, "k", "-", "a", kStartMs + 1000, kClient},
        {Kind::Set, "k", "a", "b", kStartMs + 1000, kClient},
        {Kind::ExpirySet, "k", "b", "b", kStartMs + 5000, kClient},
        {Kind::Expired, "k", "b", "-", -1, 8},
        {Kind::Set, "k", "-", "c", -1, kClient},
        {Kind::Deleted, "k", "c", "-", -1, kClient},
    };
    EXPECT_EQ(seen_, expected);
}

TEST_F(RedisTest, AnEvictedKeyIsGoneAndReported) {
    run({"SET", "k", "v"});
    EXPECT_TRUE(server_.evict("k", now()));
    EXPECT_FALSE(server_.evict("k", now()));
    EXPECT_EQ(run({"GET", "k"}), nil());
    EXPECT_EQ(seen_.back(), (Seen{KeyChange::Kind::Evicted, "k", "v", "-", -1, kNoClient}));
}

TEST_F(RedisTest, HashChangesAreReportedFieldByField) {
    std::vector<std::string> fields;
    server_.set_observer([&](const KeyChange& change) {
        fields.push_back(std::string(change.field.value_or("(whole)")) + "=" +
                         std::string(change.after.value_or("-")));
    });
    run({"HSET", "h", "a", "1", "b", "2"});
    run({"HDEL", "h", "a"});
    run({"DEL", "h"});
    EXPECT_EQ(fields, (std::vector<std::string>{"a=1", "b=2", "a=-", "(whole)=-"}));
}

TEST_F(RedisTest, APeekAnswersAsACommandWouldAndLeavesAnExpiredKeyWhereItIs) {
    run({"SET", "k", "v", "PX", "1000"});
    const std::vector<std::string> get{"GET", "k"};
    EXPECT_EQ(server_.peek(get, now()), Reply::bulk("v"));
    pass(2s);
    seen_.clear();
    EXPECT_EQ(server_.peek(get, now()), Reply::nil());
    EXPECT_TRUE(seen_.empty()) << "it is not found to have expired";
    run({"GET", "k"});
    EXPECT_EQ(seen_.size(), 1U);
}

}  // namespace
}  // namespace fencepost::model
