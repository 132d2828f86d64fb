// Goal: virtual time, tasks and their waiting behave as the kernel's contract says.
#include "sim/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/sim/test_world.h"

namespace fencepost::sim::test {
namespace {

class KernelTest : public testing::Test {
protected:
    TestWorld world;
    Kernel& kernel = world.kernel;
};

TEST_F(KernelTest, EventsAtOneInstantRunInTheOrderOfScheduling) {
    for (int i = 0; i < 5; ++i) {
        kernel.schedule(kStart + 5s, [this, i] { world.note(std::to_string(i)); });
        kernel.schedule(kStart + 1s, [this, i] { world.note(std::to_string(i)); });
    }
    EXPECT_EQ(world.run_for(1min), RunEnd::Deadlock);
    EXPECT_EQ(world.log, (Lines{"1s 0", "1s 1", "1s 2", "1s 3", "1s 4", "5s 0", "5s 1", "5s 2",
                                "5s 3", "5s 4"}));
}

TEST_F(KernelTest, AWatcherIsCalledAfterEachEventOutsideAnyTask) {
    world.add("A", [&](Incarnation&) { kernel.sleep(5s); });
    std::vector<std::size_t> tasks;
    kernel.watch([&] {
        EXPECT_EQ(kernel.current(), nullptr);
        tasks.push_back(kernel.tasks().size());
    });
    world.start_and_run_for(1min);
    EXPECT_EQ(tasks.size(), kernel.steps());
    EXPECT_EQ(tasks.back(), 0U) << "the sleeper has ended";
    EXPECT_EQ(std::ranges::count(tasks, 1U), static_cast<std::ptrdiff_t>(tasks.size()) - 1);
}

TEST_F(KernelTest, WhatAWatcherThrowsLeavesTheLoop) {
    world.add("A", [&](Incarnation&) {
        for (;;) kernel.sleep(5s);
    });
    kernel.watch([&] {
        if (kernel.now() >= kStart + 20s) throw std::runtime_error("enough");
    });
    EXPECT_THROW(world.start_and_run_for(1min), std::runtime_error);
    EXPECT_EQ(kernel.now(), kStart + 20s);
}

TEST_F(KernelTest, WhatIsScheduledInThePastRunsNow) {
    kernel.schedule(kStart + 5s,
                    [this] { kernel.schedule(kStart + 1s, [this] { world.note("now"); }); });
    world.run_for(1min);
    EXPECT_EQ(world.log, (Lines{"5s now"}));
}

TEST_F(KernelTest, ASleeperGoesOnWhenItsTimeHasCome) {
    world.add("A", [&](Incarnation&) {
        world.note("before");
        kernel.sleep(5s);
        world.note("after");
    });
    EXPECT_EQ(world.start_and_run_for(1min), RunEnd::Deadlock);
    EXPECT_EQ(world.log, (Lines{"0s before", "5s after"}));
}

TEST_F(KernelTest, SleepingForNothingReturnsAtOnce) {
    world.add("A", [&](Incarnation&) {
        kernel.sleep(0s);
        kernel.sleep(-5s);
        world.note("done");
    });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"0s done"}));
}

TEST_F(KernelTest, SleepingForEverDoesNotOverflow) {
    world.add("A", [&](Incarnation&) {
        kernel.sleep(Duration::max());
        world.note("woke");
    });
    EXPECT_EQ(world.start_and_run_for(24h), RunEnd::Deadline);
    EXPECT_TRUE(world.log.empty());
}

TEST_F(KernelTest, AWakeUpForAnEarlierSuspensionIsVoid) {
    world.add("A", [&](Incarnation&) {
        Task& self = kernel.self();
        kernel.wake_at(kStart + 1s, self, self.suspension);
        kernel.wake_at(kStart + 2s, self, self.suspension);  // too late: it waits anew by then
        const WaitText reason{"a wake-up"};
        kernel.wait(reason);
        world.note("first");
        kernel.wake_at(kStart + 5s, self, self.suspension);
        kernel.wait(reason);
        world.note("second");
    });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"1s first", "5s second"}));
}

TEST_F(KernelTest, ATaskThatWakesAnotherGoesOnFirst) {
    world.add("A", [&](Incarnation&) {
        Task& sleeper = world.daemon("sleeper", [&] {
            kernel.wait(WaitText{"a wake-up"});
            world.note("woken");
        });
        kernel.sleep(1s);
        kernel.wake(sleeper, sleeper.suspension);
        world.note("goes on");
    });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"1s goes on", "1s woken"}));
}

TEST_F(KernelTest, JoinWaitsForTheEndOfATask) {
    world.add("A", [&](Incarnation&) {
        Task& task = world.work("job", [&] { kernel.sleep(3s); });
        kernel.join(task);
        world.note("joined");
        kernel.join(task);
        world.note("joined again");
    });
    world.start_and_run_for(1min);
    EXPECT_EQ(world.log, (Lines{"3s joined", "3s joined again"}));
}

TEST_F(KernelTest, JoinersOfAKilledTaskGoOnEvenWhenItHadToBeAbandoned) {
    world.add("A", [&](Incarnation&) {
        Task& tidy = world.daemon("tidy", [&] { kernel.sleep(1h); });
        Task& stubborn = world.daemon("stubborn", [&] {
            for (;;) {
                try {
                    kernel.sleep(1h);
                } catch (...) {
                }
            }
        });
        kernel.schedule(kStart + 1s, [&] { kernel.kill(tidy); });
        kernel.schedule(kStart + 2s, [&] { kernel.kill(stubborn); });
        kernel.join(tidy);
        world.note("tidy is gone");
        kernel.join(stubborn);
        world.note("stubborn is gone");
    });
    // The timers of the dead fire in vain.
    EXPECT_EQ(world.start_and_run_for(3h), RunEnd::Deadlock);
    EXPECT_EQ(world.log, (Lines{"1s tidy is gone", "2s stubborn is gone"}));
}

TEST_F(KernelTest, ForegroundTasksAreCounted) {
    world.add("A", [&](Incarnation&) {
        world.work("short", [&] { kernel.sleep(1s); });
        world.work("long", [&] { kernel.sleep(10s); });
        world.daemon("daemon", [&] { kernel.sleep(1h); });
    });
    world.boot_all();
    world.run_for(500ms);
    EXPECT_EQ(kernel.foreground_tasks(), 2U);
    world.run_for(5s);
    EXPECT_EQ(kernel.foreground_tasks(), 1U);
    world.run_for(10s);
    EXPECT_EQ(kernel.foreground_tasks(), 0U);
}

TEST_F(KernelTest, ForegroundTasksOfACrashedNodeCountNoMore) {
    Node& node = world.add("A", [&](Incarnation&) {
        world.work("waits", [&] { kernel.sleep(1h); });
        world.work("stubborn", [&] {
            for (;;) {
                try {
                    kernel.sleep(1h);
                } catch (...) {
                }
            }
        });
        world.work("crashes", [&] {
            kernel.sleep(1s);
            kernel.crash(kernel.self().incarnation->node(), std::nullopt);
        });
    });
    world.start_and_run_for(500ms);
    EXPECT_EQ(kernel.foreground_tasks(), 3U);
    world.run_for(1s);
    EXPECT_FALSE(node.up());
    EXPECT_EQ(kernel.foreground_tasks(), 0U);
}

TEST_F(KernelTest, ATaskNameUsedAgainGetsANumber) {
    Lines names;
    world.add("A", [&](Incarnation&) {
        for (int i = 0; i < 3; ++i) names.push_back(world.daemon("job", [] {}).name);
        names.push_back(world.daemon("other", [] {}).name);
    });
    world.start_and_run_for(1s);
    EXPECT_EQ(names, (Lines{"job", "job~2", "job~3", "other"}));
}

TEST_F(KernelTest, TheRootOfARenewalIsTheJobItWorksFor) {
    TaskId job = kNoTask;
    TaskId renewal = kNoTask;
    TaskId timer = kNoTask;
    TaskId poller = kNoTask;
    TaskId nested = kNoTask;
    world.add("A", [&](Incarnation&) {
        poller = world.daemon("poller", [] {}).id;
        job = world
                  .work("job",
                        [&] {
                            renewal = world
                                          .daemon("renewal",
                                                  [&] { timer = world.daemon("timer", [] {}).id; })
                                          .id;
                            nested = world.work("nested job", [] {}).id;
                        })
                  .id;
    });
    world.start_and_run_for(1s);
    const History& history = kernel.history();
    EXPECT_EQ(history.task(job).root, job);
    EXPECT_EQ(history.task(renewal).root, job);
    EXPECT_EQ(history.task(timer).root, job);
    EXPECT_EQ(history.task(poller).root, poller);
    EXPECT_EQ(history.task(nested).root, nested);
}

TEST_F(KernelTest, AnExceptionThatLeavesATaskEndsItsProcess) {
    Node& node = world.add("A", [&](Incarnation&) {
        world.daemon("check-in", [&] {
            kernel.sleep(1s);
            throw std::runtime_error("connection lost");
        });
        kernel.sleep(1h);
        world.note("never");
    });
    world.start_and_run_for(2h);
    EXPECT_FALSE(node.up());
    EXPECT_TRUE(world.log.empty());
    EXPECT_EQ(world.records<NodeEnded>(),
              (Lines{"1s A incarnation=1 how=uncaught exception in check-in: connection lost"}));
}

TEST_F(KernelTest, TerminateInATaskEndsItsProcessAndNotTheHarness) {
    Node& node = world.add("A", [&](Incarnation&) {
        world.work("job", [] { std::terminate(); });
        kernel.sleep(1h);
    });
    world.start_and_run_for(2h);
    EXPECT_FALSE(node.up());
    EXPECT_EQ(kernel.foreground_tasks(), 0U);
    EXPECT_EQ(world.records<NodeEnded>(),
              (Lines{"0s A incarnation=1 how=uncaught exception in job: std::terminate()"}));
}

TEST_F(KernelTest, WhatEndedAProcessByAnExceptionIsItsCause) {
    world.add("A", [&](Incarnation&) { throw std::runtime_error("boot failed"); });
    world.start_and_run_for(1s);
    const History& history = kernel.history();
    const Record last = history[static_cast<RecordId>(history.size() - 1)];
    ASSERT_TRUE(last.as<NodeEnded>());
    ASSERT_NE(last.cause(), kNoRecord);
    EXPECT_TRUE(history[last.cause()].as<TaskEnded>());
}

TEST_F(KernelTest, ABrokenInvariantInATaskLeavesTheRun) {
    world.add("A", [&](Incarnation&) { require(false, "impossible"); });
    EXPECT_THROW(world.start_and_run_for(1s), BrokenInvariant);
    world.restart(2);
    world.add("A", [&](Incarnation&) { world.note("fine"); });
    world.start_and_run_for(1s);
    EXPECT_EQ(world.log, (Lines{"0s fine"}));
}

TEST_F(KernelTest, ARunThatGetsNowhereMeetsTheStepLimit) {
    world.add("A", [&](Incarnation&) {
        Task& self = kernel.self();
        for (;;) {
            kernel.wake_at(kernel.now(), self, self.suspension);
            kernel.wait(WaitText{"nothing"});
        }
    });
    world.boot_all();
    EXPECT_EQ(kernel.run(kStart + 1h, 10'000), RunEnd::StepLimit);
    EXPECT_EQ(kernel.steps(), 10'000U);
    EXPECT_EQ(kernel.now(), kStart);
}

TEST_F(KernelTest, ARunStopsAtItsDeadlineAndCanGoOn) {
    world.add("A", [&](Incarnation&) {
        for (;;) {
            kernel.sleep(10s);
            world.note("tick");
        }
    });
    EXPECT_EQ(world.start_and_run_for(25s), RunEnd::Deadline);
    EXPECT_EQ(kernel.now(), kStart + 25s);
    EXPECT_EQ(world.run_for(10s), RunEnd::Deadline);
    EXPECT_EQ(world.log, (Lines{"10s tick", "20s tick", "30s tick"}));
}

TEST_F(KernelTest, ADeadlineInThePastDoesNotTurnTimeBack) {
    world.add("A", [&](Incarnation&) { kernel.sleep(1h); });
    world.start_and_run_for(1min);
    EXPECT_EQ(kernel.run(kStart, 1'000), RunEnd::Deadline);
    EXPECT_EQ(kernel.now(), kStart + 1min);
}

TEST_F(KernelTest, ARunStopsWhenTheWorldAsks) {
    world.add("A", [&](Incarnation&) {
        kernel.sleep(1s);
        kernel.stop();
        kernel.sleep(1h);
    });
    EXPECT_EQ(world.start_and_run_for(2h), RunEnd::Quiet);
    EXPECT_EQ(kernel.now(), kStart + 1s);
}

TEST_F(KernelTest, ADeadlockNamesEveryWaiter) {
    Task* job = nullptr;
    world.add("A", [&](Incarnation&) {
        job = &world.work("job", [&] {
            kernel.sleep(1s);
            kernel.wait(WaitText{"the row of account 7"});
        });
        kernel.sleep(3s);
        kernel.join(*job);
    });
    world.add("B", [&](Incarnation&) { kernel.wait(WaitText{"a message"}); });
    EXPECT_EQ(world.start_and_run_for(1h), RunEnd::Deadlock);
    EXPECT_EQ(kernel.waiters(false),
              (Lines{"A#1/main: has waited 0s for job", "B#1/main: has waited 3s for a message",
                     "A#1/job: has waited 2s for the row of account 7"}));
    EXPECT_EQ(kernel.waiters(true), (Lines{"A#1/job: has waited 2s for the row of account 7"}));
}

TEST_F(KernelTest, WhatATaskRecordsIsCausedByWhatItDidBefore) {
    world.add("A", [&](Incarnation&) {
        kernel.record(ProbeReached{"one"});
        kernel.record(ProbeReached{"two"});
    });
    world.start_and_run_for(1s);
    const History& history = kernel.history();
    for (RecordId id = 0; id < history.size(); ++id) {
        if (const auto probe = history[id].as<ProbeReached>(); probe && probe->name == "two") {
            EXPECT_EQ(history[history[id].cause()].as<ProbeReached>()->name, "one");
            EXPECT_EQ(history.actor(history[id]), "A#1/main");
        }
    }
}

TEST_F(KernelTest, EndingARunLeavesNoTraceInTheHistory) {
    world.add("A", [&](Incarnation&) {
        world.work("job", [&] { kernel.sleep(1h); });
        kernel.sleep(1h);
    });
    world.start_and_run_for(1s);
    const std::uint64_t fingerprint = kernel.history().fingerprint();
    kernel.end_run();
    EXPECT_EQ(kernel.history().fingerprint(), fingerprint);
    EXPECT_EQ(kernel.foreground_tasks(), 0U);
}

TEST_F(KernelTest, ADestructorMayWakeAnotherTaskWhileTheRunEnds) {
    struct WakesOnExit {
        Kernel& kernel;
        Task& task;
        ~WakesOnExit() { kernel.wake(task, task.suspension); }
    };
    world.add("A", [&](Incarnation&) {
        Task& sleeper = world.daemon("sleeper", [&] {
            kernel.sleep(1h);
            world.note("woken by the dead");
        });
        world.daemon("waker", [&] {
            const WakesOnExit guard{kernel, sleeper};
            kernel.sleep(1h);
        });
    });
    world.start_and_run_for(1s);
    kernel.end_run();
    EXPECT_TRUE(world.log.empty());
}

}  // namespace
}  // namespace fencepost::sim::test
