#include "sim/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "sim/require.h"

#if defined(__SANITIZE_ADDRESS__)
#define FENCEPOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FENCEPOST_ASAN 1
#endif
#endif
#ifdef FENCEPOST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace fencepost::sim {

namespace context = boost::context::detail;

namespace {

Fiber* running_fiber = nullptr;

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

void sanitizer_start_switch([[maybe_unused]] void** save, [[maybe_unused]] const void* bottom,
                            [[maybe_unused]] std::size_t size) {
#ifdef FENCEPOST_ASAN
    __sanitizer_start_switch_fiber(save, bottom, size);
#endif
}

void sanitizer_finish_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** bottom,
                             [[maybe_unused]] std::size_t* size) {
#ifdef FENCEPOST_ASAN
    __sanitizer_finish_switch_fiber(saved, bottom, size);
#endif
}

// The outermost frames on a stack never return, so that their red zones would stay.
void forget_red_zones([[maybe_unused]] std::byte* stack) {
#ifdef FENCEPOST_ASAN
    __asan_unpoison_memory_region(stack, FiberStackPool::kStackSize);
#endif
}

std::terminate_handler previous_terminate = nullptr;

// A killed fiber may be unwinding out of a destructor that must not throw. The process of a crashed
// node would be gone by then; the fiber is abandoned, and the harness goes on. When code that has
// not been killed terminates, its own process is what ends, not the harness.
[[noreturn]] void abandon_or_terminate() {
    if (running_fiber != nullptr) running_fiber->abandon();
    previous_terminate();
    std::abort();
}

}  // namespace

FiberStackPool::FiberStackPool() {
    if (previous_terminate == nullptr)
        previous_terminate = std::set_terminate(&abandon_or_terminate);
}

FiberStackPool::~FiberStackPool() {
    for (void* mapping : created_) {
        auto* stack = static_cast<std::byte*>(mapping) + page_size();
#ifdef FENCEPOST_ASAN
        // The stack of an abandoned fiber stays, with its pointers to what is lost on purpose.
        if (std::ranges::find(free_, stack, &FiberStack::memory) == free_.end()) continue;
        __lsan_unregister_root_region(mapping, kStackSize + page_size());
#endif
        forget_red_zones(stack);
        ::munmap(mapping, kStackSize + page_size());
    }
}

FiberStack FiberStackPool::take() {
    if (!free_.empty()) {
        const FiberStack stack = free_.back();
        free_.pop_back();
        forget_red_zones(stack.memory);
        return stack;
    }
    void* mapping = ::mmap(nullptr, kStackSize + page_size(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(mapping != MAP_FAILED, "no memory for the stack of a fiber");
    require(::mprotect(mapping, page_size(), PROT_NONE) == 0, "no guard page for a fiber");
#ifdef FENCEPOST_ASAN
    // What an abandoned fiber owns is lost on purpose; its stack still points to it.
    __lsan_register_root_region(mapping, kStackSize + page_size());
#endif
    created_.push_back(mapping);
    return {static_cast<std::byte*>(mapping) + page_size(), kStackSize};
}

// The first function on a fiber's stack.
struct FiberEntry {
    static void run(context::transfer_t transfer) {
        auto* fiber = static_cast<Fiber*>(transfer.data);
        sanitizer_finish_switch(nullptr, &fiber->loop_stack_bottom_, &fiber->loop_stack_size_);
        fiber->loop_context_ = transfer.fctx;
        try {
            fiber->body_();
        } catch (const FiberKilled&) {
            // The way in which a killed fiber ends.
        } catch (...) {
            if (!fiber->killed_) fiber->failure_ = std::current_exception();
        }
        fiber->end();
    }
};

Fiber* Fiber::current() {
    return running_fiber;
}

Fiber::~Fiber() {
    if (active_ && !abandoned_) kill();
    if (!abandoned_) return;
#ifdef FENCEPOST_ASAN
    // The stack is kept, for what it still points to is lost on purpose; so are its exceptions.
    if (exceptions_.caught != nullptr) __lsan_ignore_object(exceptions_.caught);
#else
    pool_->give_back(stack_);
#endif
}

void Fiber::start(Body body) {
    require(!active_, "a fiber that is still active cannot be started again");
    body_ = std::move(body);
    failure_ = nullptr;
    exceptions_ = {};
    dead_calls_ = kills_swallowed_ = 0;
    entered_ = killed_ = ending_ = abandoned_ = false;
    active_ = true;
}

void Fiber::resume() {
    require(running_fiber == nullptr, "a fiber may only be resumed by the loop");
    require(active_ && !abandoned_, "only an active fiber can be resumed");
    if (!entered_) {
        entered_ = true;
        stack_ = pool_->take();
        context_ =
            context::make_fcontext(stack_.memory + stack_.size, stack_.size, &FiberEntry::run);
    }
    running_fiber = this;
    swap_exception_state();
    sanitizer_start_switch(&loop_fake_stack_, stack_.memory, stack_.size);
    const context::transfer_t transfer = context::jump_fcontext(context_, this);
    sanitizer_finish_switch(loop_fake_stack_, nullptr, nullptr);
    context_ = transfer.fctx;
    swap_exception_state();
    running_fiber = nullptr;
    if (!active_) finish();
}

void Fiber::suspend() {
    require(running_fiber == this, "only the running fiber can suspend");
    if (killed_ && dead_call()) return;
    switch_out(false);
    if (!killed_) return;
    const BareStacks::Place here{.frame = static_cast<const std::byte*>(__builtin_frame_address(0)),
                                 .top = stack_.memory + stack_.size,
                                 .outermost = reinterpret_cast<const void*>(&FiberEntry::run)};
    if (pool_->bare().holds_nothing(here)) end();
    throw FiberKilled{};
}

// The last that runs on the stack, wherever it is called from.
void Fiber::end() {
    ending_ = true;
    body_ = nullptr;
    active_ = false;
    switch_out(true);
    std::terminate();  // an ended fiber is never resumed
}

void Fiber::switch_out(bool for_good) {
    sanitizer_start_switch(for_good ? nullptr : &fake_stack_, loop_stack_bottom_, loop_stack_size_);
    const context::transfer_t transfer = context::jump_fcontext(loop_context_, nullptr);
    sanitizer_finish_switch(fake_stack_, &loop_stack_bottom_, &loop_stack_size_);
    loop_context_ = transfer.fctx;
}

void Fiber::kill() {
    if (!active_ || abandoned_) return;
    require(running_fiber == nullptr, "a fiber is killed by the loop, not by a fiber");
    killed_ = true;
    if (!entered_) {
        body_ = nullptr;
        active_ = false;
        return;
    }
    resume();
    require(!active_ || abandoned_, "a killed fiber ends or is abandoned");
}

void Fiber::abandon() {
    if (!killed_) {
        failure_ = std::current_exception();
        if (!failure_) failure_ = std::make_exception_ptr(std::runtime_error("std::terminate()"));
    }
    abandoned_ = true;
    switch_out(false);
    std::abort();  // an abandoned fiber is never resumed
}

bool Fiber::dead_call() {
    if (!killed_) return false;
    if (!ending_ && std::uncaught_exceptions() == 0) {
        if (++kills_swallowed_ > kMaxKillsSwallowed) abandon();
        throw FiberKilled{};
    }
    if (++dead_calls_ > kMaxDeadCalls) abandon();
    return true;
}

// The C++ runtime keeps the exceptions being handled in a per-thread structure of these two members
// (Itanium C++ ABI, __cxa_eh_globals); it must follow the stack that it belongs to.
void Fiber::swap_exception_state() {
    static thread_local auto* const globals =
        reinterpret_cast<std::byte*>(abi::__cxa_get_globals());
    ExceptionState other;
    std::memcpy(&other.caught, globals, sizeof other.caught);
    std::memcpy(&other.uncaught, globals + sizeof other.caught, sizeof other.uncaught);
    std::memcpy(globals, &exceptions_.caught, sizeof exceptions_.caught);
    std::memcpy(globals + sizeof exceptions_.caught, &exceptions_.uncaught,
                sizeof exceptions_.uncaught);
    exceptions_ = other;
}

void Fiber::finish() {
    pool_->give_back(stack_);
    stack_ = {};
    context_ = nullptr;
}

}  // namespace fencepost::sim
