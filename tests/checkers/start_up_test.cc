// start-up convergence: what one start-up leaves, after every one that comes through; versions that
// are not ahead; errors of a start-up's own making.
#include <gtest/gtest.h>

#include "tests/checkers/reconcile_run.h"

namespace fencepost::checkers {
namespace {

// What is said of the run, one finding a line.
std::string said_of(const ReconcileRun& run) {
    World world = run.run();
    const Judgement judgement = world.judged("start-up-convergence");
    if (judgement.verdict != Verdict::Fail) {
        return std::string(name_of(judgement.verdict)) + ": " + judgement.reason;
    }
    std::string lines;
    for (const Finding& finding : judgement.findings) {
        std::string line = finding.message.substr(0, finding.message.find(" of A#1"));
        if (const std::size_t by = line.find(" by A#1"); by != std::string::npos) {
            line.erase(by, line.find(", when") - by);  // who and when
        }
        lines += line + "\n";
    }
    return lines;
}

TEST(StartUpConvergenceTest, PassesWhenEveryStartUpLeavesWhatOneLeaves) {
    EXPECT_EQ(said_of(ReconcileRun{}), "pass: 1 start-up, each left what one leaves");
    const auto again = [](World& w) {
        w.builder.define(w.a_start, "setting", "id,value");
        w.builder.start_up_done(w.a_start);
    };
    EXPECT_EQ(said_of(ReconcileRun{}.after("start-up", again)),
              "pass: 2 start-ups, each left what one leaves");
}

TEST(StartUpConvergenceTest, IsUnknownWithoutAStartUpThatCameThrough) {
    EXPECT_EQ(said_of(ReconcileRun{}.without("start-up").without("end")),
              "unknown: no start-up came through");
    EXPECT_EQ(said_of(ReconcileRun{}.without("end")), "unknown: the run has no end");
}

TEST(StartUpConvergenceTest, DoesNotApplyWhereNothingIsExpectedOfStartUpAndNobodyStartsUp) {
    World world = ReconcileRun{}.without("start-up").run();
    Expectations expectations = reconcile_expectations();
    expectations.start_up.reset();
    EXPECT_EQ(world.judged("start-up-convergence", expectations).verdict, Verdict::NotApplicable);
}

TEST(StartUpConvergenceTest, PassesNoStartUpOfWhichNobodySaysWhatItLeaves) {
    Expectations expectations = reconcile_expectations();
    expectations.start_up.reset();
    World world = ReconcileRun{}.run();
    const Judgement judgement = world.judged("start-up-convergence", expectations);
    EXPECT_EQ(judgement.verdict, Verdict::Unknown);
    EXPECT_EQ(judgement.reason,
              "nothing says what a start-up leaves: say it in the handler's expectations, as "
              "start_up");
    World met = ReconcileRun{}
                    .after("start-up",
                           [](World& w) {
                               w.builder.start_up_failed(w.a_start, "42P07",
                                                         "relation \"setting\" already exists");
                           })
                    .run();
    EXPECT_EQ(met.judged("start-up-convergence", expectations).verdict, Verdict::Fail);
}

TEST(StartUpConvergenceTest, MissesTablesColumnsIndexesRowsAndValues) {
    EXPECT_EQ(said_of(ReconcileRun{}.without("seed").instead_of(
                  "upgrade",
                  [](World& w) {
                      w.builder.commit(w.a_start, {insert("setting", limit(900)),
                                                   update("version", {integer(0)}, {integer(1)})});
                  })),
              "pass: 1 start-up, each left what one leaves");
    EXPECT_EQ(said_of(ReconcileRun{}.without("index")),
              "Index setting_value_idx on setting is not there, when the start-up\n");
    EXPECT_EQ(said_of(ReconcileRun{}.without("cache")),
              "Cache:limit has not been cached, when the start-up\n");
    EXPECT_EQ(said_of(ReconcileRun{}.after("cache",
                                           [](World& w) { w.builder.drop(w.a_start, "setting"); })),
              "Table setting is not there, when the start-up\n");
    EXPECT_EQ(said_of(ReconcileRun{}.after(
                  "cache", [](World& w) { w.builder.define(w.a_start, "setting", "id"); })),
              "Column value of setting is not there, when the start-up\n");
    EXPECT_EQ(said_of(ReconcileRun{}.after(
                  "cache",
                  [](World& w) { w.builder.commit(w.a_start, {remove("setting", limit(900))}); })),
              "Row setting (limit, 900) is not there, when the start-up\n");
}

TEST(StartUpConvergenceTest, BlamesWhatIsThereBesides) {
    const auto before_the_end = [](ReconcileRun::Step step) {
        return said_of(ReconcileRun{}.after("start-up", std::move(step)));
    };
    EXPECT_EQ(
        before_the_end([](World& w) { w.builder.commit(w.b, {insert("setting", limit(900))}); }),
        "Row setting (limit, 900) is there 2 times, at the end of the run.\n");
    EXPECT_EQ(before_the_end(
                  [](World& w) { w.builder.define_index(w.b, "setting_value_idx1", "setting"); }),
              "Index setting_value_idx1 on setting is there, which nobody expects, at the end of "
              "the run.\n");
    EXPECT_EQ(before_the_end([](World& w) { w.builder.define(w.b, "scratch", "id"); }),
              "Table scratch is there, which nobody expects, at the end of the run.\n");
    EXPECT_EQ(before_the_end([](World& w) {
                  w.builder.define(w.b, "scratch", "id");
                  w.builder.drop(w.b, "scratch");
              }),
              "pass: 1 start-up, each left what one leaves");
    EXPECT_EQ(
        before_the_end([](World& w) {
            w.builder.commit(w.b, {update("setting", limit(900), limit(90'000))});
        }),
        "Row setting (limit, 900) is not there, at the end of the run.\n"
        "Row setting (limit, 90000) is there, which nobody expects, at the end of the run.\n");
}

TEST(StartUpConvergenceTest, ACachedValueMayBeLostAndNotBeWrong) {
    const auto key_becomes = [](model::KeyChangeKind kind, std::string_view text) {
        return said_of(ReconcileRun{}.after("cache", [=](World& w) {
            w.builder.key(w.a_start,
                          {.change = kind, .key = "cache:limit", .before = "900", .after = text});
        }));
    };
    EXPECT_EQ(key_becomes(model::KeyChangeKind::Evicted, ""),
              "pass: 1 start-up, each left what one leaves");
    EXPECT_EQ(key_becomes(model::KeyChangeKind::Set, "9"),
              "Cache:limit is cached as \"9\" and should be \"900\", when the start-up\n");
    EXPECT_EQ(key_becomes(model::KeyChangeKind::Deleted, ""),
              "Cache:limit is cached as \"\" and should be \"900\", when the start-up\n");
}

TEST(StartUpConvergenceTest, SeesAVersionThatIsAheadOfItsStepThoughAllIsWellInTheEnd) {
    EXPECT_EQ(
        said_of(ReconcileRun{}.instead_of(
            "upgrade",
            [](World& w) {
                w.builder.commit(w.a_start, {update("version", {integer(0)}, {integer(1)})});
                w.builder.commit(w.a_start, {update("setting", limit(9), limit(900))});
            })),
        "Version 1 was recorded, when row setting (limit, 900) is not there.\n"
        "Version 1 was recorded, when row setting (limit, 9) is there, which nobody expects.\n");
}

TEST(StartUpConvergenceTest, BlamesErrorsThatOnlyAStartUpItselfCanCause) {
    const auto fails = [](std::string_view sqlstate) {
        return said_of(ReconcileRun{}.after("schema", [=](World& w) {
            w.builder.start_up_failed(w.b, sqlstate, "relation \"setting\" already exists");
        }));
    };
    EXPECT_EQ(fails("42P07").substr(0, 22), "The start-up of B#1/re");
    EXPECT_EQ(fails("23505").substr(0, 22), "The start-up of B#1/re");
    EXPECT_EQ(fails("40P01"), "pass: 1 start-up, each left what one leaves");
    EXPECT_EQ(fails(""), "pass: 1 start-up, each left what one leaves");
}

}  // namespace
}  // namespace fencepost::checkers
