// Goal: addresses and patterns of fault points, and the table of fault kinds, mean what they say.
#include "sim/fault.h"

#include <gtest/gtest.h>

#include <set>

namespace fencepost::sim {
namespace {

TEST(PointAddressTest, HasFiveParts) {
    const auto address = parse_address("A#1/daily-reconcile@2026-03-02T18:00:00Z/db.commit/2");
    ASSERT_TRUE(address);
    EXPECT_EQ(address->node, "A");
    EXPECT_EQ(address->incarnation, "1");
    EXPECT_EQ(address->task, "daily-reconcile@2026-03-02T18:00:00Z");
    EXPECT_EQ(address->operation, "db.commit");
    EXPECT_EQ(address->ordinal, "2");
}

TEST(PointAddressTest, ATaskMayHaveASlashInItsName) {
    const auto address = parse_address("A#1/billing/daily/db.commit/2");
    ASSERT_TRUE(address);
    EXPECT_EQ(address->task, "billing/daily");
    EXPECT_EQ(address->operation, "db.commit");
}

TEST(PointAddressTest, AStarStandsForAnyPart) {
    EXPECT_TRUE(parse_address("*#*/*/*/*"));
    EXPECT_TRUE(parse_address("A#*/job*/db.*/1"));
}

TEST(PointAddressTest, AnotherShapeIsRefused) {
    for (const char* text :
         {"", "A", "A#", "A#1", "A#1/", "A#1/j", "A#1/j/o", "A#1/j/o/", "A#1//o/1", "A#1/j//1",
          "#1/j/o/1", "A/j/o/1", "A#0/j/o/1", "A#x/j/o/1", "A#1/j/o/0", "A#1/j/o/01", "A#1/j/o/x",
          "A#1/j/o/1x", "A#/j/o/1"}) {
        EXPECT_FALSE(parse_address(text)) << text;
    }
}

TEST(GlobTest, AStarMatchesAnyText) {
    EXPECT_TRUE(glob_matches("*", ""));
    EXPECT_TRUE(glob_matches("a*c", "abbc"));
    EXPECT_TRUE(glob_matches("a*c", "ac"));
    EXPECT_TRUE(glob_matches("*b*b*", "abcb"));
    EXPECT_TRUE(glob_matches("a**", "a"));
    EXPECT_FALSE(glob_matches("a*c", "abcd"));
    EXPECT_FALSE(glob_matches("*b*b*", "abc"));
    EXPECT_FALSE(glob_matches("", "a"));
    EXPECT_FALSE(glob_matches("abc", "ab"));
}

TEST(GlobTest, ALongHopelessMatchEndsSoon) {
    std::string pattern;
    for (int i = 0; i < 50; ++i) pattern += "*a";
    EXPECT_FALSE(glob_matches(pattern + "b", std::string(5000, 'a')));
}

TEST(FaultKindsTest, EachIsFoundUnderItsOwnName) {
    std::set<std::string_view> names;
    for (const FaultKindInfo& info : fault_kinds()) {
        names.insert(info.name);
        EXPECT_EQ(find_fault_kind(info.name), &info);
        EXPECT_EQ(&info_of(info.kind), &info);
        EXPECT_TRUE(info.at_point || info.at_time) << info.name;
        EXPECT_FALSE(info.summary.empty()) << info.name;
    }
    EXPECT_EQ(names.size(), fault_kinds().size());
    EXPECT_EQ(find_fault_kind("explode"), nullptr);
}

TEST(FaultKindsTest, TheUsualPhaseIsOneAtWhichTheKindCanStrike) {
    for (const FaultKindInfo& info : fault_kinds()) {
        if (!info.at_point) continue;
        EXPECT_NE(info.phases & (1U << static_cast<unsigned>(info.usual_phase)), 0U) << info.name;
    }
}

}  // namespace
}  // namespace fencepost::sim
