// Goal: every simpler fault differs from the given one in one thing, and in the end none is left.
#include "scenarios/search/simpler.h"

#include <gtest/gtest.h>

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;

sim::Fault particular() {
    sim::Fault fault;
    fault.kind = sim::FaultKind::Stop;
    fault.at_time =
        sim::Time{std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h + 1234ms};
    fault.restart_after = 7s;
    fault.lasting = 41s;
    fault.by = -3s;
    fault.grace = 12s;
    fault.ppm = 200;
    fault.one_way = true;
    fault.keep = "none";
    return fault;
}

TEST(SimplerTest, TheSimplestComesFirst) {
    const auto shorter = simpler_faults(particular(), 4);
    ASSERT_FALSE(shorter.empty());
    EXPECT_EQ(shorter.front().lasting, 1ms);
    EXPECT_EQ(shorter.back().lasting, 1min) << "rounder, though longer";
    const auto grace = simpler_faults(particular(), 6);
    EXPECT_EQ(grace.front().grace, 0s);
    const auto backwards = simpler_faults(particular(), 5);
    EXPECT_EQ(backwards.front().by, -1ms);
}

TEST(SimplerTest, TakingTheFirstAgainAndAgainEnds) {
    sim::Fault fault = particular();
    for (std::size_t aspect = 0; aspect < kAspects; ++aspect) {
        int steps = 0;
        for (auto simpler = simpler_faults(fault, aspect); !simpler.empty() && steps < 50;
             ++steps) {
            EXPECT_NE(simpler.front(), fault);
            fault = simpler.front();
            simpler = simpler_faults(fault, aspect);
        }
        EXPECT_LT(steps, 50) << aspect;
    }
    EXPECT_FALSE(fault.restart_after.has_value());
    EXPECT_FALSE(fault.one_way);
    EXPECT_EQ(fault.grace, 0s);
    EXPECT_EQ(fault.lasting, 1ms);
}

TEST(SimplerTest, ASimpleFaultHasNothingSimpler) {
    sim::Fault fault;
    fault.at = "A#1/daily@1/db.commit/1";
    for (std::size_t aspect = 0; aspect < kAspects; ++aspect)
        EXPECT_TRUE(simpler_faults(fault, aspect).empty());
}

}  // namespace
}  // namespace fencepost::scenarios
