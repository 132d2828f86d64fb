// once: every due effect is there exactly once. Besides examples, random histories are judged by a
// second, naive implementation.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

TEST(OnceTest, PassesWhenEveryEffectIsThereOnce) {
    World world = ReconcileRun{}.run();
    const Judgement judgement = world.judged("once");
    EXPECT_EQ(judgement.verdict, Verdict::Pass);
    EXPECT_EQ(judgement.reason, "3 effects, each there once");
}

TEST(OnceTest, NamesBothWritersOfADuplicate) {
    World world = ReconcileRun{}
                      .after("second batch",
                             [](World& w) { w.builder.commit(w.a, {insert("ledger", ledger(2))}); })
                      .run();
    const Judgement judgement = world.judged("once");
    ASSERT_EQ(judgement.verdict, Verdict::Fail);
    ASSERT_EQ(judgement.findings.size(), 1U);
    const Finding& finding = judgement.findings.front();
    EXPECT_EQ(finding.key, std::string{kUnit} + "/2/2026-03-02");
    EXPECT_EQ(finding.message,
              "ledger (2, 2026-03-02) is there twice: written by B#1/reconcile at "
              "2026-03-02T18:00:08Z (record 14) and again by A#1/reconcile at "
              "2026-03-02T18:00:09Z (record 17).");
    EXPECT_EQ(finding.record, 17U);
}

TEST(OnceTest, ReportsALossAtTheEndOfTheRun) {
    World world = ReconcileRun{}.without("second batch").run();
    const Judgement judgement = world.judged("once");
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "ledger (2, 2026-03-02) is missing at the end of the run.");
    EXPECT_EQ(judgement.findings[0].record, world.builder.history().size() - 1);
}

TEST(OnceTest, ReportsATableThatIsDroppedWithItsEffects) {
    World world =
        ReconcileRun{}.after("third batch", [](World& w) { w.builder.drop(w.a, "ledger"); }).run();
    const Judgement judgement = world.judged("once");
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "ledger");
    EXPECT_TRUE(judgement.findings[0].message.starts_with(
        "ledger was dropped, with all effects in it, by A#1/reconcile at "))
        << judgement.findings[0].message;
}

TEST(OnceTest, ReportsAnEffectThatNobodyExpects) {
    World world = ReconcileRun{}
                      .after("third batch",
                             [](World& w) { w.builder.commit(w.a, {insert("ledger", ledger(7))}); })
                      .run();
    const Judgement judgement = world.judged("once");
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].key, "ledger/7/2026-03-02");
    EXPECT_NE(judgement.findings[0].message.find("which nobody expects"), std::string::npos);
}

TEST(OnceTest, CountsARowThatIsDeletedAndInsertedAgainOnce) {
    World world = ReconcileRun{}
                      .after("second batch",
                             [](World& w) {
                                 w.builder.commit(w.b, {remove("ledger", ledger(2))});
                                 w.builder.commit(w.b, {insert("ledger", ledger(2))});
                             })
                      .run();
    EXPECT_EQ(world.judged("once").verdict, Verdict::Pass);
}

TEST(OnceTest, ForgivesWhatOneTransactionTookBackItself) {
    World world =
        ReconcileRun{}
            .after("second batch",
                   [](World& w) {
                       w.builder.commit(w.b,
                                        {insert("ledger", ledger(2)), insert("ledger", ledger(8)),
                                         remove("ledger", ledger(8)), remove("ledger", ledger(2))});
                   })
            .run();
    EXPECT_EQ(world.judged("once").verdict, Verdict::Pass);
}

TEST(OnceTest, SeesADuplicateThatWasDeletedLater) {
    World world = ReconcileRun{}
                      .after("second batch",
                             [](World& w) {
                                 w.builder.commit(w.a, {insert("ledger", ledger(2))});
                                 w.builder.commit(w.a, {remove("ledger", ledger(2))});
                             })
                      .run();
    EXPECT_EQ(world.judged("once").verdict, Verdict::Fail);
}

TEST(OnceTest, FollowsARowWhoseIdentityIsUpdated) {
    World world =
        ReconcileRun{}
            .instead_of("second batch",
                        [](World& w) {
                            w.builder.commit(w.b, {insert("ledger", ledger(3))});
                            w.builder.commit(w.b, {update("ledger", ledger(3), ledger(2))});
                        })
            .run();
    EXPECT_EQ(world.judged("once").verdict, Verdict::Pass);
}

TEST(OnceTest, ReadsANumberAndItsTextAsOneIdentity) {
    World world =
        ReconcileRun{}
            .after("second batch",
                   [](World& w) {
                       w.builder.commit(w.a, {insert("ledger", {"2", "2026-03-02", kNull})});
                   })
            .run();
    EXPECT_EQ(world.judged("once").findings.size(), 1U);
}

TEST(OnceTest, CannotTellLossesWithoutAnEnd) {
    World world = ReconcileRun{}.without("third batch").without("end").run();
    EXPECT_EQ(world.judged("once").verdict, Verdict::Unknown);
}

TEST(OnceTest, IsUnknownWhenNothingIsExpected) {
    World world;
    world.builder.end();
    Expectations expectations = reconcile_expectations();
    expectations.effects[0].expected.clear();
    EXPECT_EQ(world.judged("once", expectations).verdict, Verdict::Unknown);
}

TEST(OnceTest, IgnoresTheDeletionOfARowFromBeforeTheRun) {
    World world =
        ReconcileRun{}
            .after("due", [](World& w) { w.builder.commit(w.a, {remove("ledger", ledger(2))}); })
            .run();
    EXPECT_EQ(world.judged("once").verdict, Verdict::Pass);
}

TEST(OnceTest, ShowsTwentyFindingsAndHowManyMoreThereAre) {
    World world;
    for (int account = 100; account < 125; ++account) {
        world.builder.commit(world.a, {insert("ledger", ledger(account))});
    }
    const Judgement judgement = world.judged("once");
    ASSERT_EQ(judgement.findings.size(), 21U);
    EXPECT_EQ(judgement.findings[0].key, "ledger/100/2026-03-02");
    EXPECT_EQ(judgement.findings[20].message, "There are 5 more of this kind.");
    EXPECT_EQ(judgement.reason, "25 violations");
}

TEST(OnceTest, RefusesAnEffectThatIsExpectedTwice) {
    World world;
    Expectations expectations = reconcile_expectations();
    expectations.effects[0].expected.push_back(expectations.effects[0].expected.front());
    EXPECT_THROW((void)world.judged("once", expectations), sim::BrokenInvariant);
}

// The naive judgement: a list of rows, counted anew after each commit.
struct Naive {
    std::vector<std::int64_t> rows;  // accounts; 1 to 3 are expected
    std::set<std::int64_t> broken;

    void look() {
        std::map<std::int64_t, int> counts;
        for (const std::int64_t row : rows) ++counts[row];
        for (const auto& [account, count] : counts) {
            if (count > 1 || account > 3) broken.insert(account);
        }
    }
    void end() {
        for (std::int64_t account = 1; account <= 3; ++account) {
            if (std::ranges::find(rows, account) == rows.end()) broken.insert(account);
        }
    }
};

TEST(OnceTest, AgreesWithANaiveCountOnRandomHistories) {
    int failures = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(seed);
        std::uint64_t state = seed;
        const auto below = [&state](std::size_t bound) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            return static_cast<std::size_t>(state >> 33U) % bound;
        };
        World world;
        Naive naive;
        const std::size_t commits = below(7);
        for (std::size_t commit = 0; commit < commits; ++commit) {
            std::vector<Change> changes;
            const std::size_t size = 1 + below(3);
            for (std::size_t i = 0; i < size; ++i) {
                const auto account = static_cast<std::int64_t>(1 + below(below(4) == 0 ? 5 : 3));
                const std::size_t what = naive.rows.empty() ? 0 : below(4);
                if (what < 2) {
                    changes.push_back(insert("ledger", ledger(account)));
                    naive.rows.push_back(account);
                    continue;
                }
                const std::size_t row = below(naive.rows.size());
                if (what == 2) {
                    changes.push_back(remove("ledger", ledger(naive.rows[row])));
                    naive.rows.erase(naive.rows.begin() + static_cast<std::ptrdiff_t>(row));
                } else {
                    changes.push_back(update("ledger", ledger(naive.rows[row]), ledger(account)));
                    naive.rows[row] = account;
                }
            }
            world.builder.commit(below(2) == 0 ? world.a : world.b, changes);
            naive.look();
        }
        if (below(4) != 0) {
            world.builder.end();
            naive.end();
        }
        const Judgement judgement = world.judged("once");
        std::set<std::int64_t> blamed;
        for (const Finding& finding : judgement.findings) {
            const std::size_t day = finding.key.rfind('/');
            const std::size_t account = finding.key.rfind('/', day - 1) + 1;
            blamed.insert(std::stoll(finding.key.substr(account, day - account)));
        }
        EXPECT_EQ(blamed, naive.broken);
        EXPECT_EQ(judgement.verdict == Verdict::Fail, !naive.broken.empty());
        failures += judgement.verdict == Verdict::Fail ? 1 : 0;
    }
    EXPECT_GT(failures, 500);
    EXPECT_LT(failures, 2990);
}

}  // namespace
}  // namespace fencepost::checkers
