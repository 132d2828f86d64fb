// Goal: the commands do what their help says, on the real scenarios, with the right exit codes.
//
// Method: the reference handler holds; a handler with a planted mistake breaks; files that one
// command writes are read by the next.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in{text};
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST(CommandsTest, HelpAndVersion) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"help"}, {"--help"}, {"-h"}}) {
        const Called called = call(words);
        EXPECT_EQ(called.code, 0);
        EXPECT_TRUE(contains(called.out, "fencepost COMMAND [OPTIONS]"));
        EXPECT_TRUE(contains(called.out, "Exit codes: 0 everything held"));
    }
    EXPECT_EQ(call({"help", "sweep"}).out, call({"sweep", "--help"}).out);
    EXPECT_TRUE(contains(call({"sweep", "--seeds", "--help"}).out, "--fingerprints"));
    EXPECT_TRUE(call({"version"}).out.starts_with("fencepost "));
    EXPECT_EQ(call({"--version"}).out, call({"version"}).out);
}

TEST(CommandsTest, EveryListHasNamesAndJson) {
    for (const std::string what :
         {"scenarios", "handlers", "faults", "checkers", "probes", "operations"}) {
        const Called text = call({"list", what});
        EXPECT_EQ(text.code, 0);
        const Json json = Json::parse(call({"list", what, "--json", "-"}).out);
        EXPECT_EQ(json["what"], what);
        ASSERT_FALSE(json["items"].empty());
        for (const Json& item : json["items"])
            EXPECT_TRUE(contains(text.out, "  " + item["name"].get<std::string>())) << text.out;
    }
}

TEST(CommandsTest, ARunWithoutFaultsHolds) {
    const Called called = call({"run", "same-instant"});
    EXPECT_EQ(called.code, 0) << called.out << called.err;
    EXPECT_TRUE(called.out.starts_with("same-instant, handler reconcile, seed 0\n")) << called.out;
    EXPECT_TRUE(contains(called.out, "faults         none")) << called.out;
    EXPECT_TRUE(contains(called.out, "all invariants held\n")) << called.out;
}

TEST(CommandsTest, ARunIsTheSameTwice) {
    const Called first = call({"run", "holder-leaves", "--seed", "7", "--verify"});
    EXPECT_EQ(first.out, call({"run", "holder-leaves", "--seed", "7", "--verify"}).out);
    EXPECT_TRUE(contains(first.out, "a second run gave the same history")) << first.out;
}

TEST(CommandsTest, ATraceHasALineForEachEvent) {
    const Folder folder;
    const Called called =
        call({"run", "same-instant", "--trace", "--trace-json", "t", "--json", "j"});
    EXPECT_EQ(called.code, 0);
    EXPECT_TRUE(contains(called.out, "==== faults ====")) << called.out;
    EXPECT_TRUE(contains(called.out, ">|")) << called.out;
    const Json run = Json::parse(folder.read("j"));
    EXPECT_EQ(lines_of(folder.read("t")).size(), run["records"].get<std::size_t>());
}

TEST(CommandsTest, AHandlerWithAMistakeBreaksAnInvariant) {
    const Called called = call({"run", "same-instant", "--handler", "no-claim"});
    EXPECT_EQ(called.code, 1) << called.out << called.err;
    EXPECT_TRUE(contains(called.out, "FAIL  once")) << called.out;
    EXPECT_TRUE(contains(called.out, "again: fencepost run same-instant --handler no-claim\n"))
        << called.out;
}

TEST(CommandsTest, ASweepFindsShrinksAndSavesAFailureThatReplays) {
    const Folder folder;
    const Called swept =
        call({"sweep", "same-instant", "--handler", "no-claim", "--seeds", "20", "--out", "found"});
    EXPECT_EQ(swept.code, 1) << swept.out << swept.err;
    EXPECT_TRUE(contains(swept.out, "FAIL once")) << swept.out;
    const Json summary = Json::parse(folder.read("found/summary.json"));
    EXPECT_EQ(summary["runs"], 20);
    ASSERT_FALSE(summary["failures"].empty());
    const std::string file = summary["failures"][0]["file"];
    EXPECT_TRUE(contains(swept.out, "fencepost replay " + file + "\n")) << swept.out;

    const Called replayed = call({"replay", file});
    EXPECT_EQ(replayed.code, 1);
    EXPECT_TRUE(replayed.out.starts_with("the same failure (once)\n")) << replayed.out;
    EXPECT_EQ(Json::parse(call({"replay", file, "--json", "-"}).out)["outcome"],
              "the same failure");

    const Called shrunk = call({"shrink", file, "--out", "small.json", "--verify"});
    EXPECT_EQ(shrunk.code, 1) << shrunk.out << shrunk.err;
    EXPECT_EQ(call({"replay", "small.json"}).code, 1);
    for (const std::string& name : folder.names()) EXPECT_FALSE(contains(name, "tmp")) << name;
}

// The least failure of a planted mistake, as `sweep` saves it.
Json saved_failure(const Folder& folder) {
    const Called swept =
        call({"sweep", "same-instant", "--handler", "no-claim", "--seeds", "5", "--out", "found"});
    EXPECT_EQ(swept.code, 1) << swept.out << swept.err;
    const std::string file =
        Json::parse(folder.read("found/summary.json"))["failures"][0]["file"].get<std::string>();
    return Json::parse(folder.read(file));
}

TEST(CommandsTest, ASavedFailureSaysWithWhichCodeAndHowItWasFound) {
    const Folder folder;
    const Json failure = saved_failure(folder);
    EXPECT_EQ("fencepost " + failure["version"].get<std::string>() + "\n", call({"version"}).out);
    EXPECT_EQ(failure["found_by"]["how"], "sweep");
    EXPECT_TRUE(failure["found_by"].contains("seed"));
    EXPECT_EQ(failure["plan"]["scenario"], "same-instant");
    EXPECT_EQ(failure["plan"]["handler"], "no-claim");
    EXPECT_TRUE(failure.contains("first_violating_event"));
}

TEST(CommandsTest, AFailureByAnotherHistoryIsTheSameInvariantByAnotherWay) {
    const Folder folder;
    Json failure = saved_failure(folder);
    failure["fingerprint"] = "0x1";
    failure["version"] = "0.0.1+somewhen";
    const Called called = call({"replay", folder.write("f.json", failure.dump())});
    EXPECT_EQ(called.code, 1) << called.out << called.err;
    EXPECT_TRUE(called.out.starts_with("the same invariant by another way (once)\n")) << called.out;
    EXPECT_TRUE(contains(called.out, "the code has changed")) << called.out;
    EXPECT_TRUE(contains(called.out, "saved with     0.0.1+somewhen\n")) << called.out;
}

TEST(CommandsTest, WhereOnlyAnotherInvariantBreaksTheReplaySaysSo) {
    const Folder folder;
    Json failure = saved_failure(folder);
    failure["invariant"] = "drain";
    const Called called = call({"replay", folder.write("f.json", failure.dump())});
    EXPECT_EQ(called.code, 1) << called.out << called.err;
    EXPECT_TRUE(called.out.starts_with("another invariant: drain held")) << called.out;
}

TEST(CommandsTest, AFailureThatIsGoneGivesZero) {
    const Folder folder;
    std::ignore = folder.write("f.json", R"({"fencepost": 1,
        "plan": {"scenario": "same-instant", "handler": "reconcile", "faults": []},
        "invariant": "once", "key": "k", "fingerprint": "0x1"})");
    const Called called = call({"replay", "f.json"});
    EXPECT_EQ(called.code, 0) << called.out << called.err;
    EXPECT_TRUE(called.out.starts_with("no failure any more (once)\n")) << called.out;
    const Called shrunk = call({"shrink", "f.json"});
    EXPECT_EQ(shrunk.code, 0);
    EXPECT_TRUE(contains(shrunk.out, "no failure any more")) << shrunk.out;
}

TEST(CommandsTest, FingerprintsAreOneLineARunAndNothingElse) {
    const Called two =
        call({"sweep", "same-instant", "--seeds", "5..14", "--fingerprints", "--jobs", "2"});
    const std::vector<std::string> lines = lines_of(two.out);
    ASSERT_EQ(lines.size(), 10U) << two.out << two.err;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_TRUE(lines[i].starts_with(std::to_string(5 + i) + " ")) << lines[i];
        EXPECT_EQ(lines[i].size(), std::to_string(5 + i).size() + 17) << lines[i];
    }
    EXPECT_EQ(
        two.out,
        call({"sweep", "same-instant", "--seeds", "5..14", "--fingerprints", "--jobs", "1"}).out);
}

TEST(CommandsTest, ASeedsRunIsTheSweepsRunOfThatSeed) {
    const std::string line =
        call({"sweep", "holder-leaves", "--seeds", "9..9", "--fingerprints"}).out;
    const Json run = Json::parse(call({"run", "holder-leaves", "--seed", "9", "--json", "-"}).out);
    EXPECT_EQ(line, "9 " + run["fingerprint"].get<std::string>() + "\n");
}

TEST(CommandsTest, AFewSeedsThatReachTooLittleAreInconclusive) {
    const Folder folder;
    const Called called = call({"sweep", "holder-leaves", "--seeds", "1"});
    EXPECT_EQ(called.code, 3) << called.out << called.err;
    EXPECT_TRUE(contains(called.out, "inconclusive: never reached: ")) << called.out;
    EXPECT_TRUE(folder.names().empty());
}

TEST(CommandsTest, TheJsonOfACommandSaysItsExitCode) {
    const Folder folder;
    const Called called = call({"sweep", "holder-leaves", "--seeds", "1", "--json", "-"});
    EXPECT_EQ(Json::parse(called.out)["exit_code"], called.code);
}

TEST(CommandsTest, EveryPlanWithOneFaultIsRun) {
    const Folder folder;
    const Called called = call({"exhaust", "same-instant", "--faults", "1", "--json", "j"});
    EXPECT_NE(called.code, 2) << called.err;
    EXPECT_NE(called.code, 4) << called.out << called.err;
    const Json json = Json::parse(folder.read("j"));
    EXPECT_GT(json["runs"], 10);
    EXPECT_EQ(json["runs"], json["asked"]);
    EXPECT_TRUE(contains(called.out, " one-fault plans at ")) << called.out;
}

TEST(CommandsTest, AnAcceptanceFailsAHandlerWithAMistakeAndSaysWhere) {
    const Folder folder;
    const Called called = call({"accept", "--handler", "no-claim", "--seeds", "10"});
    EXPECT_EQ(called.code, 1) << called.err;
    EXPECT_TRUE(contains(called.out, "FAIL")) << called.out;
    EXPECT_TRUE(contains(called.out, "fencepost replay fencepost-failures/")) << called.out;
    EXPECT_FALSE(folder.names().empty());
}

TEST(CommandsTest, MistakesAreFoundAndShownWithTheirLeastPlan) {
    const Called called = call({"mistakes", "lock-only", "no-claim", "--seeds", "300"});
    EXPECT_EQ(called.code, 0) << called.err;
    EXPECT_TRUE(contains(called.out, "2 of 2 mistakes found")) << called.out;
    EXPECT_TRUE(contains(called.out, "no fault")) << called.out;
}

TEST(CommandsTest, WithoutASeedThatShowsItAMistakeIsNotFound) {
    const Called called = call({"mistakes", "release-without-owner", "--seeds", "1"});
    EXPECT_EQ(called.code, 1) << called.out;
    EXPECT_TRUE(contains(called.out, "not found: release-without-owner")) << called.out;
}

TEST(CommandsTest, AReferenceHandlerIsNoMistakeToBeFound) {
    const Called called = call({"mistakes", "reconcile"});
    EXPECT_EQ(called.code, 2);
    EXPECT_TRUE(contains(called.err, "reconcile is no planted mistake")) << called.err;
}

}  // namespace
}  // namespace fencepost::cli
