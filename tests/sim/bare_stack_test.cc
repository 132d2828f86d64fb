// Goal: a stack is dropped without unwinding only where unwinding would do nothing.
// Method: chains of calls with and without something to destroy, asked about from their end.
#include "sim/bare_stack.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace fencepost::sim {
namespace {

struct Question {
    BareStacks& stacks;
    const std::byte* top = nullptr;
    bool answer = false;
};
using Chain = void (*)(Question&);

// Keeps the compiler from leaving a frame out, by a tail call or otherwise.
#define FENCEPOST_FRAME [[gnu::noinline, gnu::noipa]]
void stay() {
    asm volatile("" ::: "memory");
}

FENCEPOST_FRAME void outermost(Question& question, Chain chain) {
    question.top = static_cast<const std::byte*>(__builtin_frame_address(0));
    chain(question);
    stay();
}

FENCEPOST_FRAME void ask(Question& question) {
    question.answer = question.stacks.holds_nothing(
        {.frame = static_cast<const std::byte*>(__builtin_frame_address(0)),
         .top = question.top,
         .outermost = reinterpret_cast<const void*>(&outermost)});
    stay();
}

FENCEPOST_FRAME void plain(Question& question) {
    ask(question);
    stay();
}

FENCEPOST_FRAME void owner(Question& question) {
    const std::string text(100, 'x');
    ask(question);
    stay();
}

FENCEPOST_FRAME void owner_of_the_past(Question& question) {
    { const auto gone = std::make_unique<int>(1); }
    ask(question);
    stay();
}

FENCEPOST_FRAME void catcher(Question& question) {
    try {
        ask(question);
    } catch (const std::string&) {
        stay();
    }
}

FENCEPOST_FRAME void handler_of_an_exception(Question& question) {
    try {
        throw 1;
    } catch (int) {
        ask(question);
    }
}

FENCEPOST_FRAME void thrower_of_nothing(Question& question) noexcept {
    ask(question);
    stay();
}

FENCEPOST_FRAME void plain_below_an_owner(Question& question) {
    const auto owned = std::make_unique<int>(1);
    plain(question);
    stay();
}

// With a frame whose size is known when it runs.
FENCEPOST_FRAME void deep(Question& question, std::size_t depth, Chain chain) {
    auto* const room = static_cast<volatile char*>(__builtin_alloca(depth));
    room[0] = 1;
    chain(question);
    stay();
}

class BareStackTest : public testing::Test {
protected:
    bool holds_nothing(Chain chain) {
        Question question{.stacks = stacks};
        outermost(question, chain);
        return question.answer;
    }
    BareStacks stacks;
};

TEST_F(BareStackTest, CallsThatOwnNothingHoldNothing) {
#ifdef __x86_64__
    EXPECT_TRUE(holds_nothing(plain));
    EXPECT_TRUE(holds_nothing(owner_of_the_past));
#endif
}

TEST_F(BareStackTest, WhatHasToBeDestroyedIsSeen) {
    EXPECT_FALSE(holds_nothing(owner));
    EXPECT_FALSE(holds_nothing(plain_below_an_owner));
}

TEST_F(BareStackTest, WhoeverCouldCatchIsSeen) {
    EXPECT_FALSE(holds_nothing(catcher));
}

TEST_F(BareStackTest, AnExceptionThatIsBeingHandledIsSeen) {
    EXPECT_FALSE(holds_nothing(handler_of_an_exception));
}

TEST_F(BareStackTest, AFunctionThatMustNotThrowIsSeen) {
    EXPECT_FALSE(holds_nothing(thrower_of_nothing));
}

TEST_F(BareStackTest, TheAnswerIsTheSameWhenItIsKnown) {
    const bool first = holds_nothing(plain);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(holds_nothing(plain), first);
        EXPECT_FALSE(holds_nothing(owner));
        EXPECT_FALSE(holds_nothing(plain_below_an_owner));
        EXPECT_FALSE(holds_nothing(catcher));
    }
}

TEST_F(BareStackTest, FramesOfAnySizeAreToldApart) {
    static std::size_t depth = 0;
    for (int round = 0; round < 200; ++round) {
        depth = 16 * (1 + static_cast<std::size_t>(round) % 100);
        // Known or not: the next two are not taken for it.
        static_cast<void>(holds_nothing([](Question& asked) { deep(asked, depth, plain); }));
        EXPECT_FALSE(holds_nothing([](Question& asked) { deep(asked, depth, owner); }));
        EXPECT_FALSE(holds_nothing([](Question& asked) { deep(asked, depth, catcher); }));
    }
}

}  // namespace
}  // namespace fencepost::sim
