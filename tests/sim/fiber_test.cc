// Goal: a fiber is an ordinary call stack, with its own exceptions, that can be killed for good.
#include "sim/fiber.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "sim/require.h"

namespace fencepost::sim {
namespace {

class FiberTest : public testing::Test {
protected:
    FiberStackPool pool;
    Fiber fiber{pool};
    Fiber other{pool};
    std::vector<std::string> log;

    std::string failure_text() {
        if (!fiber.failure()) return "none";
        try {
            std::rethrow_exception(fiber.failure());
        } catch (const std::exception& error) {
            return error.what();
        }
    }
};

// Runs a function when it is destroyed.
class Finally {
public:
    explicit Finally(std::function<void()> function) : function_(std::move(function)) {}
    ~Finally() { function_(); }
    Finally(const Finally&) = delete;
    Finally& operator=(const Finally&) = delete;

private:
    std::function<void()> function_;
};

TEST_F(FiberTest, RunsUntilItSuspendsAndGoesOnFromThere) {
    fiber.start([&] {
        log.emplace_back("one");
        fiber.suspend();
        log.emplace_back("two");
    });
    EXPECT_TRUE(log.empty());
    fiber.resume();
    EXPECT_EQ(log, (std::vector<std::string>{"one"}));
    EXPECT_TRUE(fiber.active());
    fiber.resume();
    EXPECT_EQ(log, (std::vector<std::string>{"one", "two"}));
    EXPECT_FALSE(fiber.active());
}

TEST_F(FiberTest, IsTheCurrentOneOnlyWhileItRuns) {
    EXPECT_EQ(Fiber::current(), nullptr);
    fiber.start([&] { EXPECT_EQ(Fiber::current(), &fiber); });
    fiber.resume();
    EXPECT_EQ(Fiber::current(), nullptr);
}

TEST_F(FiberTest, KeepsItsOwnExceptionWhileAnotherIsSuspendedInACatchBlockToo) {
    const auto body = [&](Fiber& self, const std::string& text) {
        try {
            throw std::runtime_error(text);
        } catch (const std::exception&) {
            self.suspend();
            try {
                throw;
            } catch (const std::exception& again) {
                log.emplace_back(again.what());
                self.suspend();
            }
            log.push_back(text + " done");
        }
        EXPECT_EQ(std::current_exception(), nullptr);
    };
    fiber.start([&] { body(fiber, "first"); });
    other.start([&] { body(other, "second"); });
    for (int i = 0; i < 3; ++i) {
        fiber.resume();
        EXPECT_EQ(std::current_exception(), nullptr);
        other.resume();
    }
    EXPECT_EQ(log, (std::vector<std::string>{"first", "second", "first done", "second done"}));
    EXPECT_FALSE(fiber.active() || other.active());
}

TEST_F(FiberTest, CountsItsOwnUncaughtExceptions) {
    const auto body = [&](Fiber& self) {
        try {
            const Finally guard{[&] {
                EXPECT_EQ(std::uncaught_exceptions(), 1);
                self.suspend();
                EXPECT_EQ(std::uncaught_exceptions(), 1);
            }};
            throw std::runtime_error("unwinding");
        } catch (const std::exception&) {
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        }
    };
    fiber.start([&] { body(fiber); });
    other.start([&] { body(other); });
    fiber.resume();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    other.resume();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    fiber.resume();
    other.resume();
    EXPECT_FALSE(fiber.active() || other.active());
}

TEST_F(FiberTest, StacksAreReused) {
    for (int i = 0; i < 100; ++i) {
        fiber.start([] {});
        fiber.resume();
    }
    EXPECT_EQ(pool.created(), 1U);
}

TEST_F(FiberTest, ABodyThatNeverRanIsDroppedWhenKilled) {
    auto owned = std::make_shared<int>(1);
    fiber.start([owned, this] { log.emplace_back("ran"); });
    EXPECT_EQ(owned.use_count(), 2);
    fiber.kill();
    EXPECT_EQ(owned.use_count(), 1);
    EXPECT_FALSE(fiber.active());
    EXPECT_TRUE(log.empty());
    EXPECT_EQ(pool.created(), 0U);
}

TEST_F(FiberTest, ABodyIsDestroyedWhenItEnds) {
    auto owned = std::make_shared<int>(1);
    fiber.start([owned] {});
    fiber.resume();
    EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(FiberTest, KillRunsDestructorsAndNothingElse) {
    fiber.start([&] {
        const Finally guard{[&] { log.emplace_back("destroyed"); }};
        try {
            fiber.suspend();
            log.emplace_back("went on");
        } catch (const std::exception&) {
            log.emplace_back("mistook it for an error");
        }
    });
    fiber.resume();
    fiber.kill();
    EXPECT_EQ(log, (std::vector<std::string>{"destroyed"}));
    EXPECT_FALSE(fiber.active() || fiber.abandoned());
    EXPECT_FALSE(fiber.failure());
}

TEST_F(FiberTest, ADestructorThatCallsOutAfterAKillIsTold) {
    fiber.start([&] {
        EXPECT_FALSE(fiber.dead_call());
        const Finally guard{[&] { log.emplace_back(fiber.dead_call() ? "dead" : "alive"); }};
        fiber.suspend();
    });
    fiber.resume();
    fiber.kill();
    EXPECT_EQ(log, (std::vector<std::string>{"dead"}));
    EXPECT_FALSE(fiber.abandoned());
}

TEST_F(FiberTest, AKilledFiberWithNothingOnItsStackGivesBackItsBodyAndStack) {
    auto owned = std::make_shared<int>(1);
    for (int i = 0; i < 3; ++i) {
        fiber.start([owned, this] { fiber.suspend(); });
        fiber.resume();
        fiber.kill();
        EXPECT_EQ(owned.use_count(), 1);
        EXPECT_FALSE(fiber.active() || fiber.abandoned());
        EXPECT_EQ(pool.created(), 1U);
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST_F(FiberTest, WhatItsBodyCapturedCallsOutInVainAfterAKill) {
    const auto captured = [this](bool something_on_the_stack) {
        auto last = std::make_unique<Finally>([&] {
            fiber.suspend();
            log.emplace_back(fiber.dead_call() ? "dead" : "alive");
        });
        fiber.start([this, last = std::move(last), something_on_the_stack] {
            if (something_on_the_stack) {
                const Finally guard{[&] { log.emplace_back("unwound"); }};
                fiber.suspend();
            }
            fiber.suspend();
        });
    };
    for (const bool something_on_the_stack : {false, true}) {
        captured(something_on_the_stack);
        fiber.resume();
        fiber.kill();
        EXPECT_FALSE(fiber.active() || fiber.abandoned());
    }
    EXPECT_EQ(log, (std::vector<std::string>{"dead", "unwound", "dead"}));
}

TEST_F(FiberTest, SuspendingInADestructorAfterAKillReturnsAtOnce) {
    fiber.start([&] {
        const Finally guard{[&] {
            fiber.suspend();
            log.emplace_back("not suspended");
        }};
        fiber.suspend();
    });
    fiber.resume();
    fiber.kill();
    EXPECT_EQ(log, (std::vector<std::string>{"not suspended"}));
    EXPECT_FALSE(fiber.active());
}

TEST_F(FiberTest, ALoopThatCatchesEverythingDoesNotKeepADeadFiberAlive) {
    int turns = 0;
    fiber.start([&] {
        for (;;) {
            try {
                ++turns;
                fiber.suspend();
            } catch (...) {
            }
        }
    });
    fiber.resume();
    fiber.kill();
    EXPECT_TRUE(fiber.abandoned());
    EXPECT_EQ(turns, Fiber::kMaxKillsSwallowed + 2);
    fiber.kill();  // nothing more to do
}

TEST_F(FiberTest, ALoopInADestructorDoesNotKeepADeadFiberAlive) {
    fiber.start([&] {
        const Finally guard{[&] {
            for (;;) fiber.suspend();
        }};
        fiber.suspend();
    });
    fiber.resume();
    fiber.kill();
    EXPECT_TRUE(fiber.abandoned());
}

TEST_F(FiberTest, KilledInsideADestructorThatMayNotThrowItIsAbandoned) {
    fiber.start([&] {
        const Finally guard{[&] { fiber.suspend(); }};
        log.emplace_back("leaving");
    });
    fiber.resume();
    fiber.kill();
    EXPECT_TRUE(fiber.abandoned());
    EXPECT_FALSE(fiber.failure());
    // The harness goes on, with sound exceptions.
    other.start([&] {
        try {
            throw std::runtime_error("as usual");
        } catch (const std::exception& error) {
            log.emplace_back(error.what());
        }
    });
    other.resume();
    EXPECT_EQ(log, (std::vector<std::string>{"leaving", "as usual"}));
    EXPECT_EQ(std::current_exception(), nullptr);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST_F(FiberTest, KilledWhileADestructorOfAnUnwindingStackWaitsItEndsOrIsAbandoned) {
    fiber.start([&] {
        const Finally guard{[&] {
            try {
                fiber.suspend();
            } catch (...) {
                log.emplace_back("release failed");
            }
        }};
        throw std::runtime_error("an ordinary error");
    });
    fiber.resume();
    fiber.kill();
    EXPECT_EQ(log, (std::vector<std::string>{"release failed"}));
    EXPECT_FALSE(fiber.active());
    EXPECT_FALSE(fiber.failure());
}

TEST_F(FiberTest, AKilledOneThatThrowsSomethingElseEndsQuietly) {
    fiber.start([&] {
        try {
            fiber.suspend();
        } catch (...) {
            throw std::runtime_error("translated");
        }
    });
    fiber.resume();
    fiber.kill();
    EXPECT_FALSE(fiber.active());
    EXPECT_EQ(failure_text(), "none");
}

TEST_F(FiberTest, AnExceptionThatLeavesTheBodyIsKept) {
    fiber.start([] { throw std::runtime_error("left the body"); });
    fiber.resume();
    EXPECT_FALSE(fiber.active());
    EXPECT_EQ(failure_text(), "left the body");
}

TEST_F(FiberTest, AFailureIsForgottenWhenItStartsAgain) {
    fiber.start([] { throw std::runtime_error("first"); });
    fiber.resume();
    fiber.start([] {});
    fiber.resume();
    EXPECT_EQ(failure_text(), "none");
}

TEST_F(FiberTest, AnExceptionOutOfANoexceptFunctionEndsThatFiberAlone) {
    const auto strict = []() noexcept {
        const auto fail = [] { throw std::runtime_error("out of noexcept"); };
        fail();
    };
    fiber.start([&] { strict(); });
    fiber.resume();
    EXPECT_TRUE(fiber.abandoned());
    EXPECT_EQ(failure_text(), "out of noexcept");
}

TEST_F(FiberTest, TerminateEndsThatFiberAlone) {
    fiber.start([] { std::terminate(); });
    fiber.resume();
    EXPECT_TRUE(fiber.abandoned());
    EXPECT_EQ(failure_text(), "std::terminate()");
}

TEST_F(FiberTest, AFiberDestroyedWhileSuspendedIsUnwound) {
    {
        Fiber local{pool};
        local.start([&] {
            const Finally guard{[&] { log.emplace_back("destroyed"); }};
            local.suspend();
        });
        local.resume();
    }
    EXPECT_EQ(log, (std::vector<std::string>{"destroyed"}));
}

TEST_F(FiberTest, StartingOrResumingOutOfTurnIsABrokenInvariant) {
    EXPECT_THROW(fiber.resume(), BrokenInvariant);
    EXPECT_THROW(fiber.suspend(), BrokenInvariant);
    fiber.start([&] { EXPECT_THROW(other.resume(), BrokenInvariant); });
    EXPECT_THROW(fiber.start([] {}), BrokenInvariant);
    other.start([] {});
    fiber.resume();
    other.resume();
}

// Goes down until `bytes` of stack are in use, and waits at the bottom.
std::size_t descend(Fiber& fiber, const char* top, std::size_t bytes) {
    const auto* here = static_cast<const char*>(__builtin_frame_address(0));
    volatile std::size_t own = 1;  // keeps the compiler from making a loop of it
    const auto used = static_cast<std::size_t>(top - here);
    if (used >= bytes) {
        fiber.suspend();
        return own;
    }
    const std::size_t below = descend(fiber, top, bytes);
    return below + own;
}

TEST_F(FiberTest, DeepRecursionWithinTheStackSizeWorks) {
    std::size_t depth = 0;
    fiber.start([&] {
        const auto* top = static_cast<const char*>(__builtin_frame_address(0));
        depth = descend(fiber, top, FiberStackPool::kStackSize * 9 / 10);
    });
    fiber.resume();
    EXPECT_TRUE(fiber.active());
    fiber.resume();
    EXPECT_FALSE(fiber.active());
    EXPECT_GT(depth, 100U);
}

TEST_F(FiberTest, OverflowingTheStackMeetsAGuardPage) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            fiber.start([&] {
                const auto* top = static_cast<const char*>(__builtin_frame_address(0));
                descend(fiber, top, FiberStackPool::kStackSize * 2);
            });
            fiber.resume();
        },
        "");
}

}  // namespace
}  // namespace fencepost::sim
