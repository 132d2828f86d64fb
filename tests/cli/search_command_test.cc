// Goal: a guided search and the profiles of random plans, as commands: what they print and write is
// the same for any number of workers, and their failures are replayed without them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(SearchCommandTest, ItSaysWhatItLearned) {
    const Called called = call({"search", "same-instant", "--runs", "200"});
    EXPECT_TRUE(
        called.out.starts_with("same-instant, handler reconcile: 200 runs (guided, seed 1)"))
        << called.out;
    EXPECT_TRUE(contains(called.out, "  learned ")) << called.out;
    EXPECT_TRUE(contains(called.out, "  drawn ")) << called.out;
    EXPECT_FALSE(contains(called.out, "first failing")) << called.out;
}

TEST(SearchCommandTest, ItIsTheSameForAnyNumberOfWorkers) {
    const std::vector<std::string> words{"search", "holder-leaves", "--handler", "lock-only",
                                         "--runs", "150",           "--json",    "-"};
    const auto with_jobs = [&words](const std::string& jobs) {
        const Folder folder;
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--jobs", jobs});
        Json json = Json::parse(call(all).out);
        return json;
    };
    const Json one = with_jobs("1");
    EXPECT_EQ(one, with_jobs("3"));
    EXPECT_GT(one["failed"], 0);
    EXPECT_GT(one["guided"]["kept"], 0);
    EXPECT_GT(one["guided"]["changed"], 0);
    EXPECT_GT(one["guided"]["features"]["orders"], 0);
}

TEST(SearchCommandTest, ItsFirstFailureIsSavedAndReplayed) {
    const Folder folder;
    const Called called = call({"search", "holder-leaves", "--handler", "lock-only", "--seed", "3",
                                "--until-failure", "--json", "j"});
    EXPECT_EQ(called.code, 1);
    EXPECT_TRUE(contains(called.out, "first failing  run ")) << called.out;
    const Json search = Json::parse(folder.read("j"));
    EXPECT_LT(search["runs"], 1000);
    ASSERT_FALSE(search["failures"].empty());
    const std::string file = search["failures"][0]["file"];
    EXPECT_TRUE(contains(folder.read(file), R"("how": "search")")) << folder.read(file);
    const Called replayed = call({"replay", file});
    EXPECT_EQ(replayed.code, 1);
    EXPECT_TRUE(replayed.out.starts_with("the same failure (once)")) << replayed.out;
}

TEST(ProfileCommandTest, ASweepSaysWhatItsProfileDrew) {
    const Called called = call({"sweep", "same-instant", "--seeds", "100", "--profile", "harsh"});
    EXPECT_TRUE(contains(called.out, "drawn          profile harsh; families of faults: node ("))
        << called.out;
    EXPECT_TRUE(contains(called.out, "accounts: 1 to 12 (")) << called.out;
    const Called usual = call({"sweep", "same-instant", "--seeds", "100", "--profile", "default"});
    EXPECT_EQ(usual.out, call({"sweep", "same-instant", "--seeds", "100"}).out);
    EXPECT_NE(usual.out, called.out);
}

TEST(ProfileCommandTest, AFailureOfAProfileIsReplayedWithoutIt) {
    const Folder folder;
    folder.write("p.json", R"({"profile": "mine", "faults": {"most": 4},
        "latencies": {"percent": 50, "most": "30ms"}, "parameters": {"accounts": [6, 9]}})");
    const Called called = call({"sweep", "same-instant", "--handler", "lock-only", "--profile",
                                "p.json", "--seeds", "200", "--json", "j"});
    EXPECT_EQ(called.code, 1) << called.out << called.err;
    const Json search = Json::parse(folder.read("j"));
    EXPECT_EQ(search["drawn"]["profile"], "mine");
    EXPECT_EQ(search["drawn"]["parameters"]["accounts"]["least"], 6);
    const std::string file = search["failures"][0]["file"];
    EXPECT_TRUE(call({"replay", file}).out.starts_with("the same failure (once)"));
}

TEST(ProfileCommandTest, WhatIsNoProfileIsRefused) {
    const Folder folder;
    folder.write("p.json", R"({"profile": "mine", "faults": {"most": 0}})");
    const Called wrong = call({"sweep", "same-instant", "--profile", "p.json"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_TRUE(
        contains(wrong.err, "--profile: p.json: faults.most: 0 is no whole number from 1 to 20"))
        << wrong.err;
    EXPECT_EQ(call({"accept", "--profile", "hrash"}).code, 2);
}

TEST(ProfileCommandTest, AStoredSweepKeepsItsProfileAndGoesOnWithNoOther) {
    const Folder folder;
    const std::vector<std::string> words{"sweep", "same-instant", "--seeds", "50", "--out",
                                         "d",     "--profile",    "gentle"};
    const auto with = [](std::vector<std::string> all, std::vector<std::string> more) {
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    const Called first = call(words);
    EXPECT_TRUE(contains(first.out, "profile gentle")) << first.out;
    EXPECT_EQ(call(with(words, {"--resume"})).out, first.out);
    std::vector<std::string> other = with(words, {"--resume"});
    other[7] = "harsh";
    EXPECT_EQ(call(other).code, 2);
}

}  // namespace
}  // namespace fencepost::cli
