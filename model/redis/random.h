// The generator behind math.random in Redis's Lua: the linear congruence of POSIX drand48, 31 bits
// a draw. It begins at the same place in every process and is not seeded again for each script.
#pragma once

#include <cstdint>

namespace fencepost::model::redis {

class Random {
public:
    void seed(std::int32_t value) {
        state_ = static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)) << 16 | 0x330E;
    }
    // At least 0 and less than 1.
    [[nodiscard]] double next() {
        constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;
        constexpr std::uint64_t kLargest = 0x7FFFFFFF;
        state_ = (state_ * 0x5DEECE66DULL + 0xB) & kMask;
        return static_cast<double>((state_ >> 17) % kLargest) / static_cast<double>(kLargest);
    }

private:
    std::uint64_t state_ = 0x1234ABCD330EULL;
};

}  // namespace fencepost::model::redis
