// Goal: nodes crash, pause, slow down, stop and heal as the machines of a cluster do.
#include <gtest/gtest.h>

#include "tests/sim/test_world.h"

namespace fencepost::sim::test {
namespace {

class NodeTest : public testing::Test {
protected:
    // A node whose main task notes each second.
    Node& ticking(const std::string& name) {
        return world.add(name, [this, name](Incarnation& life) {
            for (;;) {
                kernel.sleep(1s);
                world.note(fmt::format("{}#{}", name, life.number()));
            }
        });
    }
    void at(Duration after, std::function<void()> action) {
        kernel.schedule(kStart + after, std::move(action));
    }

    TestWorld world;
    Kernel& kernel = world.kernel;
};

// --- crash

TEST_F(NodeTest, ACrashEndsEveryTaskOfTheNodeAndNoOther) {
    Node& node = ticking("A");
    ticking("B");
    at(1500ms, [&] { EXPECT_TRUE(kernel.crash(node, std::nullopt)); });
    world.start_and_run_for(3s);
    EXPECT_EQ(world.log, (Lines{"1s A#1", "1s B#1", "2s B#1", "3s B#1"}));
    EXPECT_FALSE(node.up());
}

TEST_F(NodeTest, WhatAProcessKeepsOutlivesItsTasksAndNotItsEnd) {
    struct Belonging {
        ~Belonging() { world->note("gone"); }
        TestWorld* world;
    };
    struct Waiting {
        ~Waiting() { world->note("unwound"); }
        TestWorld* world;
    };
    Node& node = world.add("A", [this](Incarnation& life) {
        life.keep(std::make_shared<Belonging>(&world));
        kernel.spawn(life, "other", TaskKind::Daemon, [this] {
            const Waiting waiting{&world};
            kernel.sleep(1h);
        });
        for (;;) kernel.sleep(1s);
    });
    at(1500ms, [&] { kernel.crash(node, std::nullopt); });
    world.start_and_run_for(3s);
    EXPECT_EQ(world.log, (Lines{"1s500ms unwound", "1s500ms gone"}));
}

TEST_F(NodeTest, ACrashedNodeComesBackAsAnotherIncarnation) {
    Node& node = ticking("A");
    at(1500ms, [&] { kernel.crash(node, 2s); });
    world.start_and_run_for(5s);
    EXPECT_EQ(world.log, (Lines{"1s A#1", "4s500ms A#2"}));
    EXPECT_EQ(world.records<NodeStarted>(),
              (Lines{"0s A incarnation=1", "3s500ms A incarnation=2"}));
}

TEST_F(NodeTest, ANodeThatIsDownDoesNotCrash) {
    Node& node = ticking("A");
    at(1s, [&] {
        EXPECT_TRUE(kernel.crash(node, std::nullopt));
        EXPECT_FALSE(kernel.crash(node, 1s));
        EXPECT_FALSE(kernel.pause(node, 1s));
        EXPECT_FALSE(kernel.slow(node, 1s, 1s));
        EXPECT_FALSE(kernel.stop_gracefully(node, 1s, std::nullopt));
    });
    world.start_and_run_for(5s);
    EXPECT_FALSE(node.up());
}

TEST_F(NodeTest, APlannedRestartIsVoidOnceTheNodeHasLivedAgain) {
    Node& node = ticking("A");
    at(1s, [&] { kernel.crash(node, 10s); });
    at(2s, [&] { kernel.boot(node); });
    at(3s, [&] { kernel.crash(node, std::nullopt); });
    world.start_and_run_for(1min);
    EXPECT_EQ(node.incarnations(), 2U);
    EXPECT_FALSE(node.up());
}

TEST_F(NodeTest, TasksOfACrashedNodeAreUnwoundYoungestFirst) {
    struct Note {
        TestWorld& world;
        std::string text;
        ~Note() { world.note(text); }
    };
    Node& node = world.add("A", [&](Incarnation&) {
        const Note main{world, "main"};
        for (const char* name : {"one", "two"}) {
            world.daemon(name, [&, name] {
                const Note own{world, name};
                kernel.sleep(1h);
            });
        }
        kernel.sleep(1h);
    });
    at(1s, [&] { kernel.crash(node, std::nullopt); });
    world.start_and_run_for(2s);
    EXPECT_EQ(world.log, (Lines{"1s two", "1s one", "1s main"}));
}

TEST_F(NodeTest, WakeUpsOfDeadTasksAreVoid) {
    Node& node = world.add("A", [&](Incarnation&) {
        kernel.sleep(2s);
        world.note("woke");
    });
    at(1s, [&] { kernel.crash(node, 500ms); });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"3s500ms woke"}));
}

TEST_F(NodeTest, NothingOfANodeRunsBetweenItsCrashAndItsUnwinding) {
    Node& node = ticking("A");
    at(1s, [&] { kernel.crash(node, std::nullopt); });  // before the timer of the same instant
    world.start_and_run_for(5s);
    EXPECT_TRUE(world.log.empty());
}

TEST_F(NodeTest, ACallMadeByADestructorOfADeadProcessReachesNobody) {
    struct Release {
        TestWorld& world;
        ~Release() { world.note(world.call("redis.release")); }
    };
    Node& node = world.add("A", [&](Incarnation&) {
        const Release guard{world};
        kernel.sleep(1h);
    });
    at(1s, [&] { kernel.crash(node, std::nullopt); });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"1s dead"}));
    EXPECT_TRUE(world.applied.empty());
    EXPECT_TRUE(world.records<CallStarted>().empty());
}

TEST_F(NodeTest, ARetryLoopOfADeadProcessReachesNobody) {
    Node& node = world.add("A", [&](Incarnation&) {
        for (;;) {
            try {
                world.call("db.execute");
                kernel.sleep(1h);
            } catch (...) {
            }
        }
    });
    at(1s, [&] { kernel.crash(node, std::nullopt); });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.applied, (Lines{"A#1/main/db.execute/1"}));
}

TEST_F(NodeTest, AnObserverHearsOfTheEndBeforeAnythingElseHappens) {
    Node& node = ticking("A");
    kernel.on_incarnation_end([&](Incarnation& life) {
        EXPECT_FALSE(life.alive());
        world.note(fmt::format("{}#{} ended", life.node().name(), life.number()));
    });
    at(1500ms, [&] { kernel.crash(node, std::nullopt); });
    world.start_and_run_for(3s);
    EXPECT_EQ(world.log, (Lines{"1s A#1", "1s500ms A#1 ended"}));
}

// --- pause

TEST_F(NodeTest, TimersOfAPausedNodeFireLateAndInOrder) {
    Node& node = world.add("A", [&](Incarnation&) {
        for (const int seconds : {4, 2, 3, 6}) {
            world.daemon(std::to_string(seconds), [&, seconds] {
                kernel.sleep(std::chrono::seconds{seconds});
                world.note(std::to_string(seconds));
            });
        }
    });
    at(1s, [&] { EXPECT_TRUE(kernel.pause(node, 4s)); });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"5s 2", "5s 3", "5s 4", "6s 6"}));
}

TEST_F(NodeTest, OverlappingPausesLastUntilTheLastOneEnds) {
    Node& node = ticking("A");
    at(500ms, [&] { kernel.pause(node, 5s); });
    at(600ms, [&] { kernel.pause(node, 1s); });
    at(700ms, [&] { kernel.pause(node, 9300ms); });
    at(9s, [&] { EXPECT_TRUE(node.paused()); });
    world.start_and_run_for(11s);
    EXPECT_EQ(world.log, (Lines{"10s A#1", "11s A#1"}));
    EXPECT_EQ(world.records<NodeResumed>(), (Lines{"10s A "}));
}

TEST_F(NodeTest, ANodeThatCrashesWhilePausedComesBackRunning) {
    Node& node = ticking("A");
    at(500ms, [&] { kernel.pause(node, 1h); });
    at(2s, [&] { EXPECT_TRUE(kernel.crash(node, 1s)); });
    world.start_and_run_for(2h);
    EXPECT_EQ(world.log.front(), "4s A#2");
    EXPECT_TRUE(world.records<NodeResumed>().empty());
}

TEST_F(NodeTest, ThePauseOfAnEarlierLifeDoesNotEndOneOfALaterLife) {
    Node& node = ticking("A");
    at(500ms, [&] { kernel.pause(node, 5s); });
    at(1s, [&] { kernel.crash(node, 1s); });
    at(2500ms, [&] { kernel.pause(node, 10s); });
    at(6s, [&] { EXPECT_TRUE(node.paused()); });
    world.start_and_run_for(13s);
    EXPECT_EQ(world.log, (Lines{"12s500ms A#2"}));
}

TEST_F(NodeTest, WhicheverWakeUpCameFirstDuringAPauseCounts) {
    Node& node = world.add("A", [&](Incarnation&) {
        Task& self = kernel.self();
        kernel.wake_at(kStart + 2s, self, self.suspension);
        kernel.wake_at(kStart + 3s, self, self.suspension);
        kernel.wait(WaitText{"either"});
        world.note("one");
        kernel.wait(WaitText{"the other"});
        world.note("two");
    });
    at(1s, [&] { kernel.pause(node, 5s); });
    EXPECT_EQ(world.start_and_run_for(1min), RunEnd::Deadlock);
    EXPECT_EQ(world.log, (Lines{"6s one"}));
}

// --- slow

TEST_F(NodeTest, EveryStepOfASlowNodeTakesLongerForAWhile) {
    Node& node = ticking("A");
    at(500ms, [&] { EXPECT_TRUE(kernel.slow(node, 300ms, 2s)); });
    world.start_and_run_for(5s);
    EXPECT_EQ(world.log, (Lines{"1s300ms A#1", "2s600ms A#1", "3s600ms A#1", "4s600ms A#1"}));
}

// --- graceful stop

TEST_F(NodeTest, AGracefulStopRunsTheHandlerAndEndsTheProcess) {
    Node& node = world.add("A", [&](Incarnation& life) {
        life.on_stop([&] {
            world.note("draining");
            kernel.sleep(2s);
            world.note("drained");
        });
        kernel.sleep(1h);
    });
    at(1s, [&] { EXPECT_TRUE(kernel.stop_gracefully(node, 10s, 5s)); });
    world.start_and_run_for(4s);
    EXPECT_EQ(world.log, (Lines{"1s draining", "3s drained"}));
    EXPECT_FALSE(node.up());
    EXPECT_EQ(world.records<NodeEnded>(), (Lines{"3s A incarnation=1 how=stopped"}));
    world.run_for(1min);
    EXPECT_EQ(node.incarnations(), 2U);
    EXPECT_TRUE(node.up());
}

TEST_F(NodeTest, AProcessThatDoesNotStopInTimeIsKilled) {
    Node& node = world.add("A", [&](Incarnation& life) {
        life.on_stop([&] {
            kernel.sleep(1h);
            world.note("never");
        });
        kernel.sleep(1h);
    });
    at(1s, [&] { kernel.stop_gracefully(node, 10s, std::nullopt); });
    world.start_and_run_for(2h);
    EXPECT_FALSE(node.up());
    EXPECT_TRUE(world.log.empty());
    EXPECT_EQ(world.records<NodeEnded>(), (Lines{"11s A incarnation=1 how=grace period over"}));
}

TEST_F(NodeTest, AStoppingProcessIsNotAskedTwiceAndTheGraceOfOneLifeEndsNoOther) {
    Node& node = ticking("A");
    at(1500ms, [&] {
        EXPECT_TRUE(kernel.stop_gracefully(node, 10s, 1s));
        EXPECT_TRUE(node.current()->stopping());
        EXPECT_FALSE(kernel.stop_gracefully(node, 1s, std::nullopt));
    });
    world.start_and_run_for(1min);
    EXPECT_EQ(node.incarnations(), 2U);
    EXPECT_TRUE(node.up());
}

TEST_F(NodeTest, TheGracePeriodRunsOnWhileTheNodeIsPaused) {
    Node& node = world.add("A", [&](Incarnation& life) {
        life.on_stop([&] { world.note("draining"); });
        kernel.sleep(1h);
    });
    at(1s, [&] {
        kernel.pause(node, 1min);
        kernel.stop_gracefully(node, 10s, std::nullopt);
    });
    world.start_and_run_for(2min);
    EXPECT_TRUE(world.log.empty());
    EXPECT_EQ(world.records<NodeEnded>(), (Lines{"11s A incarnation=1 how=grace period over"}));
}

// --- healing

TEST_F(NodeTest, HealingBringsEveryNodeBack) {
    Node& crashed = ticking("A");
    Node& paused = ticking("B");
    Node& slow = ticking("C");
    at(500ms, [&] {
        kernel.crash(crashed, std::nullopt);
        kernel.pause(paused, 1h);
        kernel.slow(slow, 10s, 1h);
    });
    at(600ms, [&] { kernel.heal_nodes(); });
    world.start_and_run_for(2s);
    EXPECT_EQ(world.log, (Lines{"1s B#1", "1s C#1", "1s600ms A#2", "2s B#1", "2s C#1"}));
}

TEST_F(NodeTest, APauseThatWasHealedDoesNotEndALaterOne) {
    Node& node = ticking("A");
    at(500ms, [&] { kernel.pause(node, 5s); });
    at(1500ms, [&] { kernel.heal_nodes(); });
    at(2s, [&] { kernel.pause(node, 10s); });
    at(6s, [&] { EXPECT_TRUE(node.paused()); });
    world.start_and_run_for(12s);
    EXPECT_EQ(world.log, (Lines{"1s500ms A#1", "12s A#1"}));
}

}  // namespace
}  // namespace fencepost::sim::test
