// Keyed randomness: a draw is a hash of (seed, site, key, ordinal), never the next of a stream.
//
// So a further call in a handler, or a fault taken away, changes no draw of anything else. The site
// says what is drawn (a latency, a clock offset), the key for whom (a fault point, a node), the
// ordinal for the how-manieth time.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/time.h"

namespace fencepost::sim {

// A 64-bit mix with full avalanche (the finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

constexpr std::uint64_t combine(std::uint64_t left, std::uint64_t right) {
    return mix(left ^ mix(right));
}

// FNV-1a, mixed. The same on every machine; names of sites, tasks and operations are keyed by it.
constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return mix(hash);
}

class Random {
public:
    constexpr explicit Random(std::uint64_t seed = 0) : seed_(seed) {}

    [[nodiscard]] constexpr std::uint64_t seed() const { return seed_; }

    [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t site, std::uint64_t key = 0,
                                               std::uint64_t ordinal = 0) const {
        return mix(combine(combine(seed_, site), key) ^ mix(ordinal));
    }

    // Uniform in [0, bound); 0 when the bound is 0. The bias is below 2^-32 for bounds below 2^32.
    [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t site,
                                                std::uint64_t key = 0,
                                                std::uint64_t ordinal = 0) const {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((Wide{bits(site, key, ordinal)} * bound) >> 64U);
    }

    // True in `per_million` of a million draws.
    [[nodiscard]] constexpr bool chance(std::uint64_t per_million, std::uint64_t site,
                                        std::uint64_t key = 0, std::uint64_t ordinal = 0) const {
        return below(1'000'000, site, key, ordinal) < per_million;
    }

    // Uniform in [low, high].
    [[nodiscard]] constexpr Duration between(Duration low, Duration high, std::uint64_t site,
                                             std::uint64_t key = 0,
                                             std::uint64_t ordinal = 0) const {
        const auto width = static_cast<std::uint64_t>((high - low).count()) + 1;
        return low + Duration{static_cast<Duration::rep>(below(width, site, key, ordinal))};
    }

private:
    std::uint64_t seed_;
};

}  // namespace fencepost::sim
