// Goal: a corpus keeps what fails and nothing else, shows what each of its files does today, and an
// acceptance replays what it holds of the handlers it judges before it searches.
//
// Method: least failures of two planted mistakes, as `mistakes` saves them, in temporary folders;
// files that are changed by hand stand for code that has changed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// The least failure of a planted mistake; hunted once.
Json least_of(const std::string& mistake) {
    static std::map<std::string, Json> known;
    if (const auto found = known.find(mistake); found != known.end()) return found->second;
    const Folder folder;
    const Called hunted = call({"mistakes", mistake, "--out", "found", "--json", "m"});
    EXPECT_EQ(hunted.code, 0) << hunted.out << hunted.err;
    for (const std::string& name : folder.names()) {
        if (contains(name, mistake)) known[mistake] = Json::parse(folder.read(name));
    }
    return known[mistake];
}

// A folder with the two failures in it, and one of them in the corpus "kept".
class CorpusTest : public testing::Test {
protected:
    CorpusTest() : failure_(least_of("no-claim")) {
        for (const char* name : {"no-claim", "blind-retry"})
            folder_.write(std::string(name) + ".json", least_of(name).dump());
    }

    static Called corpus(std::vector<std::string> words) {
        words.insert(words.begin(), "corpus");
        words.insert(words.end(), {"--corpus", "kept"});
        return call(words);
    }
    static Json listed() { return Json::parse(corpus({"list", "--json", "-"}).out)["failures"]; }
    [[nodiscard]] std::vector<std::string> kept() const {
        std::vector<std::string> names;
        for (const std::string& name : folder_.names()) {
            if (name.starts_with("kept/")) names.push_back(name.substr(5));
        }
        return names;
    }
    // A failure of a handler that does not fail: repaired, as far as its file is concerned.
    void keep_repaired(const std::string& name) {
        Json repaired = failure_;
        repaired["plan"]["handler"] = "reconcile";
        std::filesystem::create_directory("kept");
        folder_.write("kept/" + name, repaired.dump());
    }

    Folder folder_;
    Json failure_;
};

TEST_F(CorpusTest, AFailureIsKeptAsItIsUnderAReadableName) {
    const Called added = corpus({"add", "no-claim.json", "blind-retry.json"});
    EXPECT_EQ(added.code, 0) << added.err;
    EXPECT_EQ(kept(), (std::vector<std::string>{"blind-retry.once.outcome-unknown.json",
                                                "no-claim.once.same-instant.json"}));
    EXPECT_TRUE(contains(added.out, "added kept/no-claim.once.same-instant.json\n")) << added.out;
    EXPECT_EQ(Json::parse(folder_.read("kept/no-claim.once.same-instant.json")), failure_);
}

TEST_F(CorpusTest, TheSameFailureIsNotKeptTwice) {
    EXPECT_EQ(corpus({"add", "no-claim.json"}).code, 0);
    const Called again = corpus({"add", "no-claim.json"});
    EXPECT_EQ(again.code, 2);
    EXPECT_TRUE(contains(again.err, "no-claim.once.same-instant.json says the same")) << again.err;
    EXPECT_EQ(kept().size(), 1U);
}

TEST_F(CorpusTest, AnotherPlanOfTheSameNameIsKeptUnderANumber) {
    Json other = failure_;
    other["plan"]["seed"] = "0x77";
    folder_.write("other.json", other.dump());
    EXPECT_EQ(corpus({"add", "no-claim.json", "other.json"}).code, 0);
    EXPECT_EQ(kept(), (std::vector<std::string>{"no-claim.once.same-instant-2.json",
                                                "no-claim.once.same-instant.json"}));
}

TEST_F(CorpusTest, WhatDoesNotFailIsRefusedAndNothingOfTheCallIsKept) {
    Json sound = failure_;
    sound["plan"]["handler"] = "reconcile";
    folder_.write("sound.json", sound.dump());
    const Called added = corpus({"add", "no-claim.json", "sound.json"});
    EXPECT_EQ(added.code, 2);
    EXPECT_TRUE(contains(added.err, "sound.json: once does not break")) << added.err;
    EXPECT_TRUE(kept().empty());
    folder_.write("plan.json", failure_["plan"].dump());
    EXPECT_TRUE(contains(corpus({"add", "plan.json"}).err, "a plan does not say what breaks"));
}

TEST_F(CorpusTest, AFailureByAnotherWayIsKeptAsItShowsToday) {
    Json old = failure_;
    old["fingerprint"] = "0x1";
    old["version"] = "0.0.1+somewhen";
    old["message"] = "what it said then";
    folder_.write("old.json", old.dump());
    EXPECT_EQ(corpus({"add", "old.json"}).code, 0);
    EXPECT_EQ(Json::parse(folder_.read("kept/no-claim.once.same-instant.json")), failure_);
}

TEST_F(CorpusTest, AFailureWhosePointHasMovedIsFoundAndKeptWhereItIsNow) {
    Json moved = least_of("blind-retry");
    std::string& at = moved["plan"]["faults"][0]["at"].get_ref<std::string&>();
    // As if two calls had been taken out of the code since it was saved.
    const std::size_t slash = at.rfind('/');
    at = at.substr(0, slash + 1) + std::to_string(std::stoi(at.substr(slash + 1)) + 2);
    folder_.write("moved.json", moved.dump());
    const Called replayed = call({"replay", "moved.json"});
    EXPECT_EQ(replayed.code, 1);
    EXPECT_TRUE(contains(replayed.out, "  moved          ")) << replayed.out;
    EXPECT_EQ(corpus({"add", "moved.json"}).code, 0);
    const Json kept = Json::parse(folder_.read("kept/blind-retry.once.outcome-unknown.json"));
    EXPECT_NE(kept["plan"], moved["plan"]);
    EXPECT_EQ(listed()[0]["outcome"], "the same failure");
}

TEST_F(CorpusTest, TheListReplaysEachAndSaysWhatItDoesToday) {
    EXPECT_EQ(corpus({"add", "no-claim.json", "blind-retry.json"}).code, 0);
    keep_repaired("repaired.json");
    Json changed = failure_;
    changed["fingerprint"] = "0x1";
    folder_.write("kept/changed.json", changed.dump());
    std::map<std::string, std::string> outcomes;
    for (const Json& each : listed()) outcomes[each["name"]] = each["outcome"];
    EXPECT_EQ(outcomes, (std::map<std::string, std::string>{
                            {"blind-retry.once.outcome-unknown", "the same failure"},
                            {"no-claim.once.same-instant", "the same failure"},
                            {"changed", "the same invariant by another way"},
                            {"repaired", "no failure any more"}}));
    const Called text = corpus({"list"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_TRUE(contains(text.out, "4 failures in kept; 1 no failure any more\n")) << text.out;
}

TEST_F(CorpusTest, AFileThatIsNoFailureIsShownAndNeverRemoved) {
    EXPECT_EQ(corpus({"add", "no-claim.json"}).code, 0);
    folder_.write("kept/torn.json", "{");
    Json strange = failure_;
    strange["plan"]["scenario"] = "nothing";
    folder_.write("kept/strange.json", strange.dump());
    const Called text = corpus({"list"});
    EXPECT_EQ(text.code, 2);
    EXPECT_TRUE(contains(text.out, "torn")) << text.out;
    EXPECT_EQ(corpus({"prune", "--yes"}).code, 2);
    EXPECT_EQ(kept().size(), 3U);
}

TEST_F(CorpusTest, PruningRemovesWhatIsGoneAndOnlyWhenTold) {
    EXPECT_EQ(corpus({"add", "no-claim.json"}).code, 0);
    keep_repaired("repaired.json");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"prune"}, {"prune", "--dry-run"}}) {
        const Called called = corpus(words);
        EXPECT_EQ(called.code, 0) << called.err;
        EXPECT_TRUE(contains(called.out, "would remove kept/repaired.json\n")) << called.out;
        EXPECT_EQ(kept().size(), 2U);
    }
    const Called pruned = corpus({"prune", "--yes"});
    EXPECT_EQ(pruned.code, 0) << pruned.err;
    EXPECT_TRUE(contains(pruned.out, "removed kept/repaired.json\n")) << pruned.out;
    EXPECT_EQ(kept(), std::vector<std::string>{"no-claim.once.same-instant.json"});
}

TEST_F(CorpusTest, AnAbsentFolderIsAnErrorWhereverItIsAskedFor) {
    EXPECT_TRUE(contains(corpus({"list"}).err, "cannot read the corpus kept"));
    EXPECT_EQ(corpus({"prune", "--yes"}).code, 2);
    EXPECT_TRUE(contains(call({"corpus", "list"}).err, "Give --corpus DIR"));
    EXPECT_EQ(call({"accept", "--handler", "blind-retry", "--corpus", "kept"}).code, 2);
}

TEST_F(CorpusTest, ACommandThatIsNoneIsRefused) {
    EXPECT_TRUE(contains(call({"corpus"}).err, "needs add, list or prune"));
    EXPECT_TRUE(contains(call({"corpus", "lst"}).err, "did you mean \"list\"?"));
    EXPECT_TRUE(contains(corpus({"list", "more"}).err, "\"more\" is one word too many"));
    EXPECT_TRUE(contains(corpus({"add"}).err, "which failure files?"));
}

Json accepted(const std::string& handler, const std::string& corpus) {
    const Called called = call({"accept", "--handler", handler, "--seeds", "1", "--corpus", corpus,
                                "--out", "found", "--json", "-"});
    return Json::parse(called.out);
}

TEST_F(CorpusTest, AnAcceptanceReplaysWhatIsKeptOfItsHandler) {
    EXPECT_EQ(corpus({"add", "no-claim.json", "blind-retry.json"}).code, 0);
    const Json report = accepted("blind-retry", "kept");
    ASSERT_EQ(report["saved"].size(), 1U);
    EXPECT_EQ(report["saved"][0]["name"], "blind-retry.once.outcome-unknown");
    EXPECT_EQ(report["saved"][0]["outcome"], "the same failure");
    EXPECT_EQ(report["exit_code"], 1);
}

TEST_F(CorpusTest, AnAcceptanceWithARepairedFailureIsNotBrokenByIt) {
    Json repaired = least_of("blind-retry");
    repaired["plan"]["handler"] = "pay";
    std::filesystem::create_directory("kept");
    folder_.write("kept/repaired.json", repaired.dump());
    const Json report = accepted("pay", "kept");
    ASSERT_EQ(report["saved"].size(), 1U);
    EXPECT_EQ(report["saved"][0]["outcome"], "no failure any more");
    EXPECT_NE(report["exit_code"], 1);
}

TEST_F(CorpusTest, WithoutACorpusAnAcceptanceIsSilentAboutIt) {
    ::setenv("FENCEPOST_CORPUS", "nowhere", 1);
    const Called called = call({"accept", "--handler", "blind-retry", "--seeds", "1"});
    ::unsetenv("FENCEPOST_CORPUS");
    EXPECT_FALSE(contains(called.out, "saved failures")) << called.out;
    EXPECT_TRUE(called.err.empty()) << called.err;
}

}  // namespace
}  // namespace fencepost::cli
