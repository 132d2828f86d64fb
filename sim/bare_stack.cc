#include "sim/bare_stack.h"

#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace fencepost::sim {
namespace {

// Encodings of the call-site table that compilers use (DWARF's DW_EH_PE_*).
constexpr std::uint8_t kOmitted = 0xff;
constexpr std::uint8_t kUleb128 = 0x01;
constexpr std::uint8_t kUdata4 = 0x03;

class TableReader {
public:
    explicit TableReader(const std::uint8_t* at) : at_(at) {}

    [[nodiscard]] const std::uint8_t* at() const { return at_; }
    std::uint8_t byte() { return *at_++; }
    std::uint64_t uleb128() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint8_t next = byte();
            value |= std::uint64_t{next & 0x7fU} << shift;
            if ((next & 0x80U) == 0) return value;
        }
    }
    std::uint64_t number(std::uint8_t encoding) {
        if (encoding == kUleb128) return uleb128();
        std::uint32_t value = 0;
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

private:
    const std::uint8_t* at_;
};

// Whether an exception that comes out of the call at `offset` in a function passes it unnoticed. A
// call that the table leaves out must not throw, which is noticed, too.
bool passes(const std::uint8_t* table, std::uintptr_t offset) {
    TableReader in{table};
    if (in.byte() != kOmitted) return false;  // a base of its own for landing pads
    if (in.byte() != kOmitted) static_cast<void>(in.uleb128());  // where the types stand
    const std::uint8_t encoding = in.byte();
    if (encoding != kUleb128 && encoding != kUdata4) return false;
    const std::uint64_t size = in.uleb128();
    const std::uint8_t* const end = in.at() + size;
    while (in.at() < end) {
        const std::uint64_t start = in.number(encoding);
        const std::uint64_t length = in.number(encoding);
        const std::uint64_t landing_pad = in.number(encoding);
        static_cast<void>(in.uleb128());  // what the landing pad is for
        if (offset < start) return false;
        if (offset < start + length) return landing_pad == 0;
    }
    return false;
}

}  // namespace

class BareStacks::Walk {
public:
    explicit Walk(const Place& place) : place_(place) {}

    // Nothing when the stack is not laid out as expected.
    std::optional<Known> take() {
        _Unwind_Backtrace(&Walk::visit, this);
        if (!complete_) return std::nullopt;
        known_.depth = place_.top - place_.frame;
        return std::move(known_);
    }

private:
    static _Unwind_Reason_Code visit(_Unwind_Context* context, void* self) {
        return static_cast<Walk*>(self)->look(context) ? _URC_NO_REASON : _URC_NORMAL_STOP;
    }

    // False to stop.
    bool look(_Unwind_Context* context) {
        int before_instruction = 0;
        const std::uintptr_t ip = _Unwind_GetIPInfo(context, &before_instruction);
        const auto* const below = reinterpret_cast<const std::byte*>(_Unwind_GetCFA(context));
        if (below <= place_.frame) return true;  // this walk's own frames
        if (below > place_.top || before_instruction != 0) return false;
        const std::uintptr_t start = _Unwind_GetRegionStart(context);
        if (start == reinterpret_cast<std::uintptr_t>(place_.outermost)) {
            known_.bare = complete_ = true;
            return false;
        }
        // On x86-64 a call leaves its return address right below the caller's frame.
        const void* address = nullptr;
        std::memcpy(&address, below - sizeof address, sizeof address);
        if (reinterpret_cast<std::uintptr_t>(address) != ip) return false;
        known_.calls.push_back({static_cast<std::uint32_t>(place_.top - below), address});
        const auto* const table =
            reinterpret_cast<const std::uint8_t*>(_Unwind_GetLanguageSpecificData(context));
        if (table == nullptr || passes(table, ip - 1 - start)) return true;
        complete_ = true;
        return false;
    }

    Place place_;
    Known known_;
    bool complete_ = false;
};

bool BareStacks::holds_nothing(const Place& place) {
    const std::ptrdiff_t depth = place.top - place.frame;
    const auto same = [&](const Known& known) {
        return known.depth == depth &&
               std::ranges::all_of(known.calls, [&](const ReturnAddress& call) {
                   return std::memcmp(place.top - call.below_top - sizeof call.address,
                                      &call.address, sizeof call.address) == 0;
               });
    };
    const auto found = std::ranges::find_if(known_, same);
    if (found != known_.end()) return found->bare;
    if (known_.size() == kMostKnown) return false;
    auto walked = Walk{place}.take();
    if (!walked) return false;
    known_.push_back(std::move(*walked));
    return known_.back().bare;
}

}  // namespace fencepost::sim
