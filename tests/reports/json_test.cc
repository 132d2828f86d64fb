// Goal: JSON reports keep their keys, their order and their meaning.
#include "reports/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/results_by_hand.h"

namespace fencepost::reports {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys_of(const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return keys;
}

TEST(JsonTest, EveryReportNamesItsVersionItsKindAndTheExitCode) {
    for (const std::string& text :
         {run_json(small_run()), search_json(small_search()), accept_json(small_accept()),
          replay_json({.run = small_run()}), shrink_json(small_failure(), 9), list_json("x", {})}) {
        const Json json = Json::parse(text);
        EXPECT_EQ(json["version"], 1);
        EXPECT_EQ(keys_of(json)[1], "report");
        EXPECT_EQ(keys_of(json)[2], "exit_code");
        EXPECT_EQ(text.back(), '\n');
    }
}

TEST(JsonTest, ARunHasItsPlanItsVerdictsAndWhatBecameOfItsFaults) {
    RunReport report = small_run();
    report.judgements.push_back(failed("fencing"));
    const Json json = Json::parse(run_json(report));
    EXPECT_EQ(keys_of(json),
              (std::vector<std::string>{"version", "report", "exit_code", "plan", "fingerprint",
                                        "end", "steps", "records", "virtual_time", "verified",
                                        "faults", "probes", "verdicts", "replay"}));
    EXPECT_EQ(json["exit_code"], 1);
    EXPECT_EQ(json["plan"]["faults"][0]["do"], "crash");
    EXPECT_EQ(json["fingerprint"], "0000000000000abc");
    EXPECT_EQ(json["virtual_time"], "42s");
    EXPECT_EQ(json["faults"][0]["fate"], "took effect");
    EXPECT_EQ(json["probes"]["missed"][0], "lease expired under a live holder");
    EXPECT_EQ(json["verdicts"][2]["verdict"], "fail");
    EXPECT_EQ(json["verdicts"][2]["findings"][0]["record"], 17);
}

TEST(JsonTest, ASearchHasItsCountsAndItsFailuresInFull) {
    SearchReport report = small_search();
    report.failures.push_back(small_failure());
    report.broken_runs.push_back({.run = "seed 9", .what = "hung", .handlers_doing = true});
    const Json json = Json::parse(search_json(report));
    EXPECT_EQ(keys_of(json),
              (std::vector<std::string>{
                  "version",     "report",      "exit_code", "scenario",     "handler", "what",
                  "runs",        "asked",       "failed",    "first_failed", "in_vain", "verified",
                  "interrupted", "fingerprint", "verdicts",  "faults",       "probes",  "failures",
                  "broken_runs", "certificate", "drawn",     "guided",       "gaps"}));
    EXPECT_TRUE(json["certificate"].is_null());
    EXPECT_TRUE(json["drawn"].is_null());
    EXPECT_TRUE(json["guided"].is_null());
    EXPECT_TRUE(json["first_failed"].is_null());
    EXPECT_EQ(json["verdicts"][1]["unknown"], 10);
    EXPECT_EQ(json["verdicts"][1]["verdict"], "pass");
    EXPECT_EQ(json["faults"][0]["took_effect"], 120);
    EXPECT_EQ(keys_of(json["failures"][0]),
              (std::vector<std::string>{"scenario", "handler", "checker", "also", "invariant",
                                        "key", "message", "fingerprint", "runs", "first_seen",
                                        "minimal", "file", "replay", "explanation", "plan"}));
    EXPECT_EQ(json["broken_runs"][0]["handlers_doing"], true);
    EXPECT_TRUE(json["gaps"].empty());
}

TEST(JsonTest, ASearchSaysWhatItDrewAndLearned) {
    SearchReport report = small_search();
    report.first_failed = 12;
    report.drawn = DrawnReport{.profile = "harsh",
                               .families = {{"node", 7}},
                               .sizes = {2, 5},
                               .parameters = {{"accounts", 1, 9, 6}}};
    report.guided = GuidedReport{
        .seed = 3, .changed = 40, .kept = 11, .features = {{"probes", 2}, {"orders", 30}}};
    const Json json = Json::parse(search_json(report));
    EXPECT_EQ(json["first_failed"], 12);
    EXPECT_EQ(json["drawn"], Json::parse(R"({"profile": "harsh", "families": {"node": 7},
        "faults": [2, 5], "parameters": {"accounts": {"least": 1, "most": 9, "runs": 6}}})"));
    EXPECT_EQ(json["guided"], Json::parse(R"({"seed": 3, "changed": 40, "kept": 11,
        "features": {"probes": 2, "orders": 30}})"));
}

TEST(JsonTest, AnExhaustiveSearchHasItsCertificateInFull) {
    SearchReport report = small_search();
    report.certificate = small_certificate();
    const Json json = Json::parse(search_json(report))["certificate"];
    EXPECT_EQ(keys_of(json),
              (std::vector<std::string>{
                  "complete",  "scenario",   "handler",   "parameters",     "seed",
                  "faults",    "only_kinds", "points",    "further_points", "planned",
                  "run",       "skipped",    "cut_short", "never_struck",   "in_vain",
                  "violating", "equal",      "kinds",     "fencepost",      "seconds"}));
    EXPECT_EQ(json["planned"], 6596);
    EXPECT_EQ(json["equal"][0]["plans"], 3872);
    EXPECT_EQ(json["kinds"][0]["kind"], "evict");
}

TEST(JsonTest, ASavedFailureHasAnOutcomeOrATrouble) {
    const CorpusReport report{
        .folder = "corpus",
        .failures = {{.name = "torn", .trouble = "not JSON"}, {.name = "a", .faults = 2}}};
    const Json json = Json::parse(corpus_json(report, 2));
    EXPECT_EQ(json["exit_code"], 2);
    EXPECT_TRUE(json["failures"][0]["outcome"].is_null());
    EXPECT_EQ(json["failures"][1]["outcome"], "no failure any more");
    AcceptReport accept = small_accept();
    accept.saved = report.failures;
    EXPECT_EQ(Json::parse(accept_json(accept))["saved"], json["failures"]);
}

TEST(JsonTest, AnAcceptanceHasAVerdictForEachColumn) {
    const Json json = Json::parse(accept_json(small_accept()));
    EXPECT_EQ(json["handler"], "reconcile");
    EXPECT_EQ(json["conditions"][0]["verdicts"].dump(),
              R"({"effect once":"pass","takeover":"pass","goes on, not redone":"pass",)"
              R"("start-up":"not applicable","status":"pass"})");
    EXPECT_EQ(json["conditions"][0]["evidence"][0]["one_fault"]["runs"], 312);
}

TEST(JsonTest, TextThatIsNotUtf8DoesNotBreakAReport) {
    SearchReport report = small_search();
    report.failures.push_back(small_failure());
    report.failures[0].message = "a row with \xff in it";
    EXPECT_FALSE(Json::parse(search_json(report), nullptr, false).is_discarded());
}

TEST(JsonTest, AListNamesWhatItLists) {
    const std::vector<ListItem> items{
        {.name = "once", .text = "Every effect lands once.", .group = ""}};
    EXPECT_EQ(list_json("checkers", items),
              "{\n"
              "  \"version\": 1,\n"
              "  \"report\": \"list\",\n"
              "  \"exit_code\": 0,\n"
              "  \"what\": \"checkers\",\n"
              "  \"items\": [\n"
              "    {\n"
              "      \"name\": \"once\",\n"
              "      \"text\": \"Every effect lands once.\",\n"
              "      \"group\": \"\"\n"
              "    }\n"
              "  ]\n"
              "}\n");
}

}  // namespace
}  // namespace fencepost::reports
