// Goal: fencepost sweep stores what it finds and goes on with it; fencepost merge makes the whole
// of parts.
//
// Method: small sweeps of a handler that fails for some seeds, whole and in parts; reports, tables
// and files are compared.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> sweep_with(const std::vector<std::string>& more) {
    std::vector<std::string> words{"sweep",   "holder-leaves", "--handler", "fence-not-stored",
                                   "--seeds", "1..120"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(StoredSweepTest, AStoredSweepReportsAsOneThatIsNot) {
    const Folder folder;
    const Called stored = call(sweep_with({"--out", "d", "--json", "with"}));
    const Called plain = call(sweep_with({"--json", "without"}));
    EXPECT_EQ(stored.code, 1) << stored.out << stored.err;
    EXPECT_EQ(plain.code, 1);
    Json with = Json::parse(folder.read("with"));
    Json without = Json::parse(folder.read("without"));
    for (Json* report : {&with, &without}) {
        for (Json& failure : (*report)["failures"]) {
            failure.erase("file");  // in another folder
            failure.erase("replay");
        }
    }
    EXPECT_EQ(with, without);
    EXPECT_TRUE(std::filesystem::exists("d/results.sqlite"));
    EXPECT_EQ(folder.read("with"), folder.read("d/summary.json"));
}

TEST(StoredSweepTest, ItGoesOnOnlyWhenAskedTo) {
    const Folder folder;
    (void)call(sweep_with({"--out", "d", "--json", "first"}));
    const Called again = call(sweep_with({"--out", "d"}));
    EXPECT_EQ(again.code, 2);
    EXPECT_TRUE(contains(again.err, "there are results already; --resume goes on")) << again.err;
    const Called resumed = call(sweep_with({"--out", "d", "--resume", "--json", "second"}));
    EXPECT_EQ(resumed.code, 1) << resumed.err;
    EXPECT_EQ(folder.read("first"), folder.read("second"));
    EXPECT_TRUE(contains(call(sweep_with({"--resume"})).err, "name it by --out"));
}

TEST(StoredSweepTest, ItDoesNotGoOnWithAScenarioFileThatHasChanged) {
    const Folder folder;
    const auto write = [&](std::string_view zone, std::string_view sql) {
        folder.write("tables.sql", std::string{sql});
        folder.write("own.json", R"({"name": "own-of-a-sweep", "handlers": ["reconcile"],
            "schema": ["tables.sql"], "jobs": [{"job": "j", "schedule":
            {"cron": "0 0 2 * * ?", "zone": ")" +
                                     std::string{zone} + "\"}}]}");
        return call({"sweep", "./own.json", "--seeds", "5", "--out", "d", "--resume"});
    };
    constexpr std::string_view kTable = "CREATE TABLE a (id BIGINT PRIMARY KEY);";
    EXPECT_NE(write("Asia/Tokyo", kTable).code, 2);
    EXPECT_NE(write("Asia/Tokyo", kTable).code, 2);
    for (const Called& changed : {write("Asia/Seoul", kTable), write("Asia/Tokyo", "SELECT 1;")}) {
        EXPECT_EQ(changed.code, 2);
        EXPECT_TRUE(contains(changed.err, "of another plug-in or scenario file")) << changed.err;
    }
}

TEST(StoredSweepTest, PartsMergedReportAsTheWhole) {
    const Folder folder;
    for (const std::string part : {"3/3", "1/3", "2/3"}) {
        const Called called = call(sweep_with({"--out", "parts", "--shard", part}));
        EXPECT_TRUE(contains(called.out, ", part " + part.substr(0, 1) + " of 3: --shard " + part))
            << called.out;
    }
    (void)call(sweep_with({"--out", "whole"}));
    const Called merged = call({"merge", "parts", "--out", "merged"});
    EXPECT_EQ(merged.code, 1) << merged.err;
    std::string expected = folder.read("whole/summary.json");
    for (std::size_t at = 0; (at = expected.find("whole/", at)) != std::string::npos;)
        expected.replace(at, 5, "merged");
    EXPECT_EQ(folder.read("merged/summary.json"), expected);
    const Called parts_by_name = call({"merge", "parts/shard-2-of-3", "parts/shard-1-of-3",
                                       "parts/shard-3-of-3", "--out", "again", "--json", "-"});
    EXPECT_EQ(parts_by_name.code, 1) << parts_by_name.err;
}

TEST(StoredSweepTest, PartsHaveTheirSeedsWithoutAStoreToo) {
    const Folder folder;
    const Called part = call(sweep_with({"--shard", "2/40", "--fingerprints"}));
    const Called same = call({"sweep", "holder-leaves", "--handler", "fence-not-stored", "--seeds",
                              "4..6", "--fingerprints"});
    EXPECT_EQ(part.out, same.out);
    EXPECT_TRUE(part.out.starts_with("4 ")) << part.out;
    const Called none = call({"sweep", "holder-leaves", "--seeds", "2", "--shard", "3/3"});
    EXPECT_EQ(none.code, 2);
    EXPECT_TRUE(contains(none.err, "part 3 of 3 has no seed")) << none.err;
}

TEST(StoredSweepTest, WhatCannotBeMergedIsRefused) {
    const Folder folder;
    (void)call(sweep_with({"--out", "parts", "--shard", "1/2"}));
    const auto refused = [](const std::vector<std::string>& words, std::string_view says) {
        const Called called = call(words);
        EXPECT_EQ(called.code, 2) << called.out;
        EXPECT_TRUE(contains(called.err, says)) << called.err;
    };
    refused({"merge", "--out", "all"}, "merge needs DIR...");
    refused({"merge", "parts"}, "name a folder by --out");
    refused({"merge", "nowhere", "--out", "all"}, "nowhere: No such file or directory");
    refused({"merge", ".", "--out", "all"}, ".: there is no results.sqlite");
    refused({"merge", "parts", "--out", "all"}, "part 2 of 2 is missing");
    EXPECT_FALSE(std::filesystem::exists("all/results.sqlite"));
    refused({"merge", "parts", "--out", "parts/shard-1-of-2"}, "there are results already");
}

}  // namespace
}  // namespace fencepost::cli
