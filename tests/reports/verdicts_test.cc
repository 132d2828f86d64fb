// Goal: a cell of the acceptance table never says more than the checkers saw, and exit codes
// follow.
#include "reports/verdicts.h"

#include <gtest/gtest.h>

#include "tests/reports/results_by_hand.h"

namespace fencepost::reports {
namespace {

const VerdictColumn& column(std::string_view name) {
    for (const VerdictColumn& each : verdict_columns()) {
        if (each.name == name) return each;
    }
    throw std::out_of_range("no such column");
}

CellVerdict cell(std::string_view name, const AcceptReport& report) {
    return cell_of(column(name), report.conditions.at(0));
}

TEST(VerdictsTest, ACellPassesWhenItsCheckersPassedSomewhereAndFailedNowhere) {
    const AcceptReport report = small_accept();
    EXPECT_EQ(cell("effect once", report), CellVerdict::Pass);
    EXPECT_EQ(cell("takeover", report), CellVerdict::Pass);
    EXPECT_EQ(cell("goes on, not redone", report), CellVerdict::Pass);
    EXPECT_EQ(cell("status", report), CellVerdict::Pass);
}

TEST(VerdictsTest, ACellWhoseCheckersTheScenarioDoesNotHaveIsNotApplicable) {
    EXPECT_EQ(cell("start-up", small_accept()), CellVerdict::NotApplicable);
}

TEST(VerdictsTest, OneFailureInEitherSearchFailsTheCell) {
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].one_fault.verdicts[2].fail = 1;
    EXPECT_EQ(cell("effect once", report), CellVerdict::Fail);
    EXPECT_EQ(cell("takeover", report), CellVerdict::Pass);
}

TEST(VerdictsTest, ACheckerThatJudgedNothingMakesItsCellUnknown) {
    AcceptReport report = small_accept();
    for (SearchReport* search :
         {&report.conditions[0].evidence[0].random, &report.conditions[0].evidence[0].one_fault}) {
        search->verdicts[2].pass = 0;
        search->verdicts[2].unknown = 1000;
    }
    EXPECT_EQ(cell("effect once", report), CellVerdict::Unknown);
    EXPECT_EQ(exit_code(ending_of(report)), 3);
}

TEST(VerdictsTest, WhatOneSearchCouldNotJudgeTheOtherMayHaveJudged) {
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].one_fault.verdicts[2].pass = 0;
    report.conditions[0].evidence[0].one_fault.verdicts[2].unknown = 312;
    EXPECT_EQ(cell("effect once", report), CellVerdict::Pass);
}

TEST(VerdictsTest, CheckersThatDoNotApplySayNothing) {
    EXPECT_EQ(verdict_of({.checker = "fencing", .not_applicable = 3}), CellVerdict::NotApplicable);
    EXPECT_EQ(verdict_of({.checker = "fencing", .pass = 1, .not_applicable = 3}),
              CellVerdict::Pass);
    EXPECT_EQ(verdict_of({.checker = "fencing"}), CellVerdict::Unknown);
}

TEST(VerdictsTest, EverythingHeldGivesZero) {
    EXPECT_EQ(exit_code(ending_of(small_run())), 0);
    EXPECT_EQ(exit_code(ending_of(small_search())), 0);
    EXPECT_EQ(exit_code(ending_of(small_accept())), 0);
}

TEST(VerdictsTest, AProbeThatWasNeverReachedIsInconclusive) {
    SearchReport report = small_search();
    report.probes.push_back({.probe = "stale write refused"});
    EXPECT_EQ(gaps_of(report), std::vector<std::string>{"never reached: stale write refused"});
    EXPECT_EQ(exit_code(ending_of(report)), 3);
}

TEST(VerdictsTest, AnEnumerationWithoutACertificateIsInconclusive) {
    SearchReport report = small_search();
    report.certificate = small_certificate();
    EXPECT_EQ(exit_code(ending_of(report)), 0);
    report.certificate->complete = false;
    EXPECT_EQ(exit_code(ending_of(report)), 3);
    EXPECT_EQ(gaps_of(report).size(), 1U);
}

TEST(VerdictsTest, AProbeThatOneOfTwoSearchesReachedIsReached) {
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].random.probes.push_back({.probe = "stale write refused"});
    report.conditions[0].evidence[0].one_fault.probes.push_back(
        {.probe = "stale write refused", .reached = 1});
    EXPECT_EQ(exit_code(ending_of(report)), 0);
}

TEST(VerdictsTest, ABrokenInvariantOutweighsWhatIsInconclusive) {
    SearchReport report = small_search();
    report.interrupted = true;
    EXPECT_EQ(exit_code(ending_of(report)), 3);
    report.failed = 1;
    EXPECT_EQ(exit_code(ending_of(report)), 1);
}

TEST(VerdictsTest, ABrokenRunIsTheHandlersOrTheHarnesssDoing) {
    SearchReport report = small_search();
    report.broken_runs.push_back({.run = "seed 3", .what = "hung", .handlers_doing = true});
    EXPECT_EQ(exit_code(ending_of(report)), 1);
    report.broken_runs.push_back({.run = "seed 4", .what = "crashed", .handlers_doing = false});
    EXPECT_EQ(exit_code(ending_of(report)), 4);
}

TEST(VerdictsTest, RunsThatGaveNoHistoryLetNoCellPass) {
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].one_fault.broken_runs.push_back(
        {.run = "plan 17", .what = "killed by SIGSEGV", .handlers_doing = true});
    EXPECT_EQ(cell("effect once", report), CellVerdict::Unknown);
    EXPECT_EQ(cell("start-up", report), CellVerdict::NotApplicable);
    report.conditions[0].evidence[0].random.verdicts[2].fail = 1;
    EXPECT_EQ(cell("effect once", report), CellVerdict::Fail);
}

TEST(VerdictsTest, WhatWasInterruptedBeforeItsFirstRunIsUnknown) {
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].random = {.asked = 200, .interrupted = true};
    report.conditions[0].evidence[0].one_fault = {};
    EXPECT_EQ(cell("effect once", report), CellVerdict::Unknown);
}

TEST(VerdictsTest, WhatBothSearchesFoundIsOneFailure) {
    Evidence evidence = small_accept().conditions[0].evidence[0];
    evidence.random.failures = {small_failure()};
    evidence.one_fault.failures = {small_failure(), small_failure()};
    evidence.one_fault.failures[1].plan.faults.clear();
    const SearchReport sum = both(evidence);
    ASSERT_EQ(sum.failures.size(), 2U);
    EXPECT_EQ(sum.failures[0].seen, 34U);
    EXPECT_EQ(sum.failures[1].seen, 17U);
}

TEST(VerdictsTest, AConditionNeedsAllItsEvidenceToPass) {
    AcceptReport report = small_accept();
    std::vector<Evidence>& evidence = report.conditions[0].evidence;
    evidence.push_back(evidence[0]);
    EXPECT_EQ(cell("effect once", report), CellVerdict::Pass);
    evidence[1].random.verdicts[0].fail = 1;
    EXPECT_EQ(cell("effect once", report), CellVerdict::Fail);
    EXPECT_EQ(cell("takeover", report), CellVerdict::Pass);
}

TEST(VerdictsTest, AConditionInWhichTheHandlerTakesNoPartSaysNothing) {
    AcceptReport report = small_accept();
    report.conditions.push_back({.condition = 2,
                                 .title = "the same message twice",
                                 .evidence = {},
                                 .obstacles = {"it is set to work by fires"}});
    EXPECT_EQ(cell_of(column("effect once"), report.conditions[1]), CellVerdict::NotApplicable);
    EXPECT_EQ(exit_code(ending_of(report)), 0);
    report.conditions.erase(report.conditions.begin());
    EXPECT_EQ(exit_code(ending_of(report)), 3);
}

TEST(VerdictsTest, NothingRunIsInconclusive) {
    EXPECT_EQ(exit_code(ending_of(SearchReport{})), 3);
    EXPECT_EQ(exit_code(ending_of(AcceptReport{})), 3);
    AcceptReport report = small_accept();
    report.conditions[0].evidence[0].one_fault = {};
    EXPECT_EQ(exit_code(ending_of(report)), 3);
}

TEST(VerdictsTest, AReplayIsOverWhenTheFailureIsGone) {
    for (const ReplayOutcome outcome :
         {ReplayOutcome::Same, ReplayOutcome::OtherWay, ReplayOutcome::OtherInvariant}) {
        EXPECT_EQ(exit_code(ending_of(ReplayReport{.outcome = outcome})), 1);
    }
    EXPECT_EQ(exit_code(ending_of(ReplayReport{.outcome = ReplayOutcome::Gone})), 0);
}

}  // namespace
}  // namespace fencepost::reports
