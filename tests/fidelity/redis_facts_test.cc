// Goal: what was observed of a real Redis 7.0.15, one fact a test, holds of the model.
// Method: each test is named after its fact and says it as given, when, then. docs/fidelity.md
// lists the facts that lie outside the model.
#include "jobs/lease.h"
#include "model/world.h"
#include "sim/plan.h"
#include "tests/model/redis/fixture.h"

namespace fencepost::model {
namespace {

class RedisFactsTest : public RedisTest {
protected:
    using Words = std::vector<std::string>;

    Reply run_as(std::uint32_t client, const Words& words) {
        return server_.execute(client, words, now());
    }
    Reply run_on_replica(const Words& words) {
        return server_.execute_on_replica(kClient, words, now());
    }
    Reply run_on_former_primary(const Words& words) {
        return server_.execute_on_former_primary(kClient, words, now());
    }
    void start_with(const RedisOptions& options) { server_.reset(options); }
    void start_with_replica() { start_with({.replica_lag = 0ns}); }
    // 500 INCR and a lock, as a crash finds them.
    void write_counter_and_lock() {
        for (int i = 0; i < 500; ++i) run({"INCR", "fence"});
        run({"SET", "lock", "a", "NX", "PX", "30000"});
    }
    static Words compare_and_delete(const std::string& key, const std::string& owner) {
        return {"EVAL", std::string(jobs::lease_scripts::kRelease.source), "1", key, owner};
    }
    static constexpr std::uint32_t kOther = kClient + 1;
};

// --- times to live

// Given PTTL; when the key is missing, has no deadline, is held; then -2, -1, milliseconds.
TEST_F(RedisFactsTest, R_TTL_1_PttlTellsMissingFromWithoutDeadlineFromHeld) {
    run({"SET", "forever", "x"});
    run({"SET", "held", "x", "PX", "1500"});
    EXPECT_EQ(run({"PTTL", "missing"}), number(-2));
    EXPECT_EQ(run({"PTTL", "forever"}), number(-1));
    EXPECT_EQ(run({"PTTL", "held"}), number(1500));
}

// Given PEXPIRE; when the key is missing, held, or the time is 0 or less; then 0, 1, and 1 with the
// key deleted at once. GT with less: 0, with more: 1; NX on a key with a deadline: 0.
TEST_F(RedisFactsTest, R_TTL_2_PexpireAnswersWhetherItApplied) {
    EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), number(0));
    for (const char* gone : {"0", "-1"}) {
        run({"SET", "k", "x"});
        EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), number(1));
        EXPECT_EQ(run({"PEXPIRE", "k", gone}), number(1));
        EXPECT_EQ(run({"EXISTS", "k"}), number(0));
    }
    run({"SET", "k", "x", "PX", "1000"});
    EXPECT_EQ(run({"PEXPIRE", "k", "999", "GT"}), number(0));
    EXPECT_EQ(run({"PEXPIRE", "k", "1001", "GT"}), number(1));
    EXPECT_EQ(run({"PEXPIRE", "k", "5000", "NX"}), number(0));
    EXPECT_EQ(run({"PTTL", "k"}), number(1001));
}

// Given a key with deadline E; when the server's clock shows E; then the key exists with a PTTL of
// 0, and never is a PTTL of 0 seen with EXISTS 0. It is gone once the clock shows more.
TEST_F(RedisFactsTest, R_EXP_1_AKeyIsGoneOnceTheClockShowsMoreThanItsDeadline) {
    run({"SET", "k", "x", "PX", "300"});
    for (std::int64_t passed = 0; passed <= 301; ++passed) {
        const bool there = passed <= 300;
        EXPECT_EQ(run({"EXISTS", "k"}), number(there ? 1 : 0));
        EXPECT_EQ(run({"PTTL", "k"}), number(there ? 300 - passed : -2));
        pass(1ms);
    }
}

// Given SET PX n; when it waits 600 ms in a stopped server; then the deadline is n after the
// execution, not after the sending.
TEST_F(RedisFactsTest, R_EXP_2_TheTimeToLiveBeginsWithTheExecution) {
    pass(600ms);
    run({"SET", "k", "x", "PX", "500"});
    EXPECT_EQ(run({"PEXPIRETIME", "k"}), number(kStartMs + 600 + 500));
}

// Given a key past its deadline that nobody came upon; when DBSIZE, GET, SET NX, INCR; then it is
// counted, nil, OK, and the counter begins at 1 without a deadline.
TEST_F(RedisFactsTest, R_EXP_4_AnExpiredKeyIsCountedAndOtherwiseGone) {
    for (const char* key : {"got", "set", "counted"}) run({"SET", key, "7", "PX", "10"});
    pass(11ms);
    EXPECT_EQ(run({"DBSIZE"}), number(3));
    EXPECT_EQ(run({"GET", "got"}), nil());
    EXPECT_EQ(run({"SET", "set", "x", "NX"}), ok());
    EXPECT_EQ(run({"INCR", "counted"}), number(1));
    EXPECT_EQ(run({"PTTL", "counted"}), number(-1));
}

// Given TIME; then seconds and microseconds of the wall clock as strings, growing from call to
// call. Given a lease of 10 s; when the clock steps by +8 s, +12 s, -10 s; then 2 s are left, it
// has expired, 20 s are left.
TEST_F(RedisFactsTest, R_TIME_1_TimeAndDeadlinesFollowTheWallClock) {
    EXPECT_EQ(run({"TIME"}), Reply::array({bulk("1700000000"), bulk("0")}));
    pass(1us);
    EXPECT_EQ(run({"TIME"}), Reply::array({bulk("1700000000"), bulk("1")}));
    const struct {
        std::chrono::seconds step;
        std::int64_t left_ms;
    } kSteps[] = {{8s, 2000}, {12s, -2}, {-10s, 20'000}};
    for (const auto& [step, left_ms] : kSteps) {
        run({"SET", "lease", "a", "PX", "10000"});
        step_wall_clock(step);
        EXPECT_EQ(run({"PTTL", "lease"}), number(left_ms)) << step.count();
    }
}

// --- scripts

// Given a script; when it gets a missing key, returns nil, false, true, 3.7; then the key is false
// to it, and the replies are nil, nil, 1, 3.
TEST_F(RedisFactsTest, R_LUA_2_LuaValuesAreConverted) {
    EXPECT_EQ(eval("return type(redis.call('GET', KEYS[1]))", {"missing"}), bulk("boolean"));
    EXPECT_EQ(eval("return redis.call('GET', KEYS[1]) == false", {"missing"}), number(1));
    EXPECT_EQ(eval("return nil"), nil());
    EXPECT_EQ(eval("return false"), nil());
    EXPECT_EQ(eval("return true"), number(1));
    EXPECT_EQ(eval("return 3.7"), number(3));
}

// Given EVALSHA; when the digest is unknown, after SCRIPT FLUSH, after a restart, on a new primary;
// then NOSCRIPT. EVAL makes it known.
TEST_F(RedisFactsTest, R_LUA_3_EvalShaOfAnUnknownScriptIsNoScript) {
    const auto unknown = error("NOSCRIPT No matching script. Please use EVAL.");
    const Words by_sha = {"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"};
    start_with_replica();
    EXPECT_EQ(run_as(kClient, by_sha), unknown);
    EXPECT_EQ(eval("return 1"), number(1));
    EXPECT_EQ(run_as(kClient, by_sha), number(1));
    run({"SCRIPT", "FLUSH"});
    EXPECT_EQ(run_as(kClient, by_sha), unknown);
    eval("return 1");
    restart_after(RedisLoss::Nothing);
    EXPECT_EQ(run_as(kClient, by_sha), unknown);
    eval("return 1");
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run_as(kClient, by_sha), unknown);
}

// --- clients

// Given a client that closes right after it sent SET NX PX; then it is executed all the same, and
// the lease is held to its end by a client that has no reply.
TEST(RedisWorldFactsTest, R_LOST_1_TheCommandOfAClientThatIsGoneIsExecuted) {
    World world;
    const sim::Time start{std::chrono::sys_days{std::chrono::year{2026} / 3 / 2}};
    world.reset(1, start, DatabaseImage::empty(), {});
    sim::Plan plan;
    plan.faults.push_back(
        {.at = "A#1/*/redis.set/1", .phase = sim::Phase::Sent, .kind = sim::FaultKind::Crash});
    bool answered = false;
    const auto acquire = [&](sim::Incarnation& incarnation) {
        world.ports_of(incarnation).redis.command({"SET", "lease", "a", "NX", "PX", "30000"});
        answered = true;
    };
    Reply seen_by_other;
    const auto look = [&](sim::Incarnation& incarnation) {
        seen_by_other = world.ports_of(incarnation).redis.command({"SET", "lease", "b", "NX"});
    };
    world.kernel().boot(world.kernel().add_node("A", acquire));
    world.kernel().arm(plan, world);
    world.kernel().run(start + 1s, 1'000'000);
    world.kernel().boot(world.kernel().add_node("B", look));
    seen_by_other = ok();
    world.kernel().run(start + 2s, 1'000'000);
    EXPECT_TRUE(world.kernel().fault_struck(0));
    EXPECT_FALSE(answered);
    EXPECT_EQ(seen_by_other, nil()) << "the dead client holds the lease";
}

// --- crashes

// Given an append-only file, written every second or always; when the process is killed and the
// disk is sound; then no acknowledged write is lost, and deadlines ran on while it was down.
TEST_F(RedisFactsTest, R_CRASH_2_AKilledProcessLosesNothingOfAnAppendOnlyFile) {
    for (const auto persistence : {Persistence::AofEverySecond, Persistence::AofAlways}) {
        start_with({.persistence = persistence});
        write_counter_and_lock();
        restart_after(loss_at_kill(persistence), 4s);
        EXPECT_EQ(run({"GET", "fence"}), bulk("500"));
        EXPECT_EQ(run({"PTTL", "lock"}), number(26'000));
    }
}

// Given an append-only file written every second to a disk that is slow to sync; when the process
// is killed; then the acknowledged writes of the last moments are lost: the lock is free and the
// fencing token has gone back.
TEST_F(RedisFactsTest, R_CRASH_3_ASlowDiskLosesTheLastAcknowledgedWrites) {
    start_with({.persistence = Persistence::AofEverySecond});
    run({"SET", "fence", "10"});
    pass(2s);
    run({"INCR", "fence"});
    run({"SET", "lock", "a", "NX", "PX", "30000"});
    pass(500ms);
    restart_after(RedisLoss::SinceFsync);
    EXPECT_EQ(run({"SET", "lock", "b", "NX", "PX", "30000"}), ok());
    EXPECT_EQ(run({"INCR", "fence"}), number(11)) << "the same token a second time";
}

// --- replication

// Given a replica; when a write or compare-and-delete reaches it; then READONLY, with the script's
// name and line when it came from a script.
TEST_F(RedisFactsTest, R_REPL_1_AReplicaRefusesWrites) {
    start_with_replica();
    run({"SET", "lock", "a"});
    const std::string refused = "READONLY You can't write against a read only replica.";
    EXPECT_EQ(run_on_replica({"SET", "lock", "b"}), error(refused));
    EXPECT_EQ(run_on_replica({"EVAL", "return redis.call('del', 'lock')", "0"}),
              error(refused + " script: 8956641708d80a19ed1c0aa3228b0ac1a30ed01a, on "
                              "@user_script:1."));
    const Reply reply = run_on_replica(compare_and_delete("lock", "a"));
    EXPECT_TRUE(reply.text.starts_with(refused + " script: ")) << reply.text;
    EXPECT_TRUE(reply.text.ends_with(", on @user_script:3.")) << reply.text;
}

// Given a healthy link; when the primary is killed right after it acknowledged; then the promoted
// replica has the write.
TEST_F(RedisFactsTest, R_REPL_2_AHealthyLinkLosesNothing) {
    start_with_replica();
    run({"SET", "lock", "a", "NX"});
    server_.crash(now(), RedisLoss::Nothing);
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"GET", "lock"}), bulk("a"));
}

// Given a link that was cut before SET NX and INCR were acknowledged; when the replica is promoted;
// then both are lost: the lock is free, and INCR gives the same token again.
TEST_F(RedisFactsTest, R_REPL_4_ACutLinkLosesTheLockAndRepeatsTheToken) {
    start_with_replica();
    run({"SET", "fence", "10"});
    server_.cut_replica(now());
    pass(1ms);
    EXPECT_EQ(run({"SET", "lock", "a", "NX"}), ok());
    EXPECT_EQ(run({"INCR", "fence"}), number(11));
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run_as(kOther, {"SET", "lock", "b", "NX"}), ok());
    EXPECT_EQ(run_as(kOther, {"INCR", "fence"}), number(11));
}

// Given a replica that was promoted while the old primary lives; then both grant SET NX and the
// token 1; on demotion the old primary's data is replaced, and its holder deletes nothing.
TEST_F(RedisFactsTest, R_REPL_5_TwoPrimariesBothGrantAndTheOldOneForgets) {
    start_with_replica();
    server_.failover(now(), RedisServer::OldPrimary::Isolated);
    EXPECT_EQ(run_on_former_primary({"SET", "lock", "a", "NX"}), ok());
    EXPECT_EQ(run_on_former_primary({"INCR", "fence"}), number(1));
    EXPECT_EQ(run({"SET", "lock", "b", "NX"}), ok());
    EXPECT_EQ(run({"INCR", "fence"}), number(1));
    server_.demote_former_primary();
    EXPECT_EQ(run_on_replica({"GET", "lock"}), bulk("b"));
    EXPECT_EQ(run_as(kClient, compare_and_delete("lock", "a")), number(0));
    EXPECT_EQ(run({"GET", "lock"}), bulk("b"));
}

// Given a replica whose primary is dead, and a key past its deadline; when it is read and when the
// replica is promoted; then nil and still counted, the same deadline, and SET NX succeeds.
TEST_F(RedisFactsTest, R_REPL_7_AReplicaHidesWhatHasExpired) {
    start_with_replica();
    run({"SET", "lock", "a", "PX", "1000"});
    server_.crash(now(), RedisLoss::Nothing);
    EXPECT_EQ(run_on_replica({"PEXPIRETIME", "lock"}), number(now_ms() + 1000));
    pass(1001ms);
    EXPECT_EQ(run_on_replica({"GET", "lock"}), nil());
    EXPECT_EQ(run_on_replica({"DBSIZE"}), number(1));
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"SET", "lock", "b", "NX"}), ok());
}

// --- refusals

// Given a script that runs past the threshold, or full memory without eviction; then BUSY, or OOM
// for SET, INCR and scripts, while PEXPIRE and DEL still work.
TEST_F(RedisFactsTest, R_ERR_1_ABusyOrFullServerRefuses) {
    run({"SET", "k", "1"});
    server_.refuse(redis::Refusal::Everything);
    EXPECT_TRUE(run({"GET", "k"}).text.starts_with("BUSY Redis is busy running a script."));
    server_.refuse(redis::Refusal::Growth);
    for (const Words& growing : {Words{"SET", "k", "2"}, Words{"INCR", "k"},
                                 Words{"EVAL", "return redis.call('INCR', 'k')", "0"}}) {
        EXPECT_TRUE(run_as(kClient, growing)
                        .text.starts_with("OOM command not allowed when used memory > "
                                          "'maxmemory'."));
    }
    EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), number(1));
    EXPECT_EQ(run({"DEL", "k"}), number(1));
}

// --- rules, from source and documentation

TEST_F(RedisFactsTest, TheAnswerToAcquireIsLostAndTheSecondAttemptFindsItsOwnValue) {
    const Words acquire = {
        "EVAL", std::string(jobs::lease_scripts::kAcquire.source), "2", "lease", "fence", "owner-1",
        "5000"};
    const Reply first = run_as(kClient, acquire);
    pass(2s);
    EXPECT_EQ(run_as(kClient, acquire), first);
    EXPECT_EQ(run({"PTTL", "lease"}), number(3000)) << "its time began with the first";
    EXPECT_EQ(run({"GET", "fence"}), bulk("1"));
}

TEST_F(RedisFactsTest, OneTimeHoldsForAWholeScriptAndNoKeyVanishesInIt) {
    run({"SET", "k", "x", "PX", "10"});
    pass(10ms);
    EXPECT_EQ(eval("for i = 1, 1000 do if redis.call('EXISTS', 'k') == 0 then return i end end "
                   "return redis.call('PTTL', 'k')"),
              number(0));
}

TEST_F(RedisFactsTest, AFailoverLosesAnyAcknowledgedSuffixAndWithItARenewalOrARelease) {
    start_with_replica();
    run({"SET", "renewed", "a", "PX", "1000"});
    run({"SET", "released", "a", "PX", "30000"});
    server_.cut_replica(now());
    pass(900ms);
    run({"PEXPIRE", "renewed", "1000"});
    run({"DEL", "released"});
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"PTTL", "renewed"}), number(100)) << "expires early";
    EXPECT_EQ(run({"PTTL", "released"}), number(29'100)) << "a ghost until its time is over";
}

TEST_F(RedisFactsTest, WhatARestartLosesDependsOnThePersistence) {
    const struct {
        Persistence persistence;
        Reply left;
    } kKept[] = {{Persistence::None, nil()},
                 {Persistence::AofEverySecond, bulk("2")},
                 {Persistence::AofAlways, bulk("3")},
                 {Persistence::Rdb, bulk("1")}};
    for (const auto& [persistence, left] : kKept) {
        start_with({.persistence = persistence, .snapshot_period = now().elapsed + 10s});
        const auto begin = now().elapsed;
        pass(1ms);
        run({"SET", "n", "1"});
        pass(begin + 11s);  // past the snapshot
        run({"SET", "n", "2"});
        pass(1500ms);
        run({"SET", "n", "3"});
        pass(10ms);
        restart_after(loss_at_power_cut(persistence));
        EXPECT_EQ(run({"GET", "n"}), left) << static_cast<int>(persistence);
    }
}

TEST_F(RedisFactsTest, ASnapshotIsLoadedWithoutWhatHasExpiredAndAnAppendOnlyFileWithIt) {
    for (const auto persistence : {Persistence::Rdb, Persistence::AofAlways}) {
        start_with({.persistence = persistence});
        run({"SET", "k", "x", "PX", "500"});
        pass(1h);
        restart_after(loss_at_kill(persistence));
        EXPECT_EQ(run({"DBSIZE"}), number(persistence == Persistence::Rdb ? 0 : 1));
        EXPECT_EQ(run({"GET", "k"}), nil());
    }
}

}  // namespace
}  // namespace fencepost::model
