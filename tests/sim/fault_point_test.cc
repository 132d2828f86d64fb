// Goal: a fault strikes at the call and phase that its address names, once, and moves no other.
#include <gtest/gtest.h>

#include <map>

#include "tests/sim/test_world.h"

namespace fencepost::sim::test {
namespace {

class FaultPointTest : public testing::Test {
protected:
    // A node that calls twice and then sleeps; each of its lives does the same.
    void add_caller(const std::string& name = "A") {
        world.add(name, [this, name](Incarnation& life) {
            world.work("job", [this, name, number = life.number()] {
                for (int i = 0; i < 2; ++i)
                    world.note(fmt::format("{}#{} {}", name, number, world.call("db.commit")));
            });
            kernel.sleep(1h);
        });
    }

    TestWorld world;
    Kernel& kernel = world.kernel;
};

// --- crash at each phase

TEST_F(FaultPointTest, ACrashBeforeACallSendsNothing) {
    add_caller();
    world.arm({fault_at("A#1/job/db.commit/1", Phase::Before, FaultKind::Crash)});
    world.start_and_run_for(1min);
    EXPECT_TRUE(world.applied.empty());
    EXPECT_TRUE(world.log.empty());
}

TEST_F(FaultPointTest, ACrashAtASentCallEndsTheCallerBeforeTheRequestIsOut) {
    add_caller();
    world.arm({fault_at("A#1/job/db.commit/2", Phase::Sent, FaultKind::Crash)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.applied, (Lines{"A#1/job/db.commit/1"}));
    EXPECT_EQ(world.log, (Lines{"2ms A#1 ok"}));
}

TEST_F(FaultPointTest, ACrashAtAnAppliedCallLosesTheAnswerAndKeepsTheEffect) {
    add_caller();
    world.arm({fault_at("A#1/job/db.commit/1", Phase::Applied, FaultKind::Crash)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.applied, (Lines{"A#1/job/db.commit/1"}));
    EXPECT_TRUE(world.log.empty());
    EXPECT_EQ(world.records<NodeEnded>(), (Lines{"1ms A incarnation=1 how=crash"}));
}

TEST_F(FaultPointTest, ACrashAfterACallEndsTheCallerWithItsAnswerUnread) {
    add_caller();
    world.arm({fault_at("A#1/job/db.commit/1", Phase::After, FaultKind::Crash)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.applied, (Lines{"A#1/job/db.commit/1"}));
    EXPECT_TRUE(world.log.empty());
    EXPECT_EQ(world.records<CallEnded>().size(), 1U);
}

TEST_F(FaultPointTest, ACrashedCallerComesBackWhenItsFaultSaysSo) {
    add_caller();
    Fault crash = fault_at("A#1/job/db.commit/1", Phase::Applied, FaultKind::Crash);
    crash.restart_after = 5s;
    world.arm({crash});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"5s3ms A#2 ok", "5s5ms A#2 ok"}));
}

// --- pause and stop at a point

TEST_F(FaultPointTest, APauseBeforeACallHoldsTheCallerThere) {
    add_caller();
    Fault pause = fault_at("A#1/job/db.commit/1", Phase::Before, FaultKind::Pause);
    pause.lasting = 10s;
    world.arm({pause});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.records<CallApplied>().front(),
              "10s1ms server op=db.commit ordinal=1 result=done");
    EXPECT_EQ(world.log, (Lines{"10s2ms A#1 ok", "10s4ms A#1 ok"}));
}

TEST_F(FaultPointTest, APauseAtAnAppliedCallHoldsTheAnswer) {
    add_caller();
    Fault pause = fault_at("A#1/job/db.commit/1", Phase::Applied, FaultKind::Pause);
    pause.lasting = 10s;
    world.arm({pause});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"10s1ms A#1 ok", "10s3ms A#1 ok"}));
}

TEST_F(FaultPointTest, ANodeThatCrashesWhileItsCallerIsHeldNeverSends) {
    add_caller();
    Fault pause = fault_at("A#1/job/db.commit/1", Phase::Before, FaultKind::Pause);
    pause.lasting = 10s;
    world.arm({pause, fault_at(kStart + 5s, FaultKind::Crash, "A")});
    world.start_and_run_for(1min);
    EXPECT_TRUE(world.applied.empty());
}

TEST_F(FaultPointTest, AStopAtAPointLetsTheCallerGoOnMeanwhile) {
    world.add("A", [&](Incarnation& life) {
        life.on_stop([&] { kernel.sleep(3ms); });
        for (;;) world.note(world.call("db.commit"));
    });
    Fault stop = fault_at("A#1/main/db.commit/1", Phase::Sent, FaultKind::Stop);
    stop.grace = 10s;
    world.arm({stop});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"2ms ok"}));
    EXPECT_EQ(world.records<NodeEnded>(), (Lines{"3ms A incarnation=1 how=stopped"}));
}

TEST_F(FaultPointTest, AFaultMayStrikeAnotherNodeThanTheCallers) {
    add_caller("A");
    add_caller("B");
    Fault crash = fault_at("A#1/job/db.commit/1", Phase::Before, FaultKind::Crash);
    crash.party = "B";
    world.arm({crash});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"2ms A#1 ok", "4ms A#1 ok"}));
}

// --- addresses

TEST_F(FaultPointTest, OrdinalsCountPerTaskAndOperation) {
    world.add("A", [&](Incarnation&) {
        for (const char* task : {"one", "two"}) {
            world.work(task, [&] {
                world.call("db.commit");
                world.call("redis.eval");
                world.call("db.commit");
            });
        }
    });
    world.start_and_run_for(1min);
    std::ranges::sort(world.applied);
    EXPECT_EQ(world.applied,
              (Lines{"A#1/one/db.commit/1", "A#1/one/db.commit/2", "A#1/one/redis.eval/1",
                     "A#1/two/db.commit/1", "A#1/two/db.commit/2", "A#1/two/redis.eval/1"}));
}

TEST_F(FaultPointTest, ATaskNameUsedAgainHasItsOwnAddress) {
    world.add("A", [&](Incarnation&) {
        for (int i = 0; i < 2; ++i)
            world.work("job",
                       [&] { world.note(kernel.self().name + " " + world.call("db.commit")); });
    });
    world.arm({fault_at("A#1/job~2/db.commit/1", Phase::Before, FaultKind::Refuse)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"0s job~2 refused", "2ms job ok"}));
}

TEST_F(FaultPointTest, AnAddressNamesOneIncarnation) {
    add_caller();
    Fault crash = fault_at("A#1/job/db.commit/1", Phase::Before, FaultKind::Crash);
    crash.restart_after = 1s;
    world.arm({crash, fault_at("A#2/job/db.commit/2", Phase::Before, FaultKind::Refuse)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"1s2ms A#2 ok", "1s2ms A#2 refused"}));
}

TEST_F(FaultPointTest, APatternStrikesTheFirstCallThatMatchesAndNoMore) {
    add_caller("A");
    add_caller("B");
    world.arm({fault_at("*#*/job/db.commit/2", Phase::Before, FaultKind::Refuse)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"2ms A#1 ok", "2ms A#1 refused", "2ms B#1 ok", "4ms B#1 ok"}));
}

TEST_F(FaultPointTest, TheOrdinalOfAPatternMayBeAnyToo) {
    add_caller();
    world.arm({fault_at("A#1/j*/db.*/*", Phase::Before, FaultKind::Refuse)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"0s A#1 refused", "2ms A#1 ok"}));
}

TEST_F(FaultPointTest, AFaultThatIsNeverMetIsKnownNotToHaveStruck) {
    add_caller();
    world.arm({fault_at("A#1/job/db.commit/3", Phase::Before, FaultKind::Crash),
               fault_at("A#1/job/db.commit/2", Phase::After, FaultKind::Crash)});
    world.start_and_run_for(1min);
    EXPECT_FALSE(kernel.fault_struck(0));
    EXPECT_FALSE(kernel.fault_had_effect(0));
    EXPECT_TRUE(kernel.fault_struck(1));
    EXPECT_TRUE(kernel.fault_had_effect(1));
}

// --- several faults

TEST_F(FaultPointTest, AnyNumberOfFaultsMayStrikeAtOnePoint) {
    add_caller();
    std::vector<Fault> faults;
    for (int i = 0; i < 10; ++i) {
        faults.push_back(fault_at(i % 2 == 0 ? "A#1/job/db.commit/1" : "A#*/job/db.commit/1",
                                  i < 5 ? Phase::Sent : Phase::Applied, FaultKind::Delay));
        faults.back().by = 1s;
    }
    world.arm(faults);
    world.start_and_run_for(1min);
    for (std::uint32_t i = 0; i < 10; ++i) EXPECT_TRUE(kernel.fault_struck(i)) << i;
    EXPECT_EQ(world.log.front(), "10s2ms A#1 ok");
}

TEST_F(FaultPointTest, FaultsOfOnePointStrikeAtTheirOwnPhases) {
    add_caller();
    Fault pause = fault_at("A#1/job/db.commit/1", Phase::Before, FaultKind::Pause);
    pause.lasting = 5s;
    world.arm({fault_at("A#1/job/db.commit/1", Phase::Applied, FaultKind::Crash), pause});
    world.start_and_run_for(1min);
    EXPECT_EQ(
        world.records<FaultStruck>(),
        (Lines{"0s world index=1 fault=pause at A#1/job/db.commit/1 (before) for 5s",
               "5s1ms world index=0 fault=crash at A#1/job/db.commit/1 (applied), no restart"}));
}

TEST_F(FaultPointTest, ThePhasesThatCallsComeToAreNotedWithTheRecordsTheyComeBefore) {
    Fault crash = fault_at("A#1/job/db.commit/1", Phase::Applied, FaultKind::Crash);
    Fault refuse = fault_at("A#1/job/db.query/1", Phase::Before, FaultKind::Refuse);
    world.arm({crash, refuse});
    world.add("A", [&](Incarnation&) {
        world.work("job", [&] {
            (void)world.call("db.query");
            (void)world.call("db.commit");
        });
        kernel.sleep(1h);
    });
    world.start_and_run_for(1min);
    std::vector<std::string> reached;
    const History& history = kernel.history();
    for (const PhaseReached& phase : history.phases()) {
        const auto call = history[phase.call].as<CallStarted>();
        ASSERT_TRUE(call.has_value());
        reached.push_back(fmt::format("{} {}", call->operation, name_of(phase.phase)));
        if (reached.back() != "db.query before" && reached.back() != "db.commit applied") continue;
        EXPECT_EQ(history.kind_of(phase.next), FaultStruck::kKind) << reached.back();
    }
    EXPECT_EQ(reached, (Lines{"db.query before", "db.query after", "db.commit before",
                              "db.commit sent", "db.commit applied"}));
}

TEST_F(FaultPointTest, CallLevelFaultsAreAskedForAndTheirEffectIsNotedOnce) {
    world.add("A", [&](Incarnation&) {
        Call call = kernel.begin_call("db.commit");
        kernel.reach(call, Phase::Before);
        EXPECT_TRUE(call.asked.reset);
        EXPECT_EQ(call.asked.server_error, FaultKind::DeadlockVictim);
        EXPECT_FALSE(call.asked.lose_answer);
        kernel.call_faults_took_effect(call, Phase::Before);
        kernel.call_faults_took_effect(call, Phase::Before);
        kernel.reach(call, Phase::Sent);
        EXPECT_TRUE(call.asked.lose_request && call.asked.duplicate);
        kernel.reach(call, Phase::Applied);
        EXPECT_TRUE(call.asked.lose_answer);
    });
    const std::string at = "A#1/main/db.commit/1";
    world.arm({fault_at(at, Phase::Before, FaultKind::Reset),
               fault_at(at, Phase::Before, FaultKind::DeadlockVictim),
               fault_at(at, Phase::Sent, FaultKind::LoseRequest),
               fault_at(at, Phase::Sent, FaultKind::Duplicate),
               fault_at(at, Phase::Applied, FaultKind::LoseAnswer)});
    world.start_and_run_for(1min);
    EXPECT_EQ(world.records<FaultTookEffect>().size(), 2U);
    EXPECT_TRUE(kernel.fault_had_effect(0) && kernel.fault_had_effect(1));
    EXPECT_FALSE(kernel.fault_had_effect(2));
}

TEST_F(FaultPointTest, FaultsAtATimeStrikeThenAndAreCountedUntilThen) {
    add_caller();
    world.arm({fault_at(kStart + 3s, FaultKind::Crash, "A"),
               fault_at(kStart - 1h, FaultKind::Crash, "A")});
    EXPECT_EQ(kernel.faults_pending(), 2U);
    world.start_and_run_for(1s);
    EXPECT_EQ(kernel.faults_pending(), 1U);  // what lies in the past strikes at once
    world.run_for(5s);
    EXPECT_EQ(kernel.faults_pending(), 0U);
    EXPECT_FALSE(kernel.fault_had_effect(0));  // the node was down already
}

// --- independence

using Strikes = std::map<std::string, std::string>;  // fault -> the call that it struck

// Three nodes with two jobs each.
Strikes strikes_of(const std::vector<Fault>& faults, std::uint64_t seed, bool unrelated_calls) {
    TestWorld world{seed};
    Strikes result;
    for (const char* name : {"A", "B", "C"}) {
        world.add(name, [&](Incarnation&) {
            for (const char* job : {"daily", "hourly"}) {
                world.work(job, [&] {
                    for (int i = 0; i < 5; ++i) {
                        if (unrelated_calls) world.call("log.write");
                        world.call(i % 2 == 0 ? "db.commit" : "redis.eval");
                    }
                });
            }
        });
    }
    world.arm(faults);
    world.start_and_run_for(1h);
    const History& history = world.kernel.history();
    for (RecordId id = 0; id < history.size(); ++id) {
        if (const auto struck = history[id].as<FaultStruck>()) {
            const Record cause = history[history[id].cause()];
            const auto call = cause.as<CallStarted>();
            result[std::string(struck->fault)] =
                fmt::format("{}/{}/{}", history.actor(cause), call->operation, call->ordinal);
        }
    }
    return result;
}

// Different faults that change timing alone, so that every call is made in every variation.
std::vector<Fault> delays(std::uint64_t seed) {
    const Random random{seed};
    std::vector<Fault> faults;
    for (std::uint64_t i = 0; i < 6; ++i) {
        const auto pick = [&](std::uint64_t site, std::vector<std::string> from) {
            return from.at(random.below(from.size(), site, i));
        };
        Fault fault = fault_at(
            pick(1, {"A", "B", "C"}) + "#1/" + pick(2, {"daily", "hourly"}) + "/" +
                pick(3,
                     {"db.commit/1", "db.commit/2", "db.commit/3", "redis.eval/1", "redis.eval/2"}),
            random.chance(500'000, 4, i) ? Phase::Sent : Phase::Applied, FaultKind::Delay);
        fault.by = random.between(1ms, 10s, 5, i);
        faults.push_back(fault);
    }
    return faults;
}

TEST(FaultIndependenceTest, RemovingOneFaultMovesNoOther) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::vector<Fault> faults = delays(seed);
        const auto all = strikes_of(faults, seed, false);
        ASSERT_EQ(all.size(), faults.size());
        for (std::size_t removed = 0; removed < faults.size(); ++removed) {
            std::vector<Fault> fewer = faults;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(removed));
            auto expected = all;
            expected.erase(describe(faults[removed]));
            ASSERT_EQ(strikes_of(fewer, seed, false), expected) << seed;
        }
    }
}

TEST(FaultIndependenceTest, AnUnrelatedCallMovesNoFault) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const std::vector<Fault> faults = delays(seed);
        ASSERT_EQ(strikes_of(faults, seed, true), strikes_of(faults, seed, false)) << seed;
    }
}

TEST(FaultIndependenceTest, ACallsKeyIsThatOfItsAddressWhateverElseHappens) {
    const auto keys = [](bool unrelated_calls) {
        TestWorld world;
        std::vector<std::uint64_t> found;
        world.add("A", [&](Incarnation&) {
            for (int i = 0; i < 5; ++i) {
                if (unrelated_calls) world.kernel.begin_call("log.write");
                found.push_back(world.kernel.begin_call("db.commit").key);
            }
        });
        world.start_and_run_for(1s);
        return found;
    };
    EXPECT_EQ(keys(true), keys(false));
    EXPECT_EQ(keys(false).size(), 5U);
}

}  // namespace
}  // namespace fencepost::sim::test
