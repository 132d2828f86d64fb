// The reading: what checkers share of a history.
#include <gtest/gtest.h>

#include "checkers/identity.h"
#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

TEST(ReadingTest, GroupsChangesByCommitAndPassesOverOtherTables) {
    World world = ReconcileRun{}
                      .after("takeover",
                             [](World& w) {
                                 w.builder.commit(w.a, {insert("unrelated", {integer(1)})});
                                 w.builder.noise(w.a);
                             })
                      .run();
    const Expectations expectations = reconcile_expectations();
    const Reading reading{world.builder.history(), expectations};
    ASSERT_EQ(reading.commits().size(), 6U);
    EXPECT_EQ(reading.commits()[1].effects.size(), 1U);
    EXPECT_EQ(reading.commits()[1].fenced.size(), 1U);
    EXPECT_EQ(reading.commits()[1].claims.size(), 1U);
    EXPECT_EQ(reading.commits()[5].conserved.size(), 2U);
    EXPECT_EQ(reading.expected_effects(), 3U);
    EXPECT_EQ(reading.leases().size(), 5U);
    EXPECT_EQ(reading.leases()[1].source.root, world.a);
    EXPECT_EQ(reading.due(), 1U);
}

TEST(ReadingTest, RefusesColumnsThatATableDoesNotHave) {
    World world;
    Expectations expectations = reconcile_expectations();
    expectations.claims->status = "state";
    EXPECT_THROW((Reading{world.builder.history(), expectations}), sim::BrokenInvariant);
}

TEST(ReadingTest, ReadsAHistoryWithoutTheTablesThatAreExpected) {
    World world;
    Expectations expectations = reconcile_expectations();
    expectations.effects[0].table = "nowhere";
    const Reading reading{world.builder.history(), expectations};
    EXPECT_EQ(reading.commits().size(), 0U);
}

TEST(TextIndexTest, NumbersTextsByTheirFirstAppearance) {
    TextIndex index;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(index.add("text " + std::to_string(i)), i);
        EXPECT_EQ(index.add("text " + std::to_string(i / 2)), i / 2);
    }
    EXPECT_EQ(index.size(), 1000U);
    EXPECT_EQ(index[517], "text 517");
}

TEST(IdentityTest, TellsValuesApartThatLookAlikeWhenJoined) {
    std::string first, second;
    begin_identity(first, 0);
    append_to_identity(first, std::string_view{"a/b"});
    append_to_identity(first, std::string_view{""});
    begin_identity(second, 0);
    append_to_identity(second, std::string_view{"a"});
    append_to_identity(second, std::string_view{"b/"});
    EXPECT_NE(first, second);
    EXPECT_EQ(values_of(first, "/"), values_of(second, "/"));
}

TEST(IdentityTest, ReadsNumbersFromIntegersAndDecimalText) {
    EXPECT_EQ(integer_of(integer(-3)), -3);
    EXPECT_EQ(integer_of("42"), 42);
    EXPECT_EQ(integer_of("42x"), std::nullopt);
    EXPECT_EQ(integer_of(""), std::nullopt);
    EXPECT_EQ(integer_of(kNull), std::nullopt);
    EXPECT_EQ(integer_of(1.5), std::nullopt);
}

}  // namespace
}  // namespace fencepost::checkers
