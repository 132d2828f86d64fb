// --budget: what it takes for a time, and that a search ends by it with what it has.
#include "cli/budget.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

using namespace std::chrono_literals;

TEST(BudgetTest, TakesSecondsMinutesAndHours) {
    EXPECT_EQ(parse_budget("90s"), 90s);
    EXPECT_EQ(parse_budget("5m"), 300s);
    EXPECT_EQ(parse_budget("2h"), 7200s);
    for (const std::string_view wrong : {"", "5", "m", "0s", "-5m", "5 m", "5min", "1.5h", "5m "})
        EXPECT_FALSE(parse_budget(wrong).has_value()) << wrong;
}

TEST(BudgetTest, ATimeThatIsNoneIsSaid) {
    const Called called = call({"sweep", "same-instant", "--budget", "soon"});
    EXPECT_EQ(called.code, 2);
    EXPECT_NE(called.err.find("write a number and s, m or h"), std::string::npos) << called.err;
}

TEST(BudgetTest, ASweepEndsWithTheRunsThatItHasMade) {
    const Folder folder;
    const Called called = call({"sweep", "same-instant", "--handler", "reconcile", "--budget", "1s",
                                "--jobs", "1", "--json", "sweep.json"});
    const auto json = nlohmann::json::parse(folder.read("sweep.json"));
    EXPECT_GT(json["runs"], 0);
    EXPECT_LT(json["runs"], json["asked"]);
    EXPECT_FALSE(json["interrupted"].get<bool>());
    const std::string what = json["what"];
    const std::uint64_t runs = json["runs"];
    EXPECT_NE(what.find("(seeds 1.." + std::to_string(runs) + ")"), std::string::npos) << what;
    EXPECT_NE(called.code, 4);
}

TEST(BudgetTest, SeedsThatTakeLessTimeAreAllRun) {
    const Folder folder;
    (void)call({"sweep", "same-instant", "--seeds", "5", "--budget", "1h", "--jobs", "1", "--json",
                "sweep.json"});
    EXPECT_EQ(nlohmann::json::parse(folder.read("sweep.json"))["runs"], 5);
}

// Each search gets a share, so that every condition is seen.
TEST(BudgetTest, AnAcceptanceSeesEveryConditionInItsTime) {
    const Folder folder;
    (void)call({"accept", "--handler", "no-inbox", "--budget", "2s", "--jobs", "1", "--json",
                "accept.json"});
    const auto json = nlohmann::json::parse(folder.read("accept.json"));
    std::size_t seen = 0;
    for (const auto& condition : json["conditions"]) {
        for (const auto& evidence : condition["evidence"]) {
            EXPECT_GT(evidence["random"]["runs"], 0);
            EXPECT_GT(evidence["one_fault"]["runs"], 0);
            ++seen;
        }
    }
    EXPECT_EQ(seen, 2U);
}

}  // namespace
}  // namespace fencepost::cli
