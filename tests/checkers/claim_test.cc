// single claim and honest status: what a row of the table of claims may become.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kSingleClaim = "single-claim";
constexpr std::string_view kHonestStatus = "honest-status";

model::Cells running(model::Cell owner, model::Cell token) {
    return claim("running", owner, token, kNull);
}

// The messages of a checker on a history that only has these states of one claim, each committed
// by A, or by B where B owns it.
std::vector<std::string> messages(std::string_view checker,
                                  const std::vector<model::Cells>& states) {
    World world;
    model::Cells before;
    for (const model::Cells& state : states) {
        const sim::TaskId task = state[2] == model::Cell{"B"} ? world.b : world.a;
        world.builder.commit(
            task, {before.empty() ? insert("claims", state) : update("claims", before, state)});
        before = state;
    }
    std::vector<std::string> out;
    for (const Finding& finding : world.judged(checker).findings) out.push_back(finding.message);
    return out;
}

using Messages = std::vector<std::string>;

TEST(SingleClaimTest, PassesATakeoverUnderALargerToken) {
    EXPECT_EQ(messages(kSingleClaim, {running("A", integer(1)), running("B", integer(2)),
                                      claim("succeeded", "B", integer(2), "3")}),
              Messages{});
}

TEST(SingleClaimTest, RejectsAnotherOwnerUnderTheSameToken) {
    EXPECT_EQ(messages(kSingleClaim, {running("A", integer(1)), running("B", integer(1))}),
              Messages{"Claim acme/reconcile@2026-03-02T18:00:00Z went from owner A (set by "
                       "A#1/reconcile at 2026-03-02T18:00:01Z (record 4)) to owner B under the "
                       "same token 1, by B#1/reconcile at 2026-03-02T18:00:02Z (record 5)."});
}

TEST(SingleClaimTest, RemembersTheOwnerOfAClaimThatWasGivenBack) {
    EXPECT_EQ(messages(kSingleClaim, {running("A", integer(1)), running(kNull, integer(1)),
                                      running("B", integer(1))})
                  .size(),
              1U);
    EXPECT_EQ(messages(kSingleClaim, {running("A", integer(1)), running(kNull, integer(1)),
                                      running("B", integer(2))}),
              Messages{});
}

TEST(SingleClaimTest, RejectsATokenThatFallsOrGoes) {
    EXPECT_EQ(messages(kSingleClaim, {running("A", integer(5)), running("A", integer(4))}),
              Messages{"The token of claim acme/reconcile@2026-03-02T18:00:00Z fell from 5 to 4, "
                       "set by A#1/reconcile at 2026-03-02T18:00:02Z (record 5)."});
    EXPECT_EQ(messages(kSingleClaim, {running("A", integer(5)), running("A", kNull)}).size(), 1U);
}

TEST(SingleClaimTest, RejectsAnyOwnerAfterAnotherWithoutTokens) {
    EXPECT_EQ(messages(kSingleClaim, {running("A", kNull), running("B", kNull)}).size(), 1U);
}

TEST(SingleClaimTest, RejectsLeavingAFinishedStatus) {
    const model::Cells finished = claim("succeeded", "A", integer(1), "3");
    EXPECT_EQ(messages(kSingleClaim, {finished, running("A", integer(1))}).size(), 1U);
    EXPECT_EQ(messages(kSingleClaim, {finished, claim("succeeded", "B", integer(2), "3")}).size(),
              1U);
    EXPECT_EQ(messages(kSingleClaim, {finished, claim("failed", "A", integer(1), "3")}).size(), 1U);
}

TEST(SingleClaimTest, RejectsASecondInsertionOfAKey) {
    World world;
    world.builder.commit(world.a, {insert("claims", running("A", integer(1)))});
    world.builder.commit(world.a, {remove("claims", running("A", integer(1)))});
    world.builder.commit(world.b, {insert("claims", running("B", integer(2)))});
    const Judgement judgement = world.judged(kSingleClaim);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("was inserted again by B#1"), std::string::npos);
}

TEST(SingleClaimTest, JudgesWhatACommitLeavesAndNotItsSteps) {
    World world;
    world.builder.commit(world.a, {insert("claims", running("A", integer(1)))});
    world.builder.commit(world.b, {remove("claims", running("A", integer(1))),
                                   insert("claims", running("B", integer(2)))});
    EXPECT_EQ(world.judged(kSingleClaim).verdict, Verdict::Pass);
}

TEST(SingleClaimTest, KnowsARowFromBeforeTheRunByItsOldValues) {
    World world;
    world.builder.commit(world.b,
                         {update("claims", running("A", integer(3)), running("B", integer(3)))});
    const Judgement judgement = world.judged(kSingleClaim);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("owner A (set from before the run)"),
              std::string::npos);
}

TEST(SingleClaimTest, IsUnknownWithoutAClaimAndNotApplicableWithoutATable) {
    World world;
    world.builder.end();
    EXPECT_EQ(world.judged(kSingleClaim).verdict, Verdict::Unknown);
    Expectations expectations = reconcile_expectations();
    expectations.claims.reset();
    EXPECT_EQ(world.judged(kSingleClaim, expectations).verdict, Verdict::NotApplicable);
}

// Claims that run out, at what the last column says, and stay their owner's for three seconds.
Expectations three_seconds() {
    Expectations expectations = reconcile_expectations();
    expectations.claims->checkpoint.clear();
    expectations.claims->until = "checkpoint";
    expectations.claims->held_for = std::chrono::seconds{3};
    return expectations;
}
model::Cells until(model::Cell owner, std::int64_t token, std::int64_t when) {
    return claim("running", owner, integer(token), integer(when));
}
void seconds_pass(World& world, int seconds) {
    for (int i = 0; i < seconds; ++i) world.builder.call(world.a, "redis.get");
}

TEST(SingleClaimTest, PassesATakeoverOfAClaimThatRanOut) {
    World world;
    world.builder.commit(world.a, {insert("claims", until("A", 1, 10))});
    seconds_pass(world, 2);
    world.builder.commit(world.b, {update("claims", until("A", 1, 10), until("B", 2, 20))});
    EXPECT_EQ(world.judged(kSingleClaim, three_seconds()).verdict, Verdict::Pass);
}

TEST(SingleClaimTest, RejectsATakeoverOfAClaimThatIsStillTheOwners) {
    World world;
    world.builder.commit(world.a, {insert("claims", until("A", 1, 10))});
    seconds_pass(world, 1);
    world.builder.commit(world.b, {update("claims", until("A", 1, 10), until("B", 2, 20))});
    const Judgement judgement = world.judged(kSingleClaim, three_seconds());
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "Claim acme/reconcile@2026-03-02T18:00:00Z was taken by owner B, B#1/reconcile at "
              "2026-03-02T18:00:03Z (record 6), 2s after owner A had taken or renewed it, "
              "A#1/reconcile at 2026-03-02T18:00:01Z (record 4); it is an owner's for 3s.");
}

TEST(SingleClaimTest, CountsFromTheLastRenewal) {
    World world;
    world.builder.commit(world.a, {insert("claims", until("A", 1, 10))});
    seconds_pass(world, 2);
    world.builder.commit(world.a, {update("claims", until("A", 1, 10), until("A", 1, 13))});
    world.builder.commit(world.b, {update("claims", until("A", 1, 13), until("B", 2, 20))});
    EXPECT_EQ(world.judged(kSingleClaim, three_seconds()).findings.size(), 1U);
}

TEST(SingleClaimTest, PassesTheNextOwnerOfAClaimThatWasGivenUp) {
    World world;
    world.builder.commit(world.a, {insert("claims", until("A", 1, 10))});
    world.builder.commit(world.a, {update("claims", until("A", 1, 10), until(kNull, 1, 10))});
    world.builder.commit(world.b, {update("claims", until(kNull, 1, 10), until("B", 2, 20))});
    EXPECT_EQ(world.judged(kSingleClaim, three_seconds()).verdict, Verdict::Pass);
}

TEST(SingleClaimTest, BlamesNobodyForTheDatabasesOwnClock) {
    World world;
    world.builder.commit(world.a, {insert("claims", until("A", 1, 10))});
    world.builder.commit(world.b, {update("claims", until("A", 1, 10), until("B", 2, 20))});
    world.builder.strikes("clock-jump B at 2026-03-02T18:00:00Z by 1h");
    EXPECT_EQ(world.judged(kSingleClaim, three_seconds()).findings.size(), 1U);
    world.builder.strikes("clock-jump database at 2026-03-02T18:00:00Z by 1h");
    EXPECT_EQ(world.judged(kSingleClaim, three_seconds()).verdict, Verdict::Pass);
}

TEST(HonestStatusTest, PassesASuccessCommittedWithTheLastEffect) {
    World world = ReconcileRun{}.run();
    const Judgement judgement = world.judged(kHonestStatus);
    EXPECT_EQ(judgement.verdict, Verdict::Pass);
    EXPECT_EQ(judgement.reason, "2 statuses true to what was there");
}

TEST(HonestStatusTest, RejectsASuccessWithoutAllEffects) {
    World world = ReconcileRun{}.without("second batch").without("end").run();
    const Judgement judgement = world.judged(kHonestStatus);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "Claim acme/reconcile@2026-03-02T18:00:00Z was set to succeeded by B#1/reconcile at "
              "2026-03-02T18:00:08Z (record 16), when 1 of its 3 effects were not there: ledger "
              "(2, 2026-03-02).");
}

TEST(HonestStatusTest, RejectsAFailureThatWasDone) {
    World world =
        ReconcileRun{}
            .instead_of("third batch",
                        [](World& w) {
                            w.builder.commit(w.b, {insert("ledger", ledger(3))});
                            w.builder.commit(
                                w.b, {update("claims", claim("running", "B", integer(2), "2"),
                                             claim("failed", "B", integer(2), "2"))});
                        })
            .run();
    const Judgement judgement = world.judged(kHonestStatus);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("and yet all its 3 effects are there."),
              std::string::npos);
}

TEST(HonestStatusTest, RejectsAFailureAfterWhichTheLastEffectLands) {
    World world =
        ReconcileRun{}
            .instead_of("third batch",
                        [](World& w) {
                            w.builder.commit(
                                w.b, {update("claims", claim("running", "B", integer(2), "2"),
                                             claim("cancelled", "B", integer(2), "2"))});
                            w.builder.commit(w.a, {insert("ledger", ledger(3))});
                        })
            .run();
    const Judgement judgement = world.judged(kHonestStatus);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("there, the last written by A#1/reconcile"),
              std::string::npos);
}

TEST(HonestStatusTest, PassesAFailureWithoutAllEffects) {
    World world =
        ReconcileRun{}
            .instead_of("third batch",
                        [](World& w) {
                            w.builder.commit(
                                w.b, {update("claims", claim("running", "B", integer(2), "2"),
                                             claim("failed", "B", integer(2), "2"))});
                        })
            .run();
    EXPECT_EQ(world.judged(kHonestStatus).verdict, Verdict::Pass);
}

TEST(HonestStatusTest, LooksForOpenStatusesOnlyWhenTheRunCameToRest) {
    ReconcileRun run;
    run.instead_of("third batch",
                   [](World& w) { w.builder.commit(w.b, {insert("ledger", ledger(3))}); });
    World rested = run.run();
    const Judgement judgement = rested.judged(kHonestStatus);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("still says running"), std::string::npos);

    World cut = run.instead_of("end", [](World& w) { w.builder.end("step limit"); }).run();
    EXPECT_EQ(cut.judged(kHonestStatus).verdict, Verdict::Unknown);
}

TEST(HonestStatusTest, IsNotApplicableWithoutATableOfClaims) {
    World world = ReconcileRun{}.run();
    Expectations expectations = reconcile_expectations();
    expectations.claims.reset();
    EXPECT_EQ(world.judged(kHonestStatus, expectations).verdict, Verdict::NotApplicable);
}

}  // namespace
}  // namespace fencepost::checkers
