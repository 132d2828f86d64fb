// Goal: the comparison can fail. Each mistake that is planted in the model is found within a
// bounded number of cases and shrunk to a few steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/fidelity/redis/compare.h"

namespace fencepost::fidelity {
namespace {

using model::Persistence;
using model::RedisFlaw;

constexpr std::uint64_t kSeed = 2026;

enum class In : std::uint8_t { Commands, Restarts, Failover };

struct Mutant {
    const char* name;
    RedisFlaw flaw = RedisFlaw::None;
    In in = In::Commands;
    std::int64_t most_cases = 2000;
    std::size_t most_steps = 4;
};

const std::vector<Mutant>& mutants() {
    static const std::vector<Mutant> kMutants = {
        {.name = "PxIgnored", .flaw = RedisFlaw::PxIgnored},
        {.name = "GoneAtTheDeadline", .flaw = RedisFlaw::GoneAtTheDeadline},
        {.name = "KeepTtlIgnored", .flaw = RedisFlaw::KeepTtlIgnored},
        {.name = "NxIgnored", .flaw = RedisFlaw::NxIgnored},
        {.name = "CountersWrap", .flaw = RedisFlaw::CountersWrap},
        {.name = "TypesUnchecked", .flaw = RedisFlaw::TypesUnchecked},
        {.name = "TimePassesInScripts", .flaw = RedisFlaw::TimePassesInScripts},
        {.name = "DelLeavesTheDeadline", .flaw = RedisFlaw::DelLeavesTheDeadline},
        {.name = "FlushLeavesScripts", .flaw = RedisFlaw::FlushLeavesScripts},
        {.name = "OwnersUncompared", .flaw = RedisFlaw::OwnersUncompared},
        {.name = "DowntimeDoesNotCount",
         .flaw = RedisFlaw::DowntimeDoesNotCount,
         .in = In::Restarts,
         .most_cases = 100},
        {.name = "FailoverLosesNothing",
         .flaw = RedisFlaw::FailoverLosesNothing,
         .in = In::Failover,
         .most_cases = 40},
    };
    return kMutants;
}

RedisComparison comparison_for(const Mutant& mutant) {
    for (RedisComparison& comparison : redis_comparisons()) {
        const bool has_replica = comparison.model.replica_lag.has_value();
        const bool restarts = comparison.what == "Redis restarts, AOF every second";
        const bool is_it = mutant.in == In::Failover   ? has_replica
                           : mutant.in == In::Restarts ? restarts
                                                       : comparison.one_in == 1;
        if (!is_it) continue;
        comparison.model.flaw = mutant.flaw;
        return comparison;
    }
    throw HarnessFailure("no comparison fits the mutant");
}

class RedisMutantsTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RedisMutantsTest, IsFoundAndShrunkToAFewSteps) {
    if (const auto missing = redis_server_is_missing()) GTEST_SKIP() << *missing;
    const Mutant& mutant = mutants()[GetParam()];
    const auto found = find_difference(comparison_for(mutant), mutant.most_cases, kSeed);
    ASSERT_TRUE(found) << "not in " << mutant.most_cases << " cases of seed " << kSeed;
    fmt::print("found in case {}:\n{}", found->cases, show(found->difference));
    EXPECT_LE(found->difference.session.size(), mutant.most_steps);
}

INSTANTIATE_TEST_SUITE_P(Planted, RedisMutantsTest,
                         ::testing::Range<std::size_t>(0, mutants().size()),
                         [](const auto& of) { return mutants()[of.param].name; });

}  // namespace
}  // namespace fencepost::fidelity
