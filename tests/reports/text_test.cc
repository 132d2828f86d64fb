// Goal: what people read says what broke, how often, and how to see it again, in aligned columns.
#include "reports/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports/verdicts.h"
#include "tests/reports/results_by_hand.h"

namespace fencepost::reports {
namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(TextTest, ARunShowsItsFaultsItsVerdictsAndHowToRunItAgain) {
    EXPECT_EQ(
        run_text(small_run()),
        "same-instant, handler reconcile, seed 12\n"
        "  faults         1. crash at A#1/daily-reconcile@2026-03-02T18:00:00Z/db.commit/1 "
        "(applied), restart\n"
        "                 after 5s: took effect\n"
        "  reached        crash before response\n"
        "  not reached    lease expired under a live holder\n"
        "  run            287 events in 42s of virtual time, quiet, fingerprint 0000000000000abc\n"
        "\n"
        "  pass  once      5 effects, each once\n"
        "  pass  takeover  5 effects, each once\n"
        "\n"
        "all invariants held\n"
        "again: fencepost run same-instant --seed 12\n");
}

TEST(TextTest, ABrokenInvariantShowsWhatWasFound) {
    RunReport report = small_run();
    report.judgements.push_back(failed("fencing"));
    const std::string text = run_text(report);
    EXPECT_TRUE(contains(text, "  FAIL  fencing   the effect landed twice\n")) << text;
    EXPECT_TRUE(contains(text, "\nan invariant broke\n")) << text;
}

TEST(TextTest, AFailureEndsWithTheCommandThatReplaysIt) {
    EXPECT_EQ(failure_text(small_failure()),
              "FAIL once  same-instant, handler no-claim\n"
              "  broken         Every due effect lands exactly once, and no other effect lands.\n"
              "  key            acme/daily-reconcile@2026-03-02T18:00:00Z/7\n"
              "  what           the effect landed twice\n"
              "  faults         1. crash at A#1/daily-reconcile@2026-03-02T18:00:00Z/db.commit/1 "
              "(applied), restart\n"
              "                 after 5s\n"
              "  seen in        17 runs, first with seed 12\n"
              "  replay         fencepost replay failures/once.json\n");
}

TEST(TextTest, AFailureNamesTheParametersThatAreNotAsUsual) {
    FailureReport failure = small_failure();
    EXPECT_FALSE(contains(failure_text(failure), "parameters"));
    failure.plan.parameters = {{"accounts", 1}, {"nodes", 1}};
    EXPECT_TRUE(contains(failure_text(failure), "  parameters     accounts=1, nodes=1\n"));
}

TEST(TextTest, ASearchSaysWhatItDrewAndLearned) {
    SearchReport report = small_search();
    EXPECT_FALSE(contains(search_text(report), "  drawn "));
    EXPECT_FALSE(contains(search_text(report), "  learned "));
    report.first_failed = 12;
    report.drawn = DrawnReport{.profile = "harsh",
                               .families = {{"node", 7}, {"call", 1'200}},
                               .sizes = {2, 5},
                               .parameters = {{"accounts", 1, 9, 6}}};
    report.guided = GuidedReport{.seed = 3, .changed = 40, .kept = 11, .features = {{"probes", 2}}};
    const std::string text = search_text(report);
    EXPECT_TRUE(contains(text,
                         "  drawn          profile harsh; families of faults: node (7), call "
                         "(1,200); faults a plan: 0 (2), 1\n                 (5); accounts: 1 "
                         "to 9 (6)\n"))
        << text;
    EXPECT_TRUE(contains(text,
                         "  learned        11 plans kept, which covered 2 probes; 40 runs made "
                         "by changing these\n"
                         "  first failing  run 12\n"))
        << text;
}

TEST(TextTest, AFailureWithoutFaultsSaysSo) {
    FailureReport failure = small_failure();
    failure.plan.faults.clear();
    EXPECT_TRUE(contains(failure_text(failure), "  faults         none\n"));
}

TEST(TextTest, ASearchShowsCountsAndWhatWasNeverReached) {
    SearchReport report = small_search();
    report.probes.push_back({.probe = "stale write refused"});
    EXPECT_EQ(search_text(report),
              "same-instant, handler reconcile: 1,000 random runs (seeds 1..1000)\n"
              "  runs           1,000, 0 with a broken invariant\n"
              "  took effect    crash 120 of 130, pause 44 of 45\n"
              "  reached        both nodes were asked (812)\n"
              "  never reached  stale write refused\n"
              "\n"
              "  pass  once           1,000 passed\n"
              "  pass  single-claim   990 passed, 10 unknown\n"
              "  pass  fencing        1,000 passed\n"
              "  pass  takeover       1,000 passed\n"
              "  pass  checkpoint     1,000 passed\n"
              "  pass  honest-status  1,000 passed\n"
              "\n"
              "inconclusive: never reached: stale write refused\n"
              "inconclusive\n");
}

TEST(TextTest, ACertificateSaysWhatItIsOfAndThatNothingIsMissing) {
    EXPECT_EQ(certificate_text(small_certificate()),
              "CERTIFICATE: every plan with at most 2 faults\n"
              "  of             same-instant, handler reconcile, seed 0, parameters as usual\n"
              "  kinds          all of the scenario's\n"
              "  fault points   24 without faults, 23 more after a fault\n"
              "  plans          6,596 planned: 2,724 run, 0 skipped, 3,872 not run because they "
              "equal others\n"
              "    equal        3,872: the evicted key is not there: as without the fault\n"
              "  never struck   0\n"
              "  in vain        29 runs whose faults changed nothing\n"
              "  violating      0\n"
              "  faults         evict 11,187\n"
              "  made by        fencepost 0.1.0 in 2.5 min\n");
}

TEST(TextTest, WhatIsIncompleteIsNoCertificateAndSaysWhy) {
    CertificateReport certificate = small_certificate();
    certificate.complete = false;
    certificate.skipped = 3;
    EXPECT_TRUE(certificate_text(certificate)
                    .starts_with("NO CERTIFICATE for every plan with at most 2 faults\n"
                                 "  because        3 plans gave no run\n"));
    certificate.cut_short = true;
    EXPECT_TRUE(certificate_text(certificate)
                    .starts_with("NO CERTIFICATE for every plan with at most 2 faults\n"
                                 "  because        it was cut short: at least 3 plans were not "
                                 "run\n"));
    certificate.cut_short = false;
    certificate.skipped = 0;
    certificate.inert = 1;
    EXPECT_TRUE(certificate_text(certificate)
                    .starts_with("NO CERTIFICATE for every plan with at most 2 faults\n"
                                 "  because        1 plan had a fault that never struck\n"));
}

TEST(TextTest, ARunThatDiedIsReportedWithItsReplayCommand) {
    SearchReport report = small_search();
    report.broken_runs.push_back({.run = "seed 9",
                                  .what = "killed by SIGSEGV in A#1/daily-reconcile",
                                  .replay = "fencepost run same-instant --seed 9",
                                  .handlers_doing = true});
    const std::string text = search_text(report);
    EXPECT_TRUE(contains(text,
                         "BROKEN handler: seed 9\n"
                         "  what           killed by SIGSEGV in A#1/daily-reconcile\n"
                         "  replay         fencepost run same-instant --seed 9\n"))
        << text;
    EXPECT_TRUE(text.ends_with("the handler broke its process\n")) << text;
}

TEST(TextTest, AnAcceptanceIsATableOfConditionsAndVerdicts) {
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].random.verdicts[2].fail = 1;
    report.conditions[0].evidence[0].random.failed = 1;
    EXPECT_EQ(
        accept_text(report),
        "two-node acceptance, handler reconcile\n"
        "\n"
        "                                                 effect            goes on,\n"
        " #  condition                                    once    takeover  not redone  start-up  "
        "status\n"
        " 1  the same scheduled job due on both nodes at  FAIL    pass      pass        n/a       "
        "pass\n"
        "    once\n"
        "\n"
        "condition 1: same-instant, reconcile\n"
        "  runs           1,000 random runs (seeds 1..1000); 312 one-fault plans; 1 with a broken "
        "invariant\n"
        "  took effect    crash 240 of 260, pause 88 of 90\n"
        "  reached        both nodes were asked (1,624)\n"
        "  unknown        single-claim (20)\n"
        "\n"
        "an invariant broke\n");
}

TEST(TextTest, NoLineIsWiderThanThePage) {
    SearchReport report = small_search();
    report.failures.push_back(small_failure());
    AcceptReport accept = small_accept();
    accept.conditions[0].evidence[0].random = report;
    for (const std::string& text : {run_text(small_run()), search_text(report), accept_text(accept),
                                    failure_text(small_failure())}) {
        std::istringstream lines{text};
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(width_of(line), kPageWidth) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
        }
    }
}

TEST(TextTest, WithoutColourThereIsNoEscapeSequence) {
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].random.failures.push_back(small_failure());
    EXPECT_FALSE(contains(accept_text(report), "\x1b"));
    EXPECT_TRUE(contains(accept_text(report, {.color = true}), "\x1b[32mpass\x1b[0m"));
}

TEST(TextTest, AReplaySaysFirstWhetherTheFailureIsStillThere) {
    ReplayReport report{.file = "f", .expected_checker = "once", .run = small_run()};
    report.outcome = ReplayOutcome::Same;
    EXPECT_TRUE(replay_text(report).starts_with("the same failure (once)\n"));
    report.outcome = ReplayOutcome::OtherWay;
    EXPECT_TRUE(replay_text(report).starts_with("the same invariant by another way (once)\n"));
    report.outcome = ReplayOutcome::Gone;
    EXPECT_TRUE(replay_text(report).starts_with("no failure any more (once)\n"));
}

TEST(TextTest, AReplayByAnotherHistorySaysThatTheCodeHasChangedAndFromWhat) {
    ReplayReport report{.file = "f",
                        .outcome = ReplayOutcome::Same,
                        .expected_checker = "once",
                        .expected_key = "k1",
                        .same_history = true,
                        .same_key = true,
                        .found_by = "sweep, seed 12",
                        .saved_version = "0.1.0+aaaa",
                        .version = "0.1.0+aaaa",
                        .run = small_run()};
    std::string text = replay_text(report);
    EXPECT_TRUE(contains(text, "history        as saved, event by event\n")) << text;
    EXPECT_TRUE(contains(text, "found by       sweep, seed 12\n")) << text;
    EXPECT_FALSE(contains(text, "this is")) << text;
    report.outcome = ReplayOutcome::OtherWay;
    report.same_history = report.same_key = false;
    report.version = "0.1.0+bbbb";
    report.moved = "db.query/3 is now db.query/4";
    text = replay_text(report);
    EXPECT_TRUE(contains(text, "history        not as saved: the code has changed since")) << text;
    EXPECT_TRUE(contains(text, "moved          db.query/3 is now db.query/4\n")) << text;
    EXPECT_TRUE(contains(text, "key            another than saved: k1\n")) << text;
    EXPECT_TRUE(contains(text, "saved with     0.1.0+aaaa\n")) << text;
    EXPECT_TRUE(contains(text, "this is        0.1.0+bbbb\n")) << text;
    const ReplayReport bare{.file = "f", .outcome = ReplayOutcome::Same, .run = small_run()};
    EXPECT_EQ(replay_text(bare), "the same failure\n\n" + run_text(small_run()));
}

TEST(TextTest, AnAcceptanceShowsTheSavedFailuresThatAreThereAgainBeforeItsTable) {
    AcceptReport report = small_accept();
    report.saved = {{.name = "a", .scenario = "s", .handler = "h", .checker = "once"},
                    {.name = "b",
                     .scenario = "s",
                     .handler = "h",
                     .checker = "fencing",
                     .outcome = ReplayOutcome::OtherWay,
                     .replay = "fencepost replay b.json"}};
    EXPECT_TRUE(contains(accept_text(report),
                         "\n  saved failures  2 replayed, 1 there again\n"
                         "FAIL fencing  s, handler h\n"
                         "  what           the same invariant by another way\n"
                         "  replay         fencepost replay b.json\n"
                         "\n"))
        << accept_text(report);
    EXPECT_EQ(exit_code(ending_of(report)), 1);
    report.saved.pop_back();
    EXPECT_EQ(exit_code(ending_of(report)), 0);
}

TEST(TextTest, ACorpusHasARowForEachFailure) {
    const CorpusReport report{.folder = "corpus",
                              .failures = {{.name = "torn", .trouble = "not JSON"},
                                           {.name = "a",
                                            .scenario = "s",
                                            .handler = "h",
                                            .checker = "once",
                                            .faults = 2,
                                            .outcome = ReplayOutcome::Same}}};
    EXPECT_EQ(corpus_text(report),
              " handler  breaks  scenario  faults  state\n"
              " torn                               not JSON\n"
              " h        once    s              2  the same failure\n"
              "\n"
              "2 failures in corpus; 0 no failure any more\n");
}

TEST(TextTest, FingerprintLinesAreTwoWords) {
    EXPECT_EQ(fingerprint_line(12, 0xabcU), "12 0000000000000abc\n");
}

TEST(TextTest, ListsAreAlignedAndGroupedWhenThereAreSeveralGroups) {
    EXPECT_EQ(list_text({{"a", "one", ""}, {"long", "two", ""}}), "  a     one\n  long  two\n");
    EXPECT_EQ(list_text({{"a", "one", "first"}, {"b", "two", "second"}}),
              "first\n  a  one\n\nsecond\n  b  two\n");
    EXPECT_EQ(list_text({}), "");
}

}  // namespace
}  // namespace fencepost::reports
