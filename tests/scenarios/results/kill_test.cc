// Goal: a sweep that is killed at any moment and gone on with loses no seed and repeats none.
//
// Method: the sweep runs in a process of its own, which is killed by SIGKILL as soon as its store
// holds another few hundred runs, in the midst of whatever it is doing then; in the end the store
// is compared with that of a sweep that nobody disturbed. scripts/kill-sweep does the same to the
// program, at random moments.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/scenarios/results/stored.h"

namespace fencepost::scenarios {
namespace {

constexpr std::uint64_t kSeeds = 6'000;

std::uint64_t runs_in(const std::string& file) {
    try {
        const SqliteFile store{file, SqliteFile::Access::Existing};
        return static_cast<std::uint64_t>(store.number("SELECT count(*) FROM runs"));
    } catch (const sim::PlanError&) {
        return 0;  // not there yet
    }
}

// Starts the sweep, or goes on with it, and kills it when so many runs are stored.
void kill_when_stored(const std::string& file, std::uint64_t runs) {
    std::fflush(nullptr);  // or the child would print it again
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        try {
            (void)run_into(file, small_sweep(kSeeds), 2, IfThereAreResults::GoOn);
        } catch (const std::exception& error) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    int status = 0;
    while (runs_in(file) < runs && ::waitpid(child, &status, WNOHANG) == 0) ::usleep(2'000);
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
}

TEST(KillTest, AKilledSweepGoesOnWithoutLossOrRepetition) {
    const StoreFolder folder;
    const std::string killed = folder.file("killed");
    int in_the_midst = 0;
    for (std::uint64_t kills = 1; kills <= 5; ++kills) {
        kill_when_stored(killed, kills * 600);
        const std::uint64_t stored = runs_in(killed);
        in_the_midst += stored > 0 && stored < kSeeds ? 1 : 0;
    }
    EXPECT_GE(in_the_midst, 3) << "the sweep was over too soon";
    const SearchResult resumed = run_into(killed, small_sweep(kSeeds), 2, IfThereAreResults::GoOn);
    const SearchResult whole = run_into(folder.file("whole"), small_sweep(kSeeds));
    EXPECT_EQ(results_of(killed), results_of(folder.file("whole")));
    EXPECT_EQ(resumed.totals, whole.totals);
}

}  // namespace
}  // namespace fencepost::scenarios
