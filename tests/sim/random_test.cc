// Goal: keyed draws are even, independent of each other, and the same on every machine.
#include "sim/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace fencepost::sim {
namespace {

TEST(RandomTest, ADrawIsAFunctionOfSeedSiteKeyAndOrdinalAlone) {
    static_assert(Random{7}.bits(1, 2, 3) == Random{7}.bits(1, 2, 3));
    std::set<std::uint64_t> draws;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        for (std::uint64_t site = 0; site < 5; ++site) {
            for (std::uint64_t key = 0; key < 5; ++key) {
                for (std::uint64_t ordinal = 0; ordinal < 5; ++ordinal)
                    draws.insert(Random{seed}.bits(site, key, ordinal));
            }
        }
    }
    EXPECT_EQ(draws.size(), 625U);
}

TEST(RandomTest, DrawsBelowABoundAreEven) {
    const Random random{11};
    std::array<int, 10> counts{};
    for (std::uint64_t ordinal = 0; ordinal < 100'000; ++ordinal)
        ++counts.at(random.below(10, hash_of("site"), 3, ordinal));
    for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(RandomTest, DrawsForNeighbouringKeysAreUnrelated) {
    const Random random{11};
    int equal = 0;
    for (std::uint64_t key = 0; key < 10'000; ++key)
        equal += random.below(2, 5, key) == random.below(2, 5, key + 1) ? 1 : 0;
    EXPECT_NEAR(equal, 5'000, 300);
}

TEST(RandomTest, ABoundOfZeroGivesZero) {
    EXPECT_EQ(Random{1}.below(0, 1), 0U);
}

TEST(RandomTest, BetweenReachesBothEndsAndNothingElse) {
    std::set<Duration> seen;
    for (std::uint64_t ordinal = 0; ordinal < 200; ++ordinal)
        seen.insert(Random{1}.between(-1ns, 1ns, 4, 0, ordinal));
    EXPECT_EQ(seen, (std::set<Duration>{-1ns, 0ns, 1ns}));
}

TEST(RandomTest, AChanceOfNothingNeverComesAndOfAMillionAlways) {
    for (std::uint64_t ordinal = 0; ordinal < 1000; ++ordinal) {
        EXPECT_FALSE(Random{1}.chance(0, 2, 0, ordinal));
        EXPECT_TRUE(Random{1}.chance(1'000'000, 2, 0, ordinal));
    }
}

}  // namespace
}  // namespace fencepost::sim
