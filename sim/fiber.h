// Fibers: stacks on which ordinary blocking code waits in virtual time.
//
// The loop resumes a fiber; the fiber runs until it suspends, ends, or is abandoned. Fibers never
// resume each other. Each keeps its own C++ exception state, so that two of them may be suspended
// inside a catch block at once. Stacks are pooled, with a guard page below each.
//
// Killing. kill() makes the suspension point throw FiberKilled, so that destructors give memory
// back; where nothing on the stack would notice, the fiber just ends. What its body captured is
// destroyed last, in either case as if the exception were still under way: calls into the harness
// do nothing. Code that goes on regardless (a catch (...) loop, a destructor that calls out) is not
// trusted to end: each further call into the harness goes through dead_call(), and a fiber that
// makes too many of them is abandoned: it is never resumed, and what it owned is never destroyed.
// std::terminate() on a fiber ends that fiber alone: it is abandoned, with a failure().
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "sim/bare_stack.h"

namespace fencepost::sim {

// Not a std::exception: `catch (const std::exception&)` must not mistake a crash for an error.
struct FiberKilled {};

struct FiberStack {
    std::byte* memory = nullptr;  // lowest usable byte, above the guard page
    std::size_t size = 0;
};

// Keeps stacks for reuse: making one costs an mmap, reusing one a few nanoseconds.
class FiberStackPool {
public:
    // Usable bytes a stack. Only touched pages cost memory.
    static constexpr std::size_t kStackSize = 256UL * 1024;

    FiberStackPool();
    ~FiberStackPool();
    FiberStackPool(const FiberStackPool&) = delete;
    FiberStackPool& operator=(const FiberStackPool&) = delete;

    FiberStack take();
    void give_back(FiberStack stack) { free_.push_back(stack); }
    [[nodiscard]] std::size_t created() const { return created_.size(); }
    // What is known of the stacks of this pool.
    BareStacks& bare() { return bare_; }

private:
    std::vector<FiberStack> free_;
    std::vector<void*> created_;  // mappings, guard page included
    BareStacks bare_;
};

class Fiber {
public:
    using Body = std::move_only_function<void()>;

    // Calls that a killed fiber may still make in its destructors before it is abandoned.
    static constexpr int kMaxDeadCalls = 1000;
    // Calls that it may still make outside them, each of which throws FiberKilled once more (some
    // microseconds, where the others cost nothing).
    static constexpr int kMaxKillsSwallowed = 20;

    explicit Fiber(FiberStackPool& pool) : pool_(&pool) {}
    // Of an abandoned fiber the stack serves again: nothing may refer to what was on it.
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Prepares `body` to run at the first resume(). Only for a fiber that is not active.
    void start(Body body);

    // Runs the fiber until it suspends or ends. Only from outside any fiber.
    // An exception that leaves the body is kept: see failure().
    void resume();

    // Suspends the running fiber until it is resumed. Throws FiberKilled if it was killed
    // meanwhile.
    void suspend();

    // Unwinds a suspended fiber (a fiber that never ran just drops its body).
    void kill();

    // True, after counting the call, when the running fiber is being unwound and the caller must do
    // nothing at all; throws FiberKilled when it is dead but not unwinding; false when it lives.
    bool dead_call();

    // Leaves the running fiber, which is never resumed again.
    [[noreturn]] void abandon();

    [[nodiscard]] bool active() const { return active_; }
    [[nodiscard]] bool killed() const { return killed_; }
    [[nodiscard]] bool abandoned() const { return abandoned_; }
    // What left the body of a fiber that ended by an exception other than FiberKilled, or what
    // terminated a fiber that had not been killed.
    [[nodiscard]] std::exception_ptr failure() const { return failure_; }

    // The fiber that runs now; null outside any.
    static Fiber* current();

private:
    struct ExceptionState {
        void* caught = nullptr;
        unsigned int uncaught = 0;
    };

    [[noreturn]] void end();
    void switch_out(bool for_good);
    void swap_exception_state();
    void finish();

    FiberStackPool* pool_;
    FiberStack stack_;
    void* context_ = nullptr;       // the suspended fiber
    void* loop_context_ = nullptr;  // where to go back to
    ExceptionState exceptions_;     // of the side that does not run
    void* fake_stack_ = nullptr;    // AddressSanitizer's, of this fiber while suspended
    void* loop_fake_stack_ = nullptr;
    const void* loop_stack_bottom_ = nullptr;
    std::size_t loop_stack_size_ = 0;
    Body body_;
    std::exception_ptr failure_;
    int dead_calls_ = 0;
    int kills_swallowed_ = 0;
    bool active_ = false;   // started and not yet ended
    bool entered_ = false;  // has run at least once
    bool killed_ = false;
    bool ending_ = false;  // its stack is left; what the body captured goes
    bool abandoned_ = false;

    friend struct FiberEntry;
};

}  // namespace fencepost::sim
