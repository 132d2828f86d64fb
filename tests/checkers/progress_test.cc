// checkpoint, takeover and completed is not redone: how far the work of a unit is.
#include <gtest/gtest.h>

#include "sim/kernel.h"
#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

constexpr std::string_view kCheckpoint = "checkpoint";
constexpr std::string_view kTakeover = "takeover";
constexpr std::string_view kNotRedone = "completed-is-not-redone";

void move_checkpoint(World& world, model::Cell from, model::Cell to) {
    world.builder.commit(world.b, {update("claims", claim("running", "B", integer(2), from),
                                          claim("running", "B", integer(2), to))});
}

TEST(CheckpointTest, PassesPositionsCommittedWithTheirEffects) {
    World world = ReconcileRun{}.run();
    const Judgement judgement = world.judged(kCheckpoint);
    EXPECT_EQ(judgement.verdict, Verdict::Pass);
    EXPECT_EQ(judgement.reason, "3 checkpoints, nothing skipped");
}

TEST(CheckpointTest, DoesNotMindTheOrderOfStatementsInACommit) {
    World world =
        ReconcileRun{}
            .instead_of("second batch",
                        [](World& w) {
                            w.builder.commit(
                                w.b, {update("claims", claim("running", "B", integer(2), "1"),
                                             claim("running", "B", integer(2), "2")),
                                      insert("ledger", ledger(2))});
                        })
            .run();
    EXPECT_EQ(world.judged(kCheckpoint).verdict, Verdict::Pass);
}

TEST(CheckpointTest, RejectsAPositionAheadOfItsEffectsAndTheirLateLanding) {
    World world = ReconcileRun{}
                      .instead_of("second batch",
                                  [](World& w) {
                                      move_checkpoint(w, "1", "2");
                                      w.builder.commit(w.b, {insert("ledger", ledger(2))});
                                  })
                      .run();
    const Judgement judgement = world.judged(kCheckpoint);
    ASSERT_EQ(judgement.findings.size(), 2U);
    EXPECT_EQ(judgement.findings[0].message,
              "Skipped: the checkpoint was set to 2 by B#1/reconcile at 2026-03-02T18:00:08Z "
              "(record 14), when ledger (2, 2026-03-02) at position 2 was not written.");
    EXPECT_EQ(judgement.findings[1].message,
              "ledger (2, 2026-03-02) at position 2 was written by B#1/reconcile at "
              "2026-03-02T18:00:09Z (record 15), when the checkpoint was 2 already, set by "
              "B#1/reconcile at 2026-03-02T18:00:08Z (record 14).");
}

TEST(CheckpointTest, RejectsAPositionThatGoesBackOrGoes) {
    World back =
        ReconcileRun{}.after("second batch", [](World& w) { move_checkpoint(w, "2", "1"); }).run();
    ASSERT_EQ(back.judged(kCheckpoint).findings.size(), 1U);
    EXPECT_EQ(back.judged(kCheckpoint).findings[0].message,
              "The checkpoint of acme/reconcile@2026-03-02T18:00:00Z went back from 2 to 1, set by "
              "B#1/reconcile at 2026-03-02T18:00:09Z (record 17).");
    World gone = ReconcileRun{}
                     .after("second batch", [](World& w) { move_checkpoint(w, "2", kNull); })
                     .run();
    EXPECT_EQ(gone.judged(kCheckpoint).findings.size(), 1U);
}

TEST(CheckpointTest, RejectsTextThatIsNoPosition) {
    World world = ReconcileRun{}
                      .after("second batch", [](World& w) { move_checkpoint(w, "2", "page 3"); })
                      .run();
    EXPECT_EQ(world.judged(kCheckpoint).findings.size(), 1U);
}

TEST(CheckpointTest, ReadsIntegersToo) {
    World world = ReconcileRun{}
                      .after("second batch", [](World& w) { move_checkpoint(w, "2", integer(1)); })
                      .run();
    EXPECT_EQ(world.judged(kCheckpoint).findings.size(), 1U);
}

TEST(CheckpointTest, DoesNotAskForEffectsOfACheckpointFromBeforeTheRun) {
    World world;
    move_checkpoint(world, "1", "1");
    world.builder.commit(world.b, {insert("ledger", ledger(2))});
    move_checkpoint(world, "1", "2");
    EXPECT_EQ(world.judged(kCheckpoint).verdict, Verdict::Pass);
}

TEST(CheckpointTest, TakesEffectsInTheOrderOfTheirPositions) {
    Expectations expectations = reconcile_expectations();
    std::ranges::reverse(expectations.effects[0].expected);
    World good = ReconcileRun{}.run();
    EXPECT_EQ(good.judged(kCheckpoint, expectations).verdict, Verdict::Pass);
    World bad = ReconcileRun{}.without("second batch").run();
    EXPECT_EQ(bad.judged(kCheckpoint, expectations).findings.size(), 1U);
}

TEST(CheckpointTest, IsUnknownWithoutACheckpointAndNotApplicableWithoutAColumn) {
    World world;
    world.builder.commit(world.a, {insert("claims", claim("running", "A", integer(1), kNull))});
    EXPECT_EQ(world.judged(kCheckpoint).verdict, Verdict::Unknown);
    Expectations expectations = reconcile_expectations();
    expectations.claims->checkpoint.clear();
    EXPECT_EQ(world.judged(kCheckpoint, expectations).verdict, Verdict::NotApplicable);
}

TEST(TakeoverTest, PassesARunThatCameToRest) {
    World world = ReconcileRun{}.run();
    EXPECT_EQ(world.judged(kTakeover).verdict, Verdict::Pass);
    EXPECT_EQ(world.judged(kTakeover).reason, "1 instant due, all finished 2s after healing");
}

TEST(TakeoverTest, CallsTheEndByTheNameThatTheEngineGivesIt) {
    World world;
    world.builder.due("acme", "reconcile");
    world.builder.end(sim::name_of(sim::RunEnd::Quiet));
    EXPECT_EQ(world.judged(kTakeover).verdict, Verdict::Pass);
}

TEST(TakeoverTest, NamesWhoWaitsAndHowTheRunEnded) {
    World world = ReconcileRun{}
                      .instead_of("end",
                                  [](World& w) {
                                      w.builder.unfinished("A#1/reconcile waits for db.commit");
                                      w.builder.unfinished("B#1/reconcile waits for A's lock");
                                      w.builder.end("deadlock");
                                  })
                      .run();
    const Judgement judgement = world.judged(kTakeover);
    ASSERT_EQ(judgement.findings.size(), 3U);
    EXPECT_EQ(judgement.findings[0].message,
              "Not finished at the end of the run: A#1/reconcile waits for db.commit.");
    EXPECT_EQ(judgement.findings[2].message,
              "The run did not come to rest: it ended by deadlock, 2s after healing.");
}

TEST(TakeoverTest, SaysWhatMakesARunTooLong) {
    World world =
        ReconcileRun{}
            .instead_of("end",
                        [](World& w) { w.builder.end(sim::name_of(sim::RunEnd::StepLimit)); })
            .run();
    const Judgement judgement = world.judged(kTakeover);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "The run did not come to rest: it ended by step limit, 2s after healing. Either a "
              "task goes round without getting anywhere, or what is due lies too far apart: some "
              "days of a cluster are as many steps as a run may have.");
}

TEST(TakeoverTest, IsUnknownWithoutAnEndOrWithoutAnythingDue) {
    World endless = ReconcileRun{}.without("end").run();
    EXPECT_EQ(endless.judged(kTakeover).verdict, Verdict::Unknown);
    World idle = ReconcileRun{}.without("due").run();
    EXPECT_EQ(idle.judged(kTakeover).verdict, Verdict::Unknown);
}

TEST(CompletedIsNotRedoneTest, PassesAUnitThatIsLeftAlone) {
    World world = ReconcileRun{}.run();
    EXPECT_EQ(world.judged(kNotRedone).reason, "1 unit and 1 claim completed and left alone");
}

TEST(CompletedIsNotRedoneTest, RejectsAnInsertionOfACompleteUnitByAnotherTask) {
    World world = ReconcileRun{}
                      .after("third batch",
                             [](World& w) { w.builder.commit(w.a, {insert("ledger", ledger(1))}); })
                      .run();
    const Judgement judgement = world.judged(kNotRedone);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "ledger (1, 2026-03-02) was inserted again by A#1/reconcile at 2026-03-02T18:00:10Z "
              "(record 20), after B#1/reconcile at 2026-03-02T18:00:09Z (record 17) had completed "
              "acme/reconcile@2026-03-02T18:00:00Z.");
}

TEST(CompletedIsNotRedoneTest, LetsTheTaskThatCompletedItTidyUp) {
    World world = ReconcileRun{}
                      .after("third batch",
                             [](World& w) {
                                 w.builder.commit(w.b, {update("ledger", ledger(1), ledger(1))});
                             })
                      .run();
    EXPECT_EQ(world.judged(kNotRedone).verdict, Verdict::Pass);
}

TEST(CompletedIsNotRedoneTest, RejectsAFinishedClaimThatIsClaimedAgain) {
    World world =
        ReconcileRun{}
            .after("third batch",
                   [](World& w) {
                       w.builder.commit(w.a,
                                        {update("claims", claim("succeeded", "B", integer(2), "3"),
                                                claim("running", "A", integer(3), "3"))});
                   })
            .run();
    const Judgement judgement = world.judged(kNotRedone);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_NE(judgement.findings[0].message.find("was claimed again (running, owner A, token 3)"),
              std::string::npos);
}

TEST(CompletedIsNotRedoneTest, RejectsAClaimThatWasFinishedBeforeTheRun) {
    World world;
    world.builder.commit(world.b, {update("claims", claim("succeeded", "B", integer(2), "3"),
                                          claim("running", "B", integer(3), "3"))});
    EXPECT_EQ(world.judged(kNotRedone).findings.size(), 1U);
}

TEST(CompletedIsNotRedoneTest, IsUnknownWhenNothingWasCompleted) {
    World world = ReconcileRun{}.without("third batch").run();
    EXPECT_EQ(world.judged(kNotRedone).verdict, Verdict::Unknown);
}

}  // namespace
}  // namespace fencepost::checkers
