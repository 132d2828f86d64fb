// Lua scripts: the production lease scripts, conversions, errors, and what a script cannot reach.
#include "tests/model/redis/fixture.h"

namespace fencepost::model {
namespace {

const std::string kRelease =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) "
    "else return 0 end";
const std::string kRenew =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";
const std::string kAcquire =
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
    "return redis.call('INCR', KEYS[2]) end return false";
const Reply kNoScript = error("NOSCRIPT No matching script. Please use EVAL.");

TEST_F(RedisTest, TextThatLooksLikeBytecodeIsReadAsText) {
    EXPECT_EQ(eval("\x1bLua"),
              error("ERR Error compiling script (new function): user_script:1: unexpected symbol "
                    "near 'char(27)'"));
}

TEST_F(RedisTest, StringsLeadToTheStringLibrary) {
    EXPECT_EQ(eval("return getmetatable('').__index == string"), number(1));
}

TEST_F(RedisTest, AReadOnlyCallWantsThePromiseOfAScriptWithAShebang) {
    EXPECT_EQ(run({"EVAL_RO", "#!lua\nreturn 1", "0"}),
              error("ERR Can not execute a script with write flag using *_ro command."));
    EXPECT_EQ(run({"EVAL_RO", "#!lua flags=no-writes\nreturn 1", "0"}), number(1));
    EXPECT_EQ(run({"EVAL_RO", "return 1", "0"}), number(1));
}

TEST_F(RedisTest, AScriptThatMayGrowIsRefusedWithoutMemory) {
    server_.refuse(redis::Refusal::Growth);
    EXPECT_EQ(eval("#!lua\nreturn 1"),
              error("OOM command not allowed when used memory > 'maxmemory'."));
    EXPECT_EQ(eval("#!lua flags=allow-oom\nreturn redis.call('INCR', 'n')"), number(1));
    EXPECT_EQ(eval("return 1"), number(1));
}

TEST_F(RedisTest, AScriptIsStoppedForWantOfMemoryOnlyBeforeItsFirstWrite) {
    server_.refuse(redis::Refusal::Growth);
    EXPECT_TRUE(eval("return redis.call('INCR', 'n')").text.starts_with("OOM"));
    EXPECT_EQ(eval("redis.call('DEL', 'missing') return redis.call('INCR', 'n')"), number(1));
}

TEST_F(RedisTest, OnlyTheOwnerReleasesAndRenewsALease) {
    EXPECT_EQ(eval(kAcquire, {"lease", "fence"}, {"a", "1000"}), number(1));
    EXPECT_EQ(eval(kAcquire, {"lease", "fence"}, {"b", "1000"}), nil());
    EXPECT_EQ(eval(kRenew, {"lease"}, {"b", "9000"}), number(0));
    EXPECT_EQ(eval(kRenew, {"lease"}, {"a", "9000"}), number(1));
    EXPECT_EQ(run({"PTTL", "lease"}), number(9000));
    EXPECT_EQ(eval(kRelease, {"lease"}, {"b"}), number(0));
    EXPECT_EQ(eval(kRelease, {"lease"}, {"a"}), number(1));
    EXPECT_EQ(eval(kAcquire, {"lease", "fence"}, {"b", "1000"}), number(2));
}

TEST_F(RedisTest, LuaValuesBecomeReplies) {
    EXPECT_EQ(eval("return nil"), nil());
    EXPECT_EQ(eval("return false"), nil());
    EXPECT_EQ(eval("return true"), number(1));
    EXPECT_EQ(eval("return 3.7"), number(3));
    EXPECT_EQ(eval("return -3.7"), number(-3));
    EXPECT_EQ(eval("return 'x'"), bulk("x"));
    EXPECT_EQ(eval("return {1, {2, 'a'}, true, nil, 5}"),
              Reply::array({number(1), Reply::array({number(2), bulk("a")}), number(1)}));
    EXPECT_EQ(eval("return {ok='fine'}"), Reply::status("fine"));
    EXPECT_EQ(eval("return {err='BAD thing'}"), error("BAD thing"));
    EXPECT_EQ(eval("return 1e300"), number(std::numeric_limits<std::int64_t>::min()));
}

TEST_F(RedisTest, RepliesBecomeLuaValues) {
    EXPECT_EQ(eval("return type(redis.call('GET', 'missing'))"), bulk("boolean"));
    EXPECT_EQ(eval("return redis.call('SET', 'k', 1.1).ok"), bulk("OK"));
    EXPECT_EQ(run({"GET", "k"}), bulk("1.1000000000000001"));
    EXPECT_EQ(eval("redis.call('SET', 'k', 3) return redis.call('GET', 'k') + 1"), number(4));
    EXPECT_EQ(eval("return #redis.call('MGET', 'k', 'missing')"), number(2));
    EXPECT_EQ(eval("return redis.pcall('GET').err"),
              bulk("ERR Wrong number of args calling Redis command from script"));
}

TEST_F(RedisTest, AScriptErrorNamesTheScriptAndTheLine) {
    EXPECT_EQ(eval("return redis.call('get')"),
              error("ERR Wrong number of args calling Redis command from script script: "
                    "f187dee77f607f7cff00bbabc9df38507582c78d, on @user_script:1."));
    EXPECT_EQ(eval("\n\nreturn redis.call('foo')"),
              error("ERR Unknown Redis command called from script script: "
                    "fb5815c2ffb6ef075b6a1e383d64ce889f1a2ec0, on @user_script:3."));
    EXPECT_EQ(eval("error('x')"),
              error("ERR user_script:1: x script: 9851144f39f03a0d597a980c5aa79c80cb696891, on "
                    "@user_script:1."));
    EXPECT_EQ(eval("return 1 +"), error("ERR Error compiling script (new function): "
                                        "user_script:1: unexpected symbol near '<eof>'"));
}

TEST_F(RedisTest, AnErrorFromPcallHasNoScriptAttached) {
    EXPECT_EQ(eval("return redis.pcall('foo')"),
              error("ERR Unknown Redis command called from script"));
    EXPECT_EQ(eval("local ok, e = pcall(redis.call, 'foo') return e"),
              bulk("ERR Unknown Redis command called from script"));
    EXPECT_EQ(eval("return redis.error_reply('oops')"), error("ERR oops"));
    EXPECT_EQ(eval("return redis.error_reply('-MINE oops')"), error("MINE oops"));
    EXPECT_EQ(eval("return redis.status_reply('FINE')"), Reply::status("FINE"));
}

TEST_F(RedisTest, WhatAFailedScriptWroteStays) {
    EXPECT_TRUE(eval("redis.call('SET', 'k', 'kept') redis.call('nope')").is_error());
    EXPECT_EQ(run({"GET", "k"}), bulk("kept"));
}

TEST_F(RedisTest, EvalShaKnowsWhatEvalOrScriptLoadTold) {
    const std::string sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";  // return 1
    EXPECT_EQ(run({"EVALSHA", sha, "0"}), kNoScript);
    EXPECT_EQ(eval("return 1"), number(1));
    EXPECT_EQ(run({"EVALSHA", sha, "0"}), number(1));
    EXPECT_EQ(run({"EVALSHA", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"}), number(1));
    EXPECT_EQ(run({"SCRIPT", "FLUSH"}), ok());
    EXPECT_EQ(run({"EVALSHA", sha, "0"}), kNoScript);
    EXPECT_EQ(run({"SCRIPT", "LOAD", "return 1"}), bulk(sha));
    EXPECT_EQ(run({"SCRIPT", "EXISTS", sha, "x"}), Reply::array({number(1), number(0)}));
    EXPECT_EQ(run({"EVALSHA", "short", "0"}), kNoScript);
}

TEST_F(RedisTest, ScriptsAreForgottenByARestartAndByAReset) {
    const std::string sha = run({"SCRIPT", "LOAD", "return 1"}).text;
    restart_after(RedisLoss::Nothing);
    EXPECT_EQ(run({"EVALSHA", sha, "0"}), kNoScript);
    EXPECT_EQ(eval("return 1"), number(1));
    server_.reset({});
    EXPECT_EQ(run({"EVALSHA", sha, "0"}), kNoScript);
}

TEST_F(RedisTest, TheNumberOfKeysMustBeRight) {
    EXPECT_EQ(run({"EVAL", "return 1", "x"}), error("ERR value is not an integer or out of range"));
    EXPECT_EQ(run({"EVAL", "return 1", "2", "a"}),
              error("ERR Number of keys can't be greater than number of args"));
    EXPECT_EQ(run({"EVAL", "return 1", "-1"}), error("ERR Number of keys can't be negative"));
}

TEST_F(RedisTest, GlobalsAreNeitherCreatedNorChangedNorInvented) {
    EXPECT_NE(
        eval("return foo")
            .text.find(
                "user_script:1: Script attempted to access nonexistent global variable 'foo'"),
        std::string::npos);
    for (const char* script :
         {"foo = 1", "redis = 1", "KEYS = {}", "redis.foo = 1", "string.foo = 1",
          "rawset(_G, 'foo', 1)", "table.insert(redis, 1)", "setmetatable(_G, {})",
          "getmetatable('').__index = nil", "getmetatable(_G).__index = nil", "_G.foo = 1",
          "loadstring('foo = 1')()"}) {
        EXPECT_NE(eval(script).text.find("Attempt to modify a readonly table"), std::string::npos)
            << script;
    }
    for (const char* name : {"os", "io", "debug", "require", "dofile", "loadfile", "print",
                             "getfenv", "setfenv", "newproxy", "package"}) {
        EXPECT_NE(eval(std::string("return ") + name).text.find("nonexistent global variable"),
                  std::string::npos)
            << name;
    }
}

TEST_F(RedisTest, ALibraryThatOnlyRealRedisHasSaysSo) {
    EXPECT_NE(eval("return cjson.encode({})")
                  .text.find("the simulated Redis does not implement the library 'cjson'"),
              std::string::npos);
}

TEST_F(RedisTest, NothingPassesFromOneScriptToTheNext) {
    EXPECT_EQ(eval("KEYS[1] = 'mine' ARGV[5] = 'x' return KEYS[1]", {"a"}), bulk("mine"));
    EXPECT_EQ(eval("return #KEYS + #ARGV"), number(0));
    const Reply first = eval("return tostring({}) .. collectgarbage('count')");
    EXPECT_EQ(eval("return tostring({}) .. collectgarbage('count')"), first);
}

TEST_F(RedisTest, RandomNumbersAreThoseOfAFreshRedisAndTheSameInEveryRun) {
    const std::string draw = "return tostring(math.random())";
    EXPECT_EQ(eval(draw), bulk("0.39646477363839"));
    EXPECT_EQ(eval(draw), bulk("0.84048536971234"));
    EXPECT_EQ(eval("math.randomseed(7) " + draw), bulk("0.26644419658298"));
    server_.reset({});
    EXPECT_EQ(eval(draw), bulk("0.39646477363839"));
}

TEST_F(RedisTest, SomeCommandsAreNotForScripts) {
    EXPECT_TRUE(eval("return redis.call('EVAL', 'return 1', 0)")
                    .text.starts_with("ERR This Redis command is not allowed from script"));
    EXPECT_TRUE(
        run({"EVAL_RO", "return redis.call('SET', 'k', 'v')", "0"})
            .text.starts_with("ERR Write commands are not allowed from read-only scripts."));
    EXPECT_TRUE(
        eval("#!lua flags=no-writes\nreturn redis.call('SET', 'k', 'v')")
            .text.starts_with("ERR Write commands are not allowed from read-only scripts."));
}

TEST_F(RedisTest, AKeyDoesNotVanishWithinAScript) {
    run({"SET", "k", "v", "PX", "1"});
    pass(1ms);
    EXPECT_EQ(eval("local first = redis.call('TIME') for i = 1, 1000 do end "
                   "return {redis.call('GET', 'k'), redis.call('TIME')[2] == first[2]}"),
              Reply::array({bulk("v"), number(1)}));
}

class EndlessScriptTest : public RedisTest {
protected:
    EndlessScriptTest() { server_ = RedisServer(10'000); }
};

TEST_F(EndlessScriptTest, AScriptWithoutEndIsKilledAndTheNextOneRuns) {
    for (const char* script :
         {"while true do end", "while true do pcall(function() while true do end end) end",
          "local function again() return again() end again()",
          "coroutine.wrap(function() while true do end end)()",
          "while true do coroutine.resume(coroutine.create(function() while true do end end)) "
          "end"}) {
        EXPECT_TRUE(eval(script).text.starts_with("ERR Script killed by user with SCRIPT KILL..."))
            << script;
        EXPECT_EQ(eval("for i = 1, 2000 do end return 1"), number(1));
    }
}

TEST_F(RedisTest, AnExceptionOfTheObserverComesThroughAScript) {
    struct Stop {};
    server_.set_observer([](const KeyChange&) { throw Stop{}; });
    EXPECT_THROW(eval("pcall(redis.call, 'SET', 'k', 'v') return 1"), Stop);
    server_.set_observer({});
    EXPECT_EQ(eval("return 1"), number(1));
}

TEST_F(RedisTest, AReplyWithoutEndIsAnError) {
    EXPECT_FALSE(eval("local t = {} t[1] = t return t").is_nil());
    EXPECT_EQ(eval("return 1"), number(1));
}

}  // namespace
}  // namespace fencepost::model
