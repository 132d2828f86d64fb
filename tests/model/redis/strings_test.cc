// Strings, keys and errors: the replies of Redis 7.0.15, letter by letter.
#include "tests/model/redis/fixture.h"

namespace fencepost::model {
namespace {

const Reply kNotAnInteger = error("ERR value is not an integer or out of range");
const Reply kSyntaxError = error("ERR syntax error");
const Reply kWrongType = error("WRONGTYPE Operation against a key holding the wrong kind of value");

TEST_F(RedisTest, ExecWithAnArgumentEndsTheTransactionThatIsNotThere) {
    EXPECT_EQ(run({"EXEC", "x"}),
              error("EXECABORT Transaction discarded because of: wrong number of "
                    "arguments for 'exec' command"));
}

TEST_F(RedisTest, AStringIsReadBackAsItWasSet) {
    EXPECT_EQ(run({"SET", "k", std::string("a\0b\r\n", 5)}), ok());
    EXPECT_EQ(run({"get", "k"}), bulk(std::string("a\0b\r\n", 5)));
    EXPECT_EQ(run({"GET", "missing"}), nil());
}

TEST_F(RedisTest, SetNxLetsTheFirstWinAndSetXxNeedsAKey) {
    EXPECT_EQ(run({"SET", "k", "a", "XX"}), nil());
    EXPECT_EQ(run({"SET", "k", "a", "NX", "PX", "1000"}), ok());
    EXPECT_EQ(run({"SET", "k", "b", "NX", "PX", "1000"}), nil());
    EXPECT_EQ(run({"SET", "k", "c", "xx"}), ok());
    EXPECT_EQ(run({"GET", "k"}), bulk("c"));
}

TEST_F(RedisTest, SetWithGetAnswersTheOldValueAlsoWhenItDoesNotSet) {
    EXPECT_EQ(run({"SET", "k", "a", "NX", "GET"}), nil());
    EXPECT_EQ(run({"SET", "k", "b", "NX", "GET"}), bulk("a"));
    EXPECT_EQ(run({"SET", "k", "c", "GET"}), bulk("a"));
    EXPECT_EQ(run({"GETSET", "k", "d"}), bulk("c"));
    EXPECT_EQ(run({"SET", "other", "x", "XX", "GET"}), nil());
    EXPECT_EQ(run({"EXISTS", "other"}), number(0));
}

TEST_F(RedisTest, SetKeepsItsDeadlineOnlyWithKeepTtl) {
    run({"SET", "k", "a", "PX", "5000"});
    EXPECT_EQ(run({"SET", "k", "b", "KEEPTTL"}), ok());
    EXPECT_EQ(run({"PTTL", "k"}), number(5000));
    EXPECT_EQ(run({"SET", "k", "c"}), ok());
    EXPECT_EQ(run({"PTTL", "k"}), number(-1));
}

TEST_F(RedisTest, OptionsThatContradictEachOtherAreSyntaxErrors) {
    EXPECT_EQ(run({"SET", "k", "v", "NX", "XX"}), kSyntaxError);
    EXPECT_EQ(run({"SET", "k", "v", "PX", "1", "EX", "1"}), kSyntaxError);
    EXPECT_EQ(run({"SET", "k", "v", "KEEPTTL", "PX", "1"}), kSyntaxError);
    EXPECT_EQ(run({"SET", "k", "v", "PX"}), kSyntaxError);
    EXPECT_EQ(run({"GETEX", "k", "PERSIST", "EX", "1"}), kSyntaxError);
    EXPECT_EQ(run({"SET", "k", "v", "PX", "5", "PX", "6"}), ok());
}

TEST_F(RedisTest, AnExpireTimeMustBePositiveAndFit) {
    const Reply invalid = error("ERR invalid expire time in 'set' command");
    EXPECT_EQ(run({"SET", "k", "v", "PX", "0"}), invalid);
    EXPECT_EQ(run({"SET", "k", "v", "PX", "-5"}), invalid);
    EXPECT_EQ(run({"SET", "k", "v", "EXAT", "0"}), invalid);
    EXPECT_EQ(run({"SET", "k", "v", "PX", "9223372036854775807"}), invalid);
    EXPECT_EQ(run({"SET", "k", "v", "EX", "9223372036854776"}), invalid);
    EXPECT_EQ(run({"SET", "k", "v", "PX", "abc"}), kNotAnInteger);
    EXPECT_EQ(run({"PSETEX", "k", "0", "v"}), error("ERR invalid expire time in 'psetex' command"));
    EXPECT_EQ(run({"EXISTS", "k"}), number(0));
}

TEST_F(RedisTest, CountersCountAndRefuseWhatIsNoNumber) {
    EXPECT_EQ(run({"INCR", "n"}), number(1));
    EXPECT_EQ(run({"INCRBY", "n", "41"}), number(42));
    EXPECT_EQ(run({"DECR", "n"}), number(41));
    EXPECT_EQ(run({"DECRBY", "n", "-9223372036854775808"}), error("ERR decrement would overflow"));
    EXPECT_EQ(run({"INCRBY", "n", "1.5"}), kNotAnInteger);
    run({"SET", "n", "9223372036854775807"});
    EXPECT_EQ(run({"INCR", "n"}), error("ERR increment or decrement would overflow"));
    for (const char* text : {"", " 1", "01", "-0", "+1", "1 ", "x"}) {
        run({"SET", "n", text});
        EXPECT_EQ(run({"INCR", "n"}), kNotAnInteger) << text;
    }
}

TEST_F(RedisTest, ACounterKeepsItsDeadline) {
    run({"SET", "n", "5", "PX", "1000"});
    run({"INCR", "n"});
    run({"APPEND", "n", "0"});
    EXPECT_EQ(run({"GET", "n"}), bulk("60"));
    EXPECT_EQ(run({"PTTL", "n"}), number(1000));
}

TEST_F(RedisTest, SeveralKeysAreSetReadAndDeletedAtOnce) {
    EXPECT_EQ(run({"MSET", "a", "1", "b", "2"}), ok());
    EXPECT_EQ(run({"MGET", "a", "missing", "b"}), Reply::array({bulk("1"), nil(), bulk("2")}));
    EXPECT_EQ(run({"EXISTS", "a", "a", "missing"}), number(2));
    EXPECT_EQ(run({"KEYS", "[ab]"}), Reply::array({bulk("a"), bulk("b")}));
    EXPECT_EQ(run({"DEL", "a", "b", "missing"}), number(2));
    EXPECT_EQ(run({"DBSIZE"}), number(0));
    EXPECT_EQ(run({"MSET", "a", "1", "b"}),
              error("ERR wrong number of arguments for 'mset' command"));
}

TEST_F(RedisTest, AKeyOfTheWrongTypeIsAnError) {
    run({"HSET", "h", "f", "1"});
    EXPECT_EQ(run({"GET", "h"}), kWrongType);
    EXPECT_EQ(run({"INCR", "h"}), kWrongType);
    EXPECT_EQ(run({"SET", "h", "v", "GET"}), kWrongType);
    EXPECT_EQ(run({"TYPE", "h"}), Reply::status("hash"));
    EXPECT_EQ(run({"SET", "h", "v"}), ok());
    EXPECT_EQ(run({"HGET", "h", "f"}), kWrongType);
    EXPECT_EQ(run({"TYPE", "h"}), Reply::status("string"));
    EXPECT_EQ(run({"TYPE", "missing"}), Reply::status("none"));
}

TEST_F(RedisTest, UnknownCommandsAreQuotedWithTheirArguments) {
    EXPECT_EQ(run({"foo", "a", "b"}),
              error("ERR unknown command 'foo', with args beginning with: 'a' 'b' "));
    EXPECT_EQ(run({"foo"}), error("ERR unknown command 'foo', with args beginning with: "));
    EXPECT_EQ(run({"foo", "a\nb"}),
              error("ERR unknown command 'foo', with args beginning with: 'a b' "));
}

TEST_F(RedisTest, TheWrongNumberOfArgumentsNamesTheCommandInLowerCase) {
    EXPECT_EQ(run({"SET", "k"}), error("ERR wrong number of arguments for 'set' command"));
    EXPECT_EQ(run({"GET", "a", "b"}), error("ERR wrong number of arguments for 'get' command"));
    EXPECT_EQ(run({"PING", "a", "b"}), error("ERR wrong number of arguments for 'ping' command"));
    EXPECT_EQ(run({"SCRIPT", "LOAD"}),
              error("ERR wrong number of arguments for 'script|load' command"));
}

TEST_F(RedisTest, ACommandThatOnlyRealRedisHasSaysSo) {
    EXPECT_EQ(run({"LPUSH", "k", "v"}),
              error("ERR the simulated Redis does not implement 'lpush'"));
}

TEST_F(RedisTest, RefusalsAreThoseOfRedis) {
    run({"SET", "k", "v"});
    server_.refuse(redis::Refusal::Growth);
    const Reply no_memory = error("OOM command not allowed when used memory > 'maxmemory'.");
    EXPECT_EQ(run({"SET", "k", "w"}), no_memory);
    EXPECT_EQ(run({"INCR", "n"}), no_memory);
    EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), number(1));
    EXPECT_EQ(run({"DEL", "k"}), number(1));
    server_.refuse(redis::Refusal::Everything);
    EXPECT_TRUE(run({"GET", "k"}).text.starts_with("BUSY "));
    server_.refuse(redis::Refusal::Nothing);
    EXPECT_EQ(run({"SET", "k", "w"}), ok());
}

TEST_F(RedisTest, AHashKeepsTheOrderInWhichItsFieldsCame) {
    EXPECT_EQ(run({"HSET", "h", "b", "1", "a", "2"}), number(2));
    EXPECT_EQ(run({"HSET", "h", "b", "3", "c", "4"}), number(1));
    EXPECT_EQ(run({"HGETALL", "h"}),
              Reply::array({bulk("b"), bulk("3"), bulk("a"), bulk("2"), bulk("c"), bulk("4")}));
    EXPECT_EQ(run({"HKEYS", "h"}), Reply::array({bulk("b"), bulk("a"), bulk("c")}));
    EXPECT_EQ(run({"HVALS", "h"}), Reply::array({bulk("3"), bulk("2"), bulk("4")}));
    EXPECT_EQ(run({"HMGET", "h", "a", "x"}), Reply::array({bulk("2"), nil()}));
    EXPECT_EQ(run({"HLEN", "h"}), number(3));
}

TEST_F(RedisTest, HashFieldsAreCountedAddedOnceAndRemoved) {
    EXPECT_EQ(run({"HSETNX", "h", "f", "1"}), number(1));
    EXPECT_EQ(run({"HSETNX", "h", "f", "2"}), number(0));
    EXPECT_EQ(run({"HINCRBY", "h", "f", "4"}), number(5));
    run({"HSET", "h", "text", "x"});
    EXPECT_EQ(run({"HINCRBY", "h", "text", "1"}), error("ERR hash value is not an integer"));
    EXPECT_EQ(run({"HEXISTS", "h", "f"}), number(1));
    EXPECT_EQ(run({"HDEL", "h", "f", "text", "missing"}), number(2));
    EXPECT_EQ(run({"EXISTS", "h"}), number(0));
}

}  // namespace
}  // namespace fencepost::model
