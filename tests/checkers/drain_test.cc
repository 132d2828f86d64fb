// drain: what a process may still do once it knows that it must end.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kDrain = "drain";

// B takes the claim, by a statement on its own.
void take(World& world, sim::TaskId task, std::string_view operation = "db.execute") {
    const sim::RecordId call = world.builder.sends(task, operation);
    world.builder.commit(task,
                         {update("claims", claim("pending", kNull, integer(0), kNull),
                                 claim("running", "B", integer(1), kNull))},
                         call);
}

// B's lease appears in Redis, by that call.
void set_lease(World& world, std::chrono::seconds lasting, sim::RecordId call) {
    const auto until = world.builder.now().time_since_epoch() + lasting;
    world.builder.key(
        world.b,
        {.key = kLease,
         .before = "",
         .after = "1:B",
         .expires_ms = std::chrono::duration_cast<std::chrono::milliseconds>(until).count()},
        call);
}

// B acquires its lease, for ten seconds.
void lease(World& world) {
    const sim::RecordId call = world.builder.sends(world.b, "redis.lease-acquire");
    set_lease(world, 11s, call);
    world.builder.answer(world.b, "redis.lease-acquire");
}

TEST(DrainTest, PassesAProcessThatEndsWhatItHas) {
    World world;
    take(world, world.b);
    world.builder.draining(world.b);
    world.builder.commit(world.b, {insert("ledger", ledger(1))});
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
    EXPECT_EQ(world.judged(kDrain).reason, "1 node drained");
}

TEST(DrainTest, IsUnknownWhereNobodyIsAskedToStop) {
    World world;
    take(world, world.b);
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Unknown);
}

TEST(DrainTest, IsNotApplicableWithoutClaimsAndLeases) {
    World world;
    world.builder.draining(world.b);
    EXPECT_EQ(world.judged(kDrain, Expectations{}).verdict, Verdict::NotApplicable);
}

TEST(DrainTest, RejectsAClaimThatIsTakenByOneWhoKnows) {
    World world;
    world.builder.draining(world.b);
    take(world, world.b);
    const Judgement judgement = world.judged(kDrain);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "B#1/reconcile at 2026-03-02T18:00:01Z (record 6) took "
              "acme/reconcile@2026-03-02T18:00:00Z on, when it had known since "
              "2026-03-02T18:00:00Z that it must end.");
}

TEST(DrainTest, LetsAStatementArriveThatWasSentBefore) {
    World world;
    const sim::RecordId call = world.builder.sends(world.b, "db.execute");
    world.builder.draining(world.b);
    world.builder.commit(world.b,
                         {update("claims", claim("pending", kNull, integer(0), kNull),
                                 claim("running", "B", integer(1), kNull))},
                         call);
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
}

TEST(DrainTest, LetsATransactionEndThatHadBegunBefore) {
    World world;
    world.builder.sends(world.b, "db.begin");
    world.builder.draining(world.b);
    take(world, world.b, "db.commit");
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
    World late;
    late.builder.draining(late.b);
    late.builder.sends(late.b, "db.begin");
    take(late, late.b, "db.commit");
    EXPECT_EQ(late.judged(kDrain).verdict, Verdict::Fail);
}

TEST(DrainTest, LeavesFiresToTheScheduler) {
    World world;
    world.builder.started(world.b, true);
    world.builder.draining(world.b);
    take(world, world.b);
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
}

TEST(DrainTest, LooksAtTheProcessThatDrainsAlone) {
    World world;
    world.builder.draining(world.a);
    take(world, world.b);
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
}

TEST(DrainTest, RejectsWorkThatOutlivesALeaseWhichNobodyRenews) {
    World world;
    lease(world);
    world.builder.draining(world.b);
    world.builder.wait(15s);
    world.builder.sends(world.b, "db.execute");
    const Judgement judgement = world.judged(kDrain);
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].message,
              "B#1/reconcile at 2026-03-02T18:00:16Z (record 8) works on while it drains, and its "
              "lease lease:acme/reconcile ran out at 2026-03-02T18:00:11Z without a renewal "
              "tried.");
}

TEST(DrainTest, AcceptsALeaseWhoseRenewalWasTried) {
    World world;
    lease(world);
    world.builder.draining(world.b);
    world.builder.sends(world.b, "redis.lease-renew");
    world.builder.answer(world.b, "redis.lease-renew", "timed out");
    world.builder.wait(15s);
    world.builder.sends(world.b, "db.execute");
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
}

TEST(DrainTest, AcceptsALeaseThatItsHolderNeverHeardOf) {
    World world;
    const sim::RecordId call = world.builder.sends(world.b, "redis.lease-acquire");
    set_lease(world, 11s, call);
    world.builder.answer(world.b, "redis.lease-acquire", "timed out");
    // The answer to the next attempt, which finds the lease taken, says nothing of it.
    world.builder.sends(world.b, "redis.lease-acquire");
    world.builder.answer(world.b, "redis.lease-acquire", "nil");
    world.builder.draining(world.b);
    world.builder.wait(15s);
    world.builder.sends(world.b, "db.execute");
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
}

TEST(DrainTest, AcceptsALeaseThatItsHolderHeardOfTooLate) {
    World world;
    const sim::RecordId call = world.builder.sends(world.b, "redis.lease-acquire");
    set_lease(world, 10s, call);
    world.builder.wait(8s);
    world.builder.answer(world.b, "redis.lease-acquire");
    world.builder.draining(world.b);
    world.builder.wait(5s);
    world.builder.sends(world.b, "db.execute");
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
}

TEST(DrainTest, AcceptsALeaseThatRunsOutInAPauseASlownessOrAJumpOfItsClock) {
    const auto judged = [](const std::function<void(World&)>& mishap) {
        World world;
        lease(world);
        world.builder.draining(world.b);
        mishap(world);
        world.builder.wait(15s);
        world.builder.sends(world.b, "db.execute");
        return world.judged(kDrain).verdict;
    };
    EXPECT_EQ(judged([](World& w) { w.builder.on_node_of(w.b, sim::NodePaused{12s}); }),
              Verdict::Pass);
    EXPECT_EQ(judged([](World& w) {
                  w.builder.on_node_of(w.b, sim::NodeSlowed{5s, 1min});
              }),
              Verdict::Pass);
    EXPECT_EQ(judged([](World& w) { w.builder.redis_clock_jumps(1h); }), Verdict::Pass);
    EXPECT_EQ(judged([](World&) {}), Verdict::Fail);
}

TEST(DrainTest, AcceptsAProcessWhoseWorkEndsBeforeItsLease) {
    World world;
    lease(world);
    world.builder.draining(world.b);
    world.builder.sends(world.b, "db.execute");
    world.builder.wait(15s);
    EXPECT_EQ(world.judged(kDrain).verdict, Verdict::Pass);
}

}  // namespace
}  // namespace fencepost::checkers
