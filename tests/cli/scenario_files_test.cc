// Goal: check and show do what they say, and the example of the documentation is true.
// Method: the commands on small files, right and wrong; the example is read out of
// docs/scenario-files.md.
#include <gtest/gtest.h>

#include <fstream>

#include "scenarios/built_in.h"
#include "scenarios/files/scenario_file.h"
#include "scenarios/runner.h"
#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

// The code blocks of a page, in their order, by language.
std::vector<std::string> code_blocks(const std::string& path, const std::string& language) {
    std::ifstream file(path, std::ios::binary);
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::vector<std::string> blocks;
    const std::string fence = "```" + language + "\n";
    for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
        at += fence.size();
        const std::size_t end = page.find("```", at);
        blocks.push_back(page.substr(at, end - at));
        at = end;
    }
    return blocks;
}

// The files of the example, in the folder.
void write_example(const Folder& folder) {
    const std::string page = std::string(FENCEPOST_SOURCE_DIR) + "/docs/scenario-files.md";
    const auto json = code_blocks(page, "json");
    const auto sql = code_blocks(page, "sql");
    ASSERT_GE(json.size(), 1U);
    ASSERT_EQ(sql.size(), 2U);
    folder.write("points-expire.json", json[0]);
    folder.write("schema.sql", sql[0]);
    folder.write("seed.sql", sql[1]);
}

TEST(ScenarioFilesTest, TheExampleOfTheDocumentationIsSound) {
    const Folder folder;
    write_example(folder);
    const Called called = call({"check", "points-expire.json"});
    EXPECT_EQ(called.code, 0) << called.err;
    EXPECT_EQ(called.out, "points-expire.json: ok, scenario points-expire\n");
    EXPECT_EQ(called.err, "");
}

TEST(ScenarioFilesTest, TheExampleOfTheDocumentationHoldsAndAPlantedMistakeBreaksIt) {
    const Folder folder;
    write_example(folder);
    const Called held = call({"run", "./points-expire.json"});
    EXPECT_EQ(held.code, 0) << held.out << held.err;
    const Called broken = call({"sweep", "./points-expire.json", "--handler", "lock-only",
                                "--seeds", "1..100", "--jobs", "1"});
    EXPECT_EQ(broken.code, 1) << broken.err;
    EXPECT_NE(broken.out.find("FAIL once  points-expire, handler lock-only"), std::string::npos)
        << broken.out;
    EXPECT_NE(broken.out.find("also fails     invariants"), std::string::npos) << broken.out;
    EXPECT_NE(broken.out.find("FAIL  invariants "), std::string::npos) << broken.out;
}

TEST(ScenarioFilesTest, EachWrongFileIsSaidWithLineAndColumn) {
    const Folder folder;
    write_example(folder);
    folder.write("bad.json", "{\n  \"name\": \"x\",\n  \"jobz\": []\n}\n");
    const Called called = call({"check", "bad.json", "none.json", "points-expire.json"});
    EXPECT_EQ(called.code, 2);
    EXPECT_EQ(called.out, "points-expire.json: ok, scenario points-expire\n");
    EXPECT_TRUE(called.err.starts_with(
        "bad.json:3:3: jobz: unknown key (did you mean \"jobs\"?); known here are name, "))
        << called.err;
    EXPECT_NE(called.err.find("none.json"), std::string::npos) << called.err;
}

TEST(ScenarioFilesTest, CheckExecutesTheSqlOfAScenario) {
    const Folder folder;
    write_example(folder);
    std::string text = folder.read("points-expire.json");
    const auto refusal = [&](const std::string& file) { return call({"check", file}).err; };

    folder.write("schema.sql", "-- tables\nCREATE TABEL member (id BIGINT);");
    EXPECT_NE(refusal("points-expire.json")
                  .find("points-expire.json:13:14: schema[0]: schema.sql, "
                        "line 2: "),
              std::string::npos)
        << refusal("points-expire.json");

    write_example(folder);
    const std::size_t at = text.find("m.id IS NULL");
    text.replace(at, 4, "m.ip");
    folder.write("typo.json", text);
    EXPECT_NE(refusal("typo.json").find("always[1].query: the query of \"members-only\" fails: "),
              std::string::npos)
        << refusal("typo.json");

    folder.write("no-table.json",
                 R"({ "name": "x", "jobs": [{ "job": "j", "schedule": { "every": "1m" } }],
                      "effects": [{ "table": "ledgr" }] })");
    EXPECT_NE(refusal("no-table.json")
                  .find("no-table.json:2:35: effects[0]: there is no table \"ledgr\" in the schema "
                        "(did you mean \"ledger\"?)"),
              std::string::npos)
        << refusal("no-table.json");
}

TEST(ScenarioFilesTest, SqlThatComesToNoEndIsRefused) {
    const Folder folder;
    const std::string jobs = R"("jobs": [{ "job": "j", "schedule": { "every": "5s" } }])";
    const std::string endless =
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t";
    folder.write("query.json", R"({ "name": "x", )" + jobs +
                                   R"(, "always": [{ "name": "i", "message": "m", "query": ")" +
                                   endless + "\"}]}");
    folder.write("seed.json", R"({ "name": "x", )" + jobs + R"(, "seed": ["seed.sql"]})");
    folder.write("seed.sql", "CREATE TABLE a (id BIGINT PRIMARY KEY); INSERT INTO a " + endless);
    for (const std::string file : {"query.json", "seed.json"}) {
        const Called called = call({"check", file});
        EXPECT_EQ(called.code, 2);
        EXPECT_NE(called.err.find("the statement comes to no end"), std::string::npos)
            << called.err;
    }
}

TEST(ScenarioFilesTest, AParameterThatTheHandlerNeedsIsMissedByName) {
    const Folder folder;
    folder.write("x.json", R"({ "name": "x", "handlers": ["reconcile"], "parameters": {},
        "jobs": [{ "job": "j", "schedule": { "every": "5s" } }] })");
    const Called called = call({"check", "x.json"});
    EXPECT_EQ(called.code, 2);
    EXPECT_NE(called.err.find("the schema of reconcile cannot be made: no parameter is called "
                              "\"accounts\""),
              std::string::npos)
        << called.err;
}

TEST(ScenarioFilesTest, AShownScenarioIsSoundAndReadsBackEqual) {
    const Folder folder;
    for (const scenarios::Scenario& scenario : scenarios::all_scenarios()) {
        // Other tests make theirs known.
        if (!scenarios::is_built_in_scenario(scenario.name)) continue;
        const Called shown = call({"show", scenario.name});
        ASSERT_EQ(shown.code, 0) << shown.err;
        folder.write("shown.json", shown.out);
        EXPECT_EQ(call({"check", "shown.json"}).err, "") << shown.out;
        EXPECT_TRUE(scenarios::scenario_from_json(shown.out, std::filesystem::path{}) == scenario)
            << scenario.name;
    }
}

TEST(ScenarioFilesTest, AnUnknownScenarioCannotBeShown) {
    const Called called = call({"show", "same-instnat"});
    EXPECT_EQ(called.code, 2);
    EXPECT_NE(called.err.find("did you mean \"same-instant\"?"), std::string::npos) << called.err;
}

}  // namespace
}  // namespace fencepost::cli
