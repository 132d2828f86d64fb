// Goal: the comparison with PostgreSQL can fail.
//
// Method: one deliberate flaw of the model after the other; for each, a difference is found within
// a bounded number of interleavings. The shrunk dialogues are for a reader who asks for them.
#include <gtest/gtest.h>

#include "tests/fidelity/postgres/compare.h"
#include "tests/fidelity/postgres/shared_cluster.h"

namespace fencepost::fidelity {
namespace {

struct PlantedFlaw {
    const char* name;
    model::DatabaseFlaw flaw;
    std::int64_t within;  // so many interleavings
    model::IsolationLevel level = model::IsolationLevel::ReadCommitted;
};

class FlawTest : public testing::TestWithParam<PlantedFlaw> {};

TEST_P(FlawTest, IsFoundWithinABoundedNumberOfInterleavings) {
    const auto& cluster = shared_cluster();
    if (!cluster) GTEST_SKIP() << cluster.error();
    const Comparison result = compare_postgres({.cases = GetParam().within,
                                                .seed = 20261130,
                                                .first_only = true,
                                                .shrink = false,
                                                .level = GetParam().level,
                                                .flaw = GetParam().flaw,
                                                .cluster = cluster->get()});
    EXPECT_EQ(result.differences, 1) << "not found in " << result.cases << " interleavings";
    std::cout << "found by interleaving " << result.cases << "\n";
}

using Flaw = model::DatabaseFlaw;

INSTANTIATE_TEST_SUITE_P(
    Planted, FlawTest,
    testing::Values(PlantedFlaw{"ReadsUncommitted", Flaw::ReadsUncommitted, 400},
                    PlantedFlaw{"NoWaitOnUniqueKey", Flaw::NoWaitOnUniqueKey, 400},
                    PlantedFlaw{"NoRecheckAfterWait", Flaw::NoRecheckAfterWait, 400},
                    PlantedFlaw{"SequenceGivenBack", Flaw::SequenceGivenBack, 400},
                    PlantedFlaw{"IdsFromCommittedRows", Flaw::IdsFromCommittedRows, 400},
                    PlantedFlaw{"ForUpdateLocksNothing", Flaw::ForUpdateLocksNothing, 400},
                    PlantedFlaw{"SkipLockedSkipsNothing", Flaw::SkipLockedSkipsNothing, 400},
                    PlantedFlaw{"SavepointKeepsRows", Flaw::SavepointKeepsRows, 400},
                    PlantedFlaw{"ErrorKeepsTransaction", Flaw::ErrorKeepsTransaction, 400},
                    PlantedFlaw{"ForeignKeyLocksNothing", Flaw::ForeignKeyLocksNothing, 400},
                    PlantedFlaw{"LastWaiterFirst", Flaw::LastWaiterFirst, 400},
                    PlantedFlaw{"KilledSessionCommits", Flaw::KilledSessionCommits, 400},
                    PlantedFlaw{"SnapshotForgotten", Flaw::SnapshotForgotten, 400,
                                model::IsolationLevel::RepeatableRead},
                    PlantedFlaw{"WriteSkewPasses", Flaw::WriteSkewPasses, 400,
                                model::IsolationLevel::Serializable}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(FlawListTest, EveryFlawOfTheModelIsPlanted) {
    EXPECT_EQ(static_cast<int>(model::kLastDatabaseFlaw), 14);
}

}  // namespace
}  // namespace fencepost::fidelity
