// Which suspended stacks hold nothing that has to be destroyed.
//
// Throwing through a parked task costs some 20,000 instructions, and a run parks half a dozen of
// them. Most are loops that sleep: no frame of theirs has a destructor to run or a catch clause to
// enter where it waits, so that unwinding them does nothing. Their stacks may be dropped as they
// are, with the same effect.
//
// Whether that is so stands in the tables that the compiler writes for exceptions (the call-site
// table of the Itanium C++ ABI's language-specific data). A stack is walked once; another one with
// the same return addresses in the same places is the same chain of calls and gets the same answer.
// What cannot be told for certain is unwound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fencepost::sim {

class BareStacks {
public:
    // Where a function was called that does not return for now, and will not throw.
    struct Place {
        const std::byte* frame = nullptr;  // __builtin_frame_address(0) in that function
        const std::byte* top = nullptr;    // above the outermost frame of its stack
        const void* outermost = nullptr;   // the function in which unwinding would end
    };

    // True when no frame above `place`, up to the outermost function, would notice an exception.
    // Called on that stack.
    bool holds_nothing(const Place& place);

private:
    struct ReturnAddress {
        std::uint32_t below_top = 0;
        const void* address = nullptr;
    };
    struct Known {
        std::ptrdiff_t depth = 0;
        bool bare = false;
        std::vector<ReturnAddress> calls;  // innermost first; to the first that is not bare
    };
    class Walk;

    // Handlers that recurse may have any number; the loops that matter are few.
    static constexpr std::size_t kMostKnown = 64;

    std::vector<Known> known_;
};

}  // namespace fencepost::sim
