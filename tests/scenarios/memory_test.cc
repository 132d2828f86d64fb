// A runner serves any number of runs: dead nodes and their tasks leave nothing behind. Under
// AddressSanitizer the leak check at the end of this program covers these runs as well.
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

std::size_t resident_pages() {
    std::size_t size = 0;
    std::size_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> size >> resident;
    return resident;
}

TEST(MemoryTest, TenThousandRunsWithCrashesTakeNoMoreMemoryThanAThousand) {
    sim::Fault crash = fault_at("*#1/daily-reconcile@2026-03-02T18:00:00Z/db.execute/3",
                                sim::Phase::Applied, sim::FaultKind::Crash);
    crash.restart_after = std::chrono::seconds{1};
    Runner runner;
    std::size_t after_a_thousand = 0;
    for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
        const RunResult result = runner.run(plan_for("holder-leaves", "reconcile", seed, {crash}));
        ASSERT_EQ(result.faults, std::vector{FaultFate::TookEffect});
        ASSERT_FALSE(result.failed());
        if (seed == 1'000) after_a_thousand = resident_pages();
    }
#if !defined(__SANITIZE_ADDRESS__)
    // A quarantine grows under AddressSanitizer.
    EXPECT_LE(resident_pages(), after_a_thousand + after_a_thousand / 20);
#endif
}

}  // namespace
}  // namespace fencepost::scenarios
