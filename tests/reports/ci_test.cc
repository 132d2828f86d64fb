// JUnit, SARIF and annotations of results written by hand.
#include "reports/ci.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/reports/results_by_hand.h"

namespace fencepost::reports {
namespace {

AcceptReport broken_accept() {
    AcceptReport report = small_accept();
    report.handler = "no-claim";
    SearchReport& random = report.conditions[0].evidence[0].random;
    random.verdicts[0] = {.checker = "once", .pass = 983, .fail = 17};
    random.probes.push_back({.probe = "executions <overlapped>", .reached = 0});
    FailureReport failure = small_failure();
    failure.message = "<ledger> \"7\" & 8\x01 is there twice\nand more";
    failure.explanation = "once is broken: 1 < 2\n";
    random.failures.push_back(failure);
    report.conditions.push_back({.condition = 2,
                                 .title = "the same request or message delivered twice",
                                 .obstacles = {"it needs a queue"}});
    report.sources["no-claim"] = {.file = "scenarios/mistakes/claims.cc", .line = 12};
    return report;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size()))
        ++count;
    return count;
}

TEST(JunitTest, IsAsInTheGoldenFile) {
    const auto path = std::filesystem::path(FENCEPOST_SOURCE_DIR) / "tests/golden/accept-junit.xml";
    const std::string text = junit_xml(broken_accept());
    if (std::getenv("FENCEPOST_WRITE_GOLDEN") != nullptr) std::ofstream{path} << text;
    std::stringstream golden;
    golden << std::ifstream{path}.rdbuf();
    EXPECT_EQ(text, golden.str());
}

TEST(JunitTest, HasACaseForEachCellAndOneForTheEvidence) {
    const std::string text = junit_xml(broken_accept());
    EXPECT_EQ(count_of(text, "<testsuite "), 2U);
    EXPECT_EQ(count_of(text, "<testcase "), 12U);
    EXPECT_EQ(count_of(text, "<failure "), 1U);
    EXPECT_EQ(count_of(text, "tests=\"12\""), 1U);
}

TEST(JunitTest, WhatTheHandlerCannotTakePartInIsSkippedWithTheReason) {
    const std::string text = junit_xml(broken_accept());
    EXPECT_EQ(count_of(text, "<skipped message=\"it needs a queue\"/>"), 5U);
    EXPECT_EQ(count_of(text, "<skipped message=\"the handler takes no part\"/>"), 1U);
}

TEST(JunitTest, ASavedFailureIsACaseThatPassesWhenItIsGone) {
    AcceptReport report = small_accept();
    report.saved = {{.name = "gone", .handler = "reconcile"},
                    {.name = "back",
                     .handler = "reconcile",
                     .checker = "once",
                     .outcome = ReplayOutcome::Same,
                     .replay = "fencepost replay back.json"},
                    {.name = "torn", .handler = "reconcile", .trouble = "it is no failure file"}};
    const std::string text = junit_xml(report);
    EXPECT_NE(text.find("<testsuite name=\"saved failures\" tests=\"3\" failures=\"1\" "
                        "errors=\"1\" skipped=\"0\">"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("classname=\"reconcile.saved\" name=\"gone\"/>"), std::string::npos);
    EXPECT_NE(text.find("message=\"once: the same failure\">replay: fencepost replay back.json"),
              std::string::npos);
    EXPECT_NE(text.find("<error type=\"saved failure\" message=\"it is no failure file\""),
              std::string::npos);
}

TEST(JunitTest, TextOfARunIsEscaped) {
    const std::string text = junit_xml(broken_accept());
    EXPECT_NE(text.find("once: &lt;ledger&gt; &quot;7&quot; &amp; 8"), std::string::npos);
    EXPECT_EQ(text.find('\x01'), std::string::npos);
}

TEST(SarifTest, PointsToTheHandler) {
    const auto json = nlohmann::json::parse(
        sarif_json(broken_accept(), {{"once", "Every due effect lands once."}}, "1.2"));
    const auto& result = json["runs"][0]["results"][0];
    EXPECT_EQ(result["ruleId"], "once");
    const auto& place = result["locations"][0]["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], "scenarios/mistakes/claims.cc");
    EXPECT_EQ(place["region"]["startLine"], 12);
}

TEST(SarifTest, AHandlerWhoseSourceNobodyKnowsHasNoPlace) {
    AcceptReport report = broken_accept();
    report.sources.clear();
    const auto json = nlohmann::json::parse(sarif_json(report, {}, "1.2"));
    EXPECT_FALSE(json["runs"][0]["results"][0].contains("locations"));
}

TEST(GithubTest, EachFailureIsAnErrorAndEachGapAWarningOnALineOfItsOwn) {
    const std::string text = github_annotations(broken_accept());
    EXPECT_EQ(count_of(text, "\n"), 2U) << text;
    EXPECT_TRUE(
        text.starts_with("::error file=scenarios/mistakes/claims.cc,line=12,title=once is "
                         "broken (same-instant%2C no-claim)::once is broken: 1 < 2%0A"))
        << text;
    EXPECT_EQ(count_of(text, "::warning title="), 1U);
}

TEST(GithubTest, NothingBrokenPrintsNothing) {
    EXPECT_EQ(github_annotations(small_accept()), "");
}

}  // namespace
}  // namespace fencepost::reports
