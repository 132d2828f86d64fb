// Goal: a seed and a plan decide a run; runs in one kernel leave no trace in each other.
// Method: a small world with crashes, pauses and keyed draws, over many seeds in both directions.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/sim/test_world.h"

namespace fencepost::sim::test {
namespace {

constexpr std::uint64_t kStep = hash_of("step");

// Three nodes with jobs that call, sleep, fail and catch; faults drawn from the seed.
class RandomWorld {
public:
    // Half the time with faults, half of it healed; returns the fingerprint.
    std::uint64_t run(std::uint64_t seed, Duration half = 20s) {
        world_.restart(seed);
        for (const char* name : {"A", "B", "C"})
            world_.add(name, [this](Incarnation& life) { boot(life); });
        world_.arm(draw_faults());
        world_.start_and_run_for(half);
        world_.kernel.heal_nodes();
        world_.run_for(half);
        return world_.kernel.history().fingerprint();
    }

    TestWorld& world() { return world_; }

private:
    struct Guard {
        TestWorld& world;
        ~Guard() {
            try {
                world.call("redis.release");
            } catch (...) {
            }
        }
    };

    void boot(Incarnation& life) {
        life.on_stop([this] { world_.kernel.sleep(1s); });
        world_.daemon("check-in", [this] {
            for (;;) {
                world_.call("db.check-in");
                world_.kernel.sleep(700ms);
            }
        });
        for (const char* job : {"daily", "daily", "hourly"}) {
            world_.work(job, [this] {
                const Guard guard{world_};
                for (std::uint64_t i = 0; i < 6; ++i) step(i);
            });
        }
        world_.kernel.sleep(1h);
    }

    void step(std::uint64_t ordinal) {
        const Task& self = world_.kernel.self();
        const Random& random = world_.kernel.random();
        world_.kernel.sleep(random.between(1ms, 3s, kStep, self.point_key, ordinal));
        try {
            if (world_.call("db.commit") != "ok") throw std::runtime_error("no answer");
        } catch (const std::exception&) {
            world_.call("redis.eval");
        }
        if (random.chance(20'000, kStep + 1, self.point_key, ordinal))
            throw std::runtime_error("a mistake of the handler");
    }

    std::vector<Fault> draw_faults() {
        const Random& random = world_.kernel.random();
        std::vector<Fault> faults;
        for (std::uint64_t i = 0; i < 4; ++i) {
            const auto below = [&](std::uint64_t bound, std::uint64_t site) {
                return random.below(bound, hash_of("fault"), site, i);
            };
            Fault fault;
            fault.kind = std::array{FaultKind::Crash, FaultKind::Stop, FaultKind::Pause,
                                    FaultKind::Slow, FaultKind::LoseRequest}
                             .at(below(5, 1));
            const std::string node = std::array{"A", "B", "C"}.at(below(3, 2));
            if (below(3, 3) == 0 && fault.kind != FaultKind::LoseRequest) {
                fault.party = node;
                fault.at_time = kStart + random.between(0s, 10s, hash_of("fault-time"), i);
            } else {
                fault.at = node + "#*/" + std::array{"daily", "daily~2", "*"}.at(below(3, 4)) +
                           "/db.commit/" + std::to_string(1 + below(4, 5));
                fault.phase =
                    fault.kind == FaultKind::LoseRequest ? Phase::Sent : kPhases.at(below(4, 6));
            }
            if (below(2, 7) == 0) fault.restart_after = 2s;
            fault.lasting = 3s;
            fault.by = 100ms;
            fault.grace = 500ms * static_cast<int>(below(4, 8));
            faults.push_back(fault);
        }
        return faults;
    }

    TestWorld world_;
};

TEST(DeterminismTest, ASeedGivesOneFingerprintWhateverRanBefore) {
    constexpr std::uint64_t kSeeds = 1000;
    RandomWorld world;
    std::vector<std::uint64_t> forwards;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) forwards.push_back(world.run(seed));
    for (std::uint64_t seed = kSeeds; seed-- > 0;)
        ASSERT_EQ(world.run(seed), forwards[seed]) << seed;
    RandomWorld fresh;
    EXPECT_EQ(fresh.run(17), forwards[17]);
    std::ranges::sort(forwards);
    EXPECT_EQ(std::ranges::unique(forwards).begin(), forwards.end()) << "two seeds, one history";
}

// The same on every compiler, level of optimisation and sanitizer.
TEST(DeterminismTest, TheFingerprintOfAFixedWorldIsAlwaysTheSame) {
    RandomWorld world;
    std::uint64_t all = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) all = combine(all, world.run(seed));
    EXPECT_EQ(all, 15864500309804956345U);
}

TEST(DeterminismTest, TheWorldsMeetEveryKindOfEnd) {
    RandomWorld world;
    bool crashed = false;
    bool stopped = false;
    bool killed = false;
    bool uncaught = false;
    bool paused = false;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        world.run(seed);
        const History& history = world.world().kernel.history();
        for (RecordId id = 0; id < history.size(); ++id) {
            if (const auto ended = history[id].as<NodeEnded>()) {
                crashed |= ended->how == "crash";
                stopped |= ended->how == "stopped";
                killed |= ended->how == "grace period over";
                uncaught |= ended->how.starts_with("uncaught");
            }
            paused |= history[id].as<NodePaused>().has_value();
        }
    }
    EXPECT_TRUE(crashed && stopped && killed && uncaught && paused);
}

TEST(GrowthTest, TenThousandRunsWithCrashesNeedNoMoreStacksThanAHundred) {
    RandomWorld world;
    for (std::uint64_t seed = 0; seed < 100; ++seed) world.run(seed, 3s);
    const std::size_t stacks = world.world().kernel.stacks_created();
    for (std::uint64_t seed = 100; seed < 10'000; ++seed) world.run(seed, 3s);
    EXPECT_LE(world.world().kernel.stacks_created(), stacks + 10);
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kAddressSanitizer = false;
#endif

TEST(GrowthTest, TheStacksOfAbandonedFibersServeAgain) {
    if (kAddressSanitizer) GTEST_SKIP() << "there they are kept, to tell what they own from leaks";
    TestWorld world;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        world.restart(seed);
        Node& node = world.add("A", [&](Incarnation&) {
            for (;;) {
                try {
                    world.kernel.sleep(1h);
                } catch (...) {
                }
            }
        });
        world.kernel.schedule(kStart + 1s, [&] { world.kernel.crash(node, std::nullopt); });
        world.start_and_run_for(2s);
    }
    EXPECT_LE(world.kernel.stacks_created(), 2U);
}

}  // namespace
}  // namespace fencepost::sim::test
