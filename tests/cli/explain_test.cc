// Explanations: that they tell the truth and name the cause, for every planted mistake.
//
// Method: tests/failures/ holds for each planted mistake a failure that a sweep found and shrank.
// The plans are replayed, not searched for, so that the test is cheap.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "checkers/checker.h"
#include "checkers/evidence.h"
#include "kit/explaining.h"
#include "reports/layout.h"
#include "reports/page.h"
#include "scenarios/handler.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/what_if.h"
#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

std::filesystem::path failures_folder() {
    return std::filesystem::path(FENCEPOST_SOURCE_DIR) / "tests/failures";
}

scenarios::Failure failure_of(const std::string& mistake) {
    return scenarios::read_failure((failures_folder() / (mistake + ".json")).string());
}

std::vector<std::string> mistakes() {
    std::vector<std::string> names;
    for (const scenarios::HandlerSpec& handler : scenarios::all_handlers()) {
        const bool saved = std::filesystem::exists(failures_folder() / (handler.name + ".json"));
        if (handler.is_mistake() && saved) names.push_back(handler.name);
    }
    return names;
}

kit::ExplainedRun explained(const scenarios::Failure& failure) {
    static scenarios::Runner runner;
    auto run = kit::explain(failure.plan, failure.invariant, failure.key, runner);
    EXPECT_TRUE(run.has_value()) << failure.plan.handler << " breaks nothing any more";
    return run.value_or(kit::ExplainedRun{});
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string without_line_ends(std::string_view text) {
    return reports::on_one_line(text);
}

class EveryMistake : public testing::TestWithParam<std::string> {};

TEST_P(EveryMistake, IsExplainedOnOneScreenByItsLesson) {
    const scenarios::HandlerSpec& handler = *scenarios::find_handler(GetParam());
    const kit::ExplainedRun run = explained(failure_of(GetParam()));
    const std::string text = reports::explanation_text(run.explanation);
    EXPECT_LE(std::ranges::count(text, '\n'), 50) << text;
    EXPECT_TRUE(has(without_line_ends(text), handler.lesson)) << text;
    EXPECT_NE(std::ranges::find(handler.breaks, run.explanation.checker), handler.breaks.end())
        << run.explanation.checker;
}

TEST_P(EveryMistake, HasAStoryOfAtMostFifteenEventsInTheirOrderThatHoldsTheEvidence) {
    const kit::ExplainedRun run = explained(failure_of(GetParam()));
    const auto& lines = run.explanation.story.lines;
    EXPECT_LE(lines.size(), reports::kStoryLines);
    EXPECT_TRUE(std::ranges::is_sorted(lines, {}, &reports::StoryLine::record));
    EXPECT_TRUE(std::ranges::any_of(lines, &reports::StoryLine::is_evidence));
    for (const reports::Witness& witness : run.explanation.witnesses) {
        if (witness.record != run.finding.record) continue;
        EXPECT_NE(std::ranges::find(lines, witness.record, &reports::StoryLine::record),
                  lines.end());
    }
}

// The plans are minimal: a slice that leaves out one of their faults is not sound.
TEST_P(EveryMistake, BreaksUnderTheFaultsOfTheSliceAlone) {
    const scenarios::Failure failure = failure_of(GetParam());
    scenarios::Runner runner;
    const scenarios::RunResult result = runner.run(failure.plan);
    const auto broken =
        std::ranges::find(result.judgements, failure.invariant, &checkers::Judgement::checker);
    ASSERT_NE(broken, result.judgements.end());
    ASSERT_FALSE(broken->findings.empty());
    const sim::History history = runner.history();
    reports::Narrator narrator{history, runner.expectations(failure.plan)};
    const auto same = std::ranges::find(broken->findings, failure.key, &checkers::Finding::key);
    ASSERT_NE(same, broken->findings.end());
    const reports::Story story = reports::story_of(narrator, *same);
    sim::Plan sliced = failure.plan;
    sliced.faults.clear();
    for (const std::uint32_t fault : story.faults)
        sliced.faults.push_back(failure.plan.faults.at(fault));
    EXPECT_TRUE(scenarios::breaks(runner.run(sliced), failure.invariant));
    EXPECT_TRUE(explained(failure).explanation.story_suffices);
}

TEST_P(EveryMistake, HasAPageOfItsOwnThatAsksForNothing) {
    const scenarios::Failure failure = failure_of(GetParam());
    scenarios::Runner runner;
    const auto run = kit::explain(failure.plan, failure.invariant, failure.key, runner);
    ASSERT_TRUE(run.has_value());
    const reports::Diagram diagram = diagram_of(*run, runner, "diagram");
    const std::string page = reports::explanation_page(run->explanation, diagram);
    EXPECT_LT(page.size(), 500'000U);
    for (const std::string_view asks : {"src=", "href=\"http", "@import", "url(http", "fetch("})
        EXPECT_FALSE(has(page, asks)) << asks;
    EXPECT_TRUE(has(page, "default-src 'none'"));
    EXPECT_GT(diagram.marks.at("violation"), 0U);
    EXPECT_EQ(diagram.marks.contains("fault"), !failure.plan.faults.empty());
}

INSTANTIATE_TEST_SUITE_P(ExplainTest, EveryMistake, testing::ValuesIn(mistakes()),
                         [](const auto& mistake) {
                             std::string name = mistake.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(ExplainTest, ThereIsASavedFailureOfEveryPlantedMistake) {
    for (const scenarios::HandlerSpec& handler : scenarios::all_handlers()) {
        if (!handler.is_mistake()) continue;
        EXPECT_TRUE(std::filesystem::exists(failures_folder() / (handler.name + ".json")))
            << handler.name;
    }
}

TEST(ExplainTest, AFaultThatStrikesAfterTheViolationIsNoPartOfTheStory) {
    scenarios::Failure failure = failure_of("lock-only");
    sim::Fault late{.kind = sim::FaultKind::Pause, .party = "A"};
    late.at_time =
        scenarios::find_scenario(failure.plan.scenario)->start + std::chrono::seconds{60};
    late.lasting = std::chrono::seconds{1};
    failure.plan.faults.push_back(late);
    const kit::ExplainedRun run = explained(failure);
    EXPECT_EQ(run.explanation.story.faults, std::vector<std::uint32_t>{0});
    ASSERT_EQ(run.explanation.roles.size(), 2U);
    EXPECT_EQ(run.explanation.roles[0].outcome, "the run passes");
    EXPECT_EQ(run.explanation.roles[1].outcome, "the same invariant breaks");
}

TEST(ExplainTest, ThePausedHolderOfAnOverLeaseIsToldWithItsLease) {
    const kit::ExplainedRun run = explained(failure_of("lock-only"));
    const std::string text = reports::explanation_text(run.explanation);
    EXPECT_TRUE(has(text, "its lease 1:B#1.1 had run out 1s656ms before")) << text;
    EXPECT_TRUE(has(text, "the lease 1:B#1.1 runs out")) << text;
    EXPECT_TRUE(has(text, "declares B dead, 1 fire to recover")) << text;
}

TEST(ExplainTest, TheTwinPassesAndIsNoFartherFromTheFailureThanAPlanWithoutTheFault) {
    const scenarios::Failure failure = failure_of("fence-in-memory");
    const kit::ExplainedRun run = explained(failure);
    ASSERT_TRUE(run.explanation.twin.has_value());
    scenarios::Runner runner;
    (void)runner.run(failure.plan);
    const sim::History failing = runner.history();
    EXPECT_FALSE(runner.run(run.explanation.twin->plan).failed());
    const auto twin = scenarios::parting_of(failing, runner.history());
    sim::Plan none = failure.plan;
    none.faults.clear();
    (void)runner.run(none);
    EXPECT_GE(twin.here, scenarios::parting_of(failing, runner.history()).here);
}

// A handler that nobody here knows, with the fault of a planted mistake.
TEST(ExplainTest, AStrangersHandlerIsToldOfTheMistakeThatItIsMostLike) {
    for (const std::string name :
         {"lock-only", "check-then-insert", "claim-then-work", "fence-in-memory", "blind-retry",
          "release-without-owner", "guessed-total", "startup-unnamed-index", "ack-first"}) {
        scenarios::HandlerSpec copy = *scenarios::find_handler(name);
        copy.name = "strangers-" + name;
        copy.breaks.clear();
        copy.lesson = "A handler of somebody else.";
        const std::string copied = copy.name;
        scenarios::add_handler(std::move(copy));
        scenarios::Failure failure = failure_of(name);
        failure.plan.handler = copied;
        const kit::ExplainedRun run = explained(failure);
        ASSERT_TRUE(run.explanation.cause.has_value()) << name;
        EXPECT_EQ(run.explanation.cause->mistake, name);
        EXPECT_EQ(run.explanation.cause->match, reports::CauseMatch::SamePlan);
    }
}

// A node's COMMIT of an acquired trigger comes after the node has come back and has looked for its
// old rows (docs/verdicts.md#takeover).
sim::Plan stuck_trigger(const std::string& handler) {
    return sim::plan_from_json(R"({
      "scenario": "holder-leaves", "handler": ")" +
                               handler + R"(",
      "faults": [
        {"at": "*#1/scheduler/db.commit/1", "phase": "sent", "do": "delay", "by": "2s"},
        {"at_time": "2026-03-02T18:00:00Z", "do": "stop", "node": "B", "restart_after": "1ms",
         "grace": "0s"}]})");
}

TEST(ExplainTest, WhatBreaksUnderTheReferenceHandlerAsWellIsNotLaidToTheHandler) {
    scenarios::HandlerSpec copy = *scenarios::find_handler("reconcile");
    copy.name = "strangers-reconcile";
    scenarios::add_handler(std::move(copy));
    for (const std::string handler : {"reconcile", "strangers-reconcile"}) {
        scenarios::Runner runner;
        const auto run = kit::explain(stuck_trigger(handler), "takeover", "", runner);
        ASSERT_TRUE(run.has_value()) << handler;
        EXPECT_EQ(run->explanation.cause->match, reports::CauseMatch::Reference);
        const std::string text = reports::explanation_text(run->explanation);
        EXPECT_TRUE(has(text, "Not the handler: under this plan the reference handler reconcile "))
            << text;
        EXPECT_FALSE(has(text, "planted mistake")) << text;
        EXPECT_TRUE(has(text, "See docs/verdicts.md#takeover")) << text;
    }
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream in{file};
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// Reports point there.
TEST(ExplainTest, TheSourceLineOfEveryHandlerIsWhereItIsNamed) {
    const std::vector<scenarios::HandlerSpec> all = scenarios::all_handlers();
    for (const scenarios::HandlerSpec& handler : all) {
        std::string file = handler.source.file_name();
        if (handler.name.starts_with("strangers-")) continue;
        while (file.starts_with("../")) file.erase(0, 3);
        const auto lines = lines_of(std::filesystem::path(FENCEPOST_SOURCE_DIR) / file);
        ASSERT_GE(lines.size(), handler.source.line()) << handler.name << " in " << file;
        std::string near;
        for (std::uint32_t line = handler.source.line() - std::min(handler.source.line(), 6U);
             line < lines.size() && line < handler.source.line() + 3; ++line)
            near += lines[line];
        EXPECT_TRUE(has(near, "\"" + handler.name + "\""))
            << handler.name << " in " << file << ":" << handler.source.line();
    }
}

// FENCEPOST_WRITE_GOLDEN=1 writes the files anew.
void expect_golden(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(FENCEPOST_SOURCE_DIR) / "tests/golden" / name;
    if (std::getenv("FENCEPOST_WRITE_GOLDEN") != nullptr) std::ofstream{path} << text;
    std::stringstream golden;
    golden << std::ifstream{path}.rdbuf();
    EXPECT_EQ(text, golden.str()) << "see " << path;
}

TEST(ExplainTest, TextAndJsonAreAsInTheGoldenFiles) {
    for (const std::string name : {"lock-only", "blind-retry", "claim-then-work"}) {
        kit::ExplainedRun run = explained(failure_of(name));
        run.explanation.replay = "fencepost replay FILE --trace";
        expect_golden("explain-" + name + ".txt", reports::explanation_text(run.explanation));
        expect_golden("explain-" + name + ".json", reports::explanation_json(run.explanation));
    }
}

TEST(ExplainTest, TheDocumentationTreatsEveryInvariantAndEveryKindOfFault) {
    std::string text;
    for (const std::string& line :
         lines_of(std::filesystem::path(FENCEPOST_SOURCE_DIR) / "docs/verdicts.md"))
        text += line + "\n";
    for (const checkers::Checker& checker : checkers::all_checkers())
        EXPECT_TRUE(has(text, fmt::format("\n## {}\n", checker.name))) << checker.name;
    for (const sim::FaultKindInfo& kind : sim::fault_kinds())
        EXPECT_TRUE(has(text, fmt::format("`{}`", kind.name))) << kind.name;
}

TEST(ExplainTest, EvidenceIsTheRecordsThatTheMessageNames) {
    const checkers::Finding finding{
        .key = "k", .message = "it was a (record 7) and b (record 3), (record x)", .record = 9};
    EXPECT_EQ(checkers::evidence_of(finding, 100), (std::vector<sim::RecordId>{3, 7, 9}));
    EXPECT_EQ(checkers::evidence_of(finding, 5), (std::vector<sim::RecordId>{3}));
}

}  // namespace
}  // namespace fencepost::cli
