// What a restart, a failover and a replica with lag do to acknowledged writes.
#include "sim/require.h"
#include "tests/model/redis/fixture.h"

namespace fencepost::model {
namespace {

using Kind = KeyChange::Kind;

TEST_F(RedisTest, ARestartThatLosesNothingKeepsKeysWhoseDeadlinesRunOn) {
    run({"SET", "lease", "a", "PX", "5000"});
    restart_after(RedisLoss::Nothing, 3s);
    EXPECT_EQ(run({"PTTL", "lease"}), number(2000));
    restart_after(RedisLoss::Nothing, 3s);
    EXPECT_EQ(run({"DBSIZE"}), number(1));
    EXPECT_EQ(run({"GET", "lease"}), nil());
}

TEST_F(RedisTest, APowerCutTakesTheLastSecondOfAnAppendOnlyFile) {
    run({"INCR", "fence"});
    run({"SET", "old", "x"});
    pass(1s);
    run({"INCR", "fence"});
    run({"SET", "lease", "b"});
    run({"DEL", "old"});
    seen_.clear();
    restart_after(loss_at_power_cut(Persistence::AofEverySecond));
    EXPECT_EQ(run({"GET", "fence"}), bulk("1"));
    EXPECT_EQ(run({"EXISTS", "lease"}), number(0));
    EXPECT_EQ(run({"GET", "old"}), bulk("x"));
    const std::vector<Seen> expected = {{Kind::Lost, "fence", "2", "1", -1, kNoClient},
                                        {Kind::Lost, "lease", "b", "-", -1, kNoClient},
                                        {Kind::Lost, "old", "-", "x", -1, kNoClient}};
    EXPECT_EQ(seen_, expected);
}

TEST_F(RedisTest, WhatSurvivedOneRestartSurvivesTheNext) {
    run({"SET", "a", "1"});
    restart_after(RedisLoss::Nothing, 1ms);
    pass(1ms);
    run({"SET", "b", "1"});
    restart_after(RedisLoss::SinceFsync, 1ms);
    EXPECT_EQ(run({"EXISTS", "a", "b"}), number(1));
}

TEST_F(RedisTest, ASnapshotLosesEverythingSinceIt) {
    server_.reset({.persistence = Persistence::Rdb, .snapshot_period = 10s});
    run({"SET", "a", "1"});
    pass(15s);
    run({"SET", "a", "2"});
    run({"SET", "short", "x", "PX", "1"});
    restart_after(loss_at_kill(Persistence::Rdb));
    EXPECT_EQ(run({"GET", "a"}), bulk("1"));
    run({"SET", "short", "x", "PX", "10500"});
    pass(10s);
    restart_after(RedisLoss::SinceSnapshot);
    EXPECT_EQ(run({"DBSIZE"}), number(1)) << "a primary leaves out expired keys as it loads";
}

TEST_F(RedisTest, WithoutPersistenceARestartLosesEverything) {
    run({"SET", "b", "2"});
    run({"SET", "a", "1"});
    seen_.clear();
    restart_after(loss_at_kill(Persistence::None));
    EXPECT_EQ(run({"DBSIZE"}), number(0));
    const std::vector<Seen> expected = {{Kind::Lost, "a", "1", "-", -1, kNoClient},
                                        {Kind::Lost, "b", "2", "-", -1, kNoClient}};
    EXPECT_EQ(seen_, expected);
}

TEST_F(RedisTest, AProcessKillLosesNothingOfAnAppendOnlyFile) {
    EXPECT_EQ(loss_at_kill(Persistence::AofEverySecond), RedisLoss::Nothing);
    EXPECT_EQ(loss_at_power_cut(Persistence::AofAlways), RedisLoss::Nothing);
    EXPECT_EQ(loss_at_power_cut(Persistence::AofEverySecond), RedisLoss::SinceFsync);
}

TEST_F(RedisTest, AServerThatIsDownExecutesNothing) {
    server_.crash(now(), RedisLoss::Nothing);
    EXPECT_FALSE(server_.is_up());
    EXPECT_THROW(run({"PING"}), sim::BrokenInvariant);
}

class ReplicaTest : public RedisTest {
protected:
    ReplicaTest() { server_.reset({.replica_lag = 100ms}); }

    Reply run_on_replica(std::initializer_list<std::string> arguments) {
        return server_.execute_on_replica(9, std::span(arguments.begin(), arguments.size()), now());
    }
};

TEST_F(ReplicaTest, AFailoverLosesTheSuffixThatTheReplicaDidNotHave) {
    run({"INCR", "fence"});
    pass(1s);
    run({"SET", "lease", "a", "NX", "PX", "30000"});
    run({"INCR", "fence"});
    pass(50ms);
    seen_.clear();
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    const std::vector<Seen> expected = {{Kind::Lost, "fence", "2", "1", -1, kNoClient},
                                        {Kind::Lost, "lease", "a", "-", -1, kNoClient}};
    EXPECT_EQ(seen_, expected);
    EXPECT_EQ(run({"SET", "lease", "b", "NX", "PX", "30000"}), ok());
    EXPECT_EQ(run({"INCR", "fence"}), number(2)) << "the same fencing token a second time";
}

TEST_F(ReplicaTest, AFailoverLosesNothingThatHadTimeToReachTheReplica) {
    run({"SET", "lease", "a"});
    pass(100ms);
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"GET", "lease"}), bulk("a"));
}

TEST_F(ReplicaTest, ALostReleaseLeavesAGhostOfTheLease) {
    run({"SET", "lease", "a", "PX", "30000"});
    pass(10s);
    run({"DEL", "lease"});
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"GET", "lease"}), bulk("a"));
    EXPECT_EQ(run({"PTTL", "lease"}), number(20000));
}

TEST_F(ReplicaTest, ALostRenewalExpiresTheLeaseEarly) {
    run({"SET", "lease", "a", "PX", "1000"});
    pass(950ms);
    run({"PEXPIRE", "lease", "1000"});
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"PTTL", "lease"}), number(50));
}

TEST_F(ReplicaTest, ACutReplicaStandsStillUntilItIsMended) {
    run({"SET", "k", "1"});
    pass(1s);
    server_.cut_replica(now());
    pass(1ms);
    run({"SET", "k", "2"});
    pass(1h);
    EXPECT_EQ(run_on_replica({"GET", "k"}), bulk("1"));
    server_.mend_replica();
    EXPECT_EQ(run_on_replica({"GET", "k"}), bulk("2"));
}

TEST_F(ReplicaTest, AReplicaHidesExpiredKeysAndRefusesWrites) {
    run({"SET", "k", "v", "PX", "500"});
    pass(501ms);
    EXPECT_EQ(run_on_replica({"GET", "k"}), nil());
    EXPECT_EQ(run_on_replica({"DBSIZE"}), number(1));
    EXPECT_EQ(run_on_replica({"SET", "k", "w"}),
              error("READONLY You can't write against a read only replica."));
    EXPECT_EQ(run_on_replica({"EVAL", "return redis.call('del', 'k')", "0"}),
              error("READONLY You can't write against a read only replica. script: "
                    "47b7443a0476c69075e4c3fdb47629aacc40bcfa, on @user_script:1."));
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"SET", "k", "w", "NX"}), ok());
}

TEST_F(ReplicaTest, ThePromotedReplicaKnowsNoScripts) {
    const std::string sha = run({"SCRIPT", "LOAD", "return 1"}).text;
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_TRUE(run({"EVALSHA", sha, "0"}).text.starts_with("NOSCRIPT"));
}

TEST_F(ReplicaTest, ScriptsStayWhereTheyWereTold) {
    const std::vector<std::string> one = {"EVALSHA", run({"SCRIPT", "LOAD", "return 1"}).text, "0"};
    const std::vector<std::string> two = {"EVALSHA",
                                          run_on_replica({"SCRIPT", "LOAD", "return 2"}).text, "0"};
    server_.failover(now(), RedisServer::OldPrimary::Isolated);
    EXPECT_EQ(server_.execute(1, two, now()), number(2));
    EXPECT_TRUE(server_.execute(1, one, now()).text.starts_with("NOSCRIPT"));
    EXPECT_EQ(server_.execute_on_former_primary(1, one, now()), number(1));
    EXPECT_TRUE(server_.execute_on_former_primary(1, two, now()).text.starts_with("NOSCRIPT"));
    server_.demote_former_primary();
    EXPECT_EQ(server_.execute_on_replica(1, one, now()), number(1));
    EXPECT_EQ(run({"SCRIPT", "LOAD", "return 1"}).text, one[1]);
    EXPECT_EQ(server_.execute_on_replica(1, one, now()), number(1));
    EXPECT_EQ(server_.execute(1, two, now()), number(2));
}

TEST_F(ReplicaTest, AScriptThatSaysItWritesCountsAsAWrite) {
    const auto refused = error("READONLY You can't write against a read only replica.");
    EXPECT_EQ(run_on_replica({"EVAL", "#!lua\nreturn 1", "no number"}), refused);
    EXPECT_EQ(run_on_replica({"EVAL_RO", "#!lua\nreturn 1", "0"}), refused);
    EXPECT_EQ(run_on_replica({"EVAL", "#!lua flags=no-writes\nreturn 1", "0"}), number(1));
    EXPECT_EQ(run_on_replica({"EVAL", "return 1", "0"}), number(1));
}

TEST_F(ReplicaTest, TheReplicaKeepsWhatTheDiskOfTheDeadPrimaryLost) {
    run({"SET", "k", "1"});
    pass(200ms);
    server_.crash(now(), RedisLoss::Everything);
    pass(10s);
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_TRUE(server_.is_up());
    EXPECT_EQ(run({"GET", "k"}), bulk("1"));
}

TEST_F(ReplicaTest, TwoPrimariesGrantTheSameLeaseAndTheSameToken) {
    pass(1s);
    server_.failover(now(), RedisServer::OldPrimary::Isolated);
    const std::vector<std::string> acquire = {"SET", "lease", "a", "NX"};
    const std::vector<std::string> count = {"INCR", "fence"};
    EXPECT_EQ(server_.execute_on_former_primary(1, acquire, now()), ok());
    EXPECT_EQ(server_.execute_on_former_primary(1, count, now()), number(1));
    EXPECT_EQ(run({"SET", "lease", "b", "NX"}), ok());
    EXPECT_EQ(run({"INCR", "fence"}), number(1));
    server_.demote_former_primary();
    EXPECT_FALSE(server_.has_former_primary());
    EXPECT_EQ(run({"GET", "lease"}), bulk("b"));
}

TEST_F(ReplicaTest, ALongRunForgetsTheLogAndLosesNoMoreThanTheLag) {
    for (int i = 0; i < 20'000; ++i) {
        run({"INCR", "n"});
        pass(1ms);
    }
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    EXPECT_EQ(run({"GET", "n"}), bulk("19901"));
}

}  // namespace
}  // namespace fencepost::model
