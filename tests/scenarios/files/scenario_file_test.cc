// Goal: a file says everything that a built-in scenario says, little of it needs to be said, and a
// wrong one is refused with its place and what would be right.
// Method: every built-in scenario is written down and read back; one wrong file for each message.
#include "scenarios/files/scenario_file.h"

#include <gtest/gtest.h>

#include <map>

#include "scenarios/search/random_plan.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;

const std::map<std::string, std::string> kSqlFiles{
    {"schema.sql", "CREATE TABLE points (member BIGINT, day TEXT, PRIMARY KEY (member, day));"},
    {"seed.sql", "INSERT INTO points VALUES (1, 'x');"}};

std::string sql_file(const std::string& name) {
    const auto found = kSqlFiles.find(name);
    if (found == kSqlFiles.end()) throw std::runtime_error("there is no such file");
    return found->second;
}

Scenario read(const std::string& text) {
    return scenario_from_json(text, sql_file);
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(read(text));
    } catch (const ScenarioFileError& error) {
        return error.what();
    }
    return "nothing is wrong";
}

// A short file that is sound, with something more.
std::string with(const std::string& more) {
    return "{ \"name\": \"points-expire\",\n"
           "  \"jobs\": [{ \"job\": \"expire-points\", \"schedule\": { \"at\": "
           "\"2026-03-02T18:00:00Z\" } }]" +
           (more.empty() ? "" : ",\n  " + more) + " }";
}

sim::Time instant(const char* text) {
    return *sim::parse_time(text);
}

// Those of the checklist: other tests of this program make others known.
std::vector<Scenario> built_in() {
    std::vector<Scenario> all = all_scenarios();
    std::erase_if(all, [](const Scenario& scenario) { return scenario.condition == 0; });
    return all;
}

std::vector<std::uint64_t> fingerprints_of(const std::vector<sim::Plan>& plans) {
    Runner runner;
    std::vector<std::uint64_t> fingerprints;
    for (const sim::Plan& plan : plans) fingerprints.push_back(runner.run(plan).fingerprint);
    return fingerprints;
}

TEST(ScenarioFileTest, EveryBuiltInScenarioReadsBackEqual) {
    for (const Scenario& scenario : built_in()) {
        EXPECT_NO_THROW(validate(scenario)) << scenario.name;
        const std::string text = to_json(scenario);
        EXPECT_TRUE(read(text) == scenario) << text << "\n" << to_json(read(text));
    }
}

TEST(ScenarioFileTest, EveryBuiltInScenarioRunsAsBeforeOnceItIsReadFromItsFile) {
    for (const Scenario& scenario : built_in()) {
        const Subject subject{scenario.name, scenario.handlers.front()};
        const PlanSource source{scenario, subject, catalogue_of(scenario, subject, fresh_runner())};
        std::vector<sim::Plan> plans;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) plans.push_back(source.draw(seed));
        const std::vector<std::uint64_t> before = fingerprints_of(plans);
        put_scenario(read(to_json(scenario)));
        EXPECT_EQ(fingerprints_of(plans), before) << scenario.name;
    }
}

TEST(ScenarioFileTest, AShortFileWillDo) {
    const Scenario scenario = read(R"({
        "name": "points-expire",
        "jobs": [{ "job": "expire-points",
                   "schedule": { "cron": "0 0 2 * * ?", "zone": "Asia/Shanghai" } }],
        "effects": [{ "table": "points", "identity": ["member", "day"] }] })");
    EXPECT_EQ(scenario.condition, 0);
    EXPECT_EQ(scenario.title, "points-expire");
    EXPECT_EQ(scenario.handlers, std::vector<std::string>{"reconcile"});
    EXPECT_EQ(scenario.start, instant("2026-03-02T17:59:58Z"));
    ASSERT_EQ(scenario.due.size(), 1U);
    EXPECT_EQ(scenario.due[0].unit(), "acme/expire-points@2026-03-02T18:00:00Z");
    EXPECT_EQ(scenario.jobs[0].schedule,
              model::Schedule::cron("0 0 2 * * ?", "Asia/Shanghai",
                                    {.from = scenario.start, .until = scenario.start + 30s}));
    EXPECT_EQ(scenario.parameters.at("lease_ttl_ms"), 10'000);
    ASSERT_EQ(scenario.effects.size(), 1U);
    EXPECT_EQ(scenario.effects[0].table, "points");
    EXPECT_EQ(scenario.effects[0].identity, (std::vector<std::string>{"member", "day"}));
    EXPECT_TRUE(read(to_json(scenario)) == scenario) << to_json(scenario);
}

TEST(ScenarioFileTest, SchedulesWithoutAnEndEndWithTheSpan) {
    const Scenario scenario = read(R"({
        "name": "often", "span": "12s",
        "jobs": [{ "job": "tick", "schedule": { "every": "5s" } }] })");
    EXPECT_EQ(scenario.jobs[0].schedule,
              model::Schedule::every(instant("2026-03-02T18:00:00Z"), 5s, 3));
    EXPECT_EQ(scenario.due.size(), 3U);
}

TEST(ScenarioFileTest, FaultsGoOnForAMinuteAfterWhatIsDueLast) {
    const Scenario scenario = read(R"({
        "name": "later",
        "jobs": [{ "job": "late", "schedule": { "at": ["2026-03-02T18:00:00Z",
                                                       "2026-03-02T18:10:00Z"] } }] })");
    EXPECT_EQ(scenario.healed_after, 10min + 2s + 60s);
}

TEST(ScenarioFileTest, SqlFilesAreRead) {
    const Scenario scenario = read(with(R"("schema": ["schema.sql"], "seed": ["seed.sql"])"));
    ASSERT_EQ(scenario.schema.size(), 1U);
    EXPECT_EQ(scenario.schema[0].text, kSqlFiles.at("schema.sql"));
    EXPECT_EQ(scenario.seed.at(0).name, "seed.sql");
    EXPECT_TRUE(read(to_json(scenario)) == scenario);
}

TEST(ScenarioFileTest, InvariantsAreJudgedWithoutAsking) {
    const Scenario scenario = read(
        with(R"("always": [{ "name": "n", "query": "SELECT 1 WHERE FALSE", "message": "m" }])"));
    EXPECT_EQ(scenario.checkers.back(), "invariants");
}

// What is appended to a sound file, and the message with its place.
struct Wrong {
    std::string more;
    std::string message;
};

TEST(ScenarioFileTest, AWrongFileIsRefusedWithItsPlaceAndWhatIsRight) {
    const std::vector<Wrong> all{
        {R"("notes": ["A"])",
         "line 3, column 3: notes: unknown key (did you mean \"nodes\"?); known here are name, "},
        {R"("nodes": "A")", "line 3, column 12: nodes: a list in brackets is expected here"},
        {R"("nodes": [])", "line 3, column 12: nodes: at least one is expected here"},
        {R"("nodes": ["A", "redis"])",
         "line 3, column 18: nodes[1]: \"redis\" is the name of another party"},
        {R"("nodes": ["A", "A"])", "line 3, column 18: nodes[1]: the node \"A\" stands here twice"},
        {R"("servers": ["redi"])",
         "servers[0]: unknown server \"redi\" (did you mean \"redis\"?); known are redis,"},
        {R"("settle_bound": "5 minutes")",
         "settle_bound: \"5 minutes\" is not a duration; write for example \"5s\""},
        {R"("settle_bound": "-5s")", "settle_bound: a negative duration makes no sense here"},
        {R"("settle_bound": "9000h")", "settle_bound: a duration is at most"},
        {R"("start": "yesterday")",
         "line 3, column 12: start: \"yesterday\" is not an instant; write for example"},
        {R"("start": "1970-01-01T00:00:00Z")", "start: an instant lies in the years from 1971"},
        {R"("start": "2026-03-03T00:00:00Z")",
         "due: nothing is due in the run, so nothing can be judged"},
        {R"("trigger": "fire")",
         "trigger: unknown trigger \"fire\" (did you mean \"fires\"?); known are fires, messages, "
         "start-up"},
        {R"("requests": true)", "requests: requests are of the trigger \"messages\""},
        {R"("requests": 1)", "requests: true or false is expected here"},
        {R"("handlers": ["reconcil"])",
         "handlers[0]: unknown handler \"reconcil\" (did you mean \"reconcile\"?)"},
        {R"("handlers": ["pay"])",
         "handlers[0]: pay cannot take part, because pay is made for a call to the outside "
         "service"},
        {R"("probes": ["fire recoverd"])",
         "probes[0]: unknown probe \"fire recoverd\" (did you mean \"fire recovered\"?)"},
        {R"("checkers": ["onse"])",
         "checkers[0]: unknown checker \"onse\" (did you mean \"once\"?)"},
        {R"("families": ["broker"])", "families[0]: the family broker needs the server"},
        {R"("families": ["cal"])",
         "families[0]: unknown family of faults \"cal\" (did you mean \"call\"?)"},
        {R"("most_faults": 2.5)", "most_faults: a whole number from"},
        {R"("most_faults": 99)", "most_faults: a number from 0 to 20 is expected here"},
        {R"("parameters": { "batch": -1 })",
         "parameters.batch: a whole number from 0 to 1000000000 is expected here"},
        {R"("parameters": { "accounts": 1000000000 })",
         "line 3, column 31: parameters.accounts: 1000000000 is out of range; give a number up to "
         "100000"},
        {R"("scheduler": { "mode": "cluster" })",
         "scheduler.mode: unknown mode \"cluster\" (did you mean \"clustered\"?)"},
        {R"("scheduler": { "zones": { "C": "UTC" } })", "scheduler.zones: unknown node \"C\""},
        {R"("scheduler": { "zones": { "A": "Mars" } })",
         "line 3, column 34: scheduler.zones.A: the system knows no time zone \"Mars\""},
        {R"("scheduler": { "check_in": "0s" })",
         "scheduler.check_in: a duration of more than nothing is expected"},
        {R"("check_interval": "1ns")", "check_interval: a duration from 1ms on is expected here"},
        {R"("due": [{ "job": "expire-points" }])", "line 3, column 11: due[0]: \"at\" is missing"},
        {R"("due": [{ "job": "expire-points", "at": "2026-03-02T18:00:01Z" }],
            "start": "2026-03-02T18:00:00Z")",
         "due[0]: no schedule of acme/expire-points is due at that instant"},
        {R"("script": [{ "do": "crash", "node": "C", "at_time": "2026-03-02T18:00:03Z" }])",
         "line 3, column 39: script[0].node: unknown node \"C\" (did you mean"},
        {R"("script": [{ "do": "crash", "node": "A", "at_time": "18:00" }])",
         "line 3, column 55: script[0].at_time: \"18:00\" is not an instant"},
        {R"("script": [{ "do": "partition", "between": ["A", "B"], "for": "1s",
                         "at_time": "2026-03-02T18:00:03Z" }])",
         "script[0].do: what happens in every run is of the families node and operator"},
        {R"("script": [{ "do": "crash", "at": "A#1/*/db.commit/1" }])",
         "script[0]: what happens in every run happens at a time: \"at_time\""},
        {R"("script": [{ "do": "crash", "node": "A", "at_time": "2027-03-02T18:00:03Z" }])",
         "script[0].at_time: that is not within the run's time for faults"},
        {R"("last_version": 3)", "last_version: there are the versions 1 and 2"},
        {R"("condition": 11)", "condition: the checklist has the conditions 1 to 10"},
        {R"("schema": ["none.sql"])", "line 3, column 14: schema[0]: there is no such file"},
        {R"("effects": [{ "identity": ["member"] }])", "effects[0]: \"table\" is missing"},
        {R"("always": [{ "name": "n", "query": "DELETE FROM points", "message": "m" }])",
         "line 3, column 38: always[0].query: one query is expected here: SELECT …, or WITH"},
        {R"("always": [{ "name": "n", "query": "SELECT 1; DELETE FROM points", "message": "m" }])",
         "always[0].query: one query is expected here"},
        {R"("always": [{ "name": "n", "query": "WITH a AS (SELECT 1) DELETE FROM points",
                         "message": "m" }])",
         "always[0].query: one query is expected here"},
        {R"("always": [{ "name": "n", "query": "SELECT * FROM points FOR UPDATE",
                         "message": "m" }])",
         "always[0].query: one query is expected here"},
        {R"("finally": [{ "name": "n", "query": "SELECT $1", "message": "m" }])",
         "finally[0].query: the query has parameters that nobody gives it"},
        {R"("finally": [{ "name": "n", "query": "SELECT 1", "message": "m" }],
            "checkers": ["once"])",
         "checkers: \"invariants\" is missing"},
        {R"("name": "other")", "line 3, column 3: the key \"name\" stands twice in this object"},
    };
    for (const Wrong& wrong : all) {
        EXPECT_NE(refusal(with(wrong.more)).find(wrong.message), std::string::npos)
            << wrong.more << "\n  says   " << refusal(with(wrong.more)) << "\n  not    "
            << wrong.message;
    }
}

TEST(ScenarioFileTest, AWrongScheduleIsRefusedAtThePositionOfItsFault) {
    const auto scheduled = [](const std::string& schedule) {
        return refusal("{ \"name\": \"n\", \"jobs\": [\n{ \"job\": \"j\", \"schedule\": " +
                       schedule + " }] }");
    };
    // Column 37 holds the quote.
    EXPECT_NE(scheduled(R"({ "cron": "0 0 25 * * ?" })")
                  .find("line 2, column 42: jobs[0].schedule.cron: cron expression \"0 0 25 * * "
                        "?\": at position 5"),
              std::string::npos)
        << scheduled(R"({ "cron": "0 0 25 * * ?" })");
    EXPECT_NE(scheduled(R"({ "cron": "0 0 2 * * ?", "zone": "Mars" })")
                  .find("jobs[0].schedule.zone: the system knows no time zone \"Mars\""),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "cron": "0 0 2 * * ?", "until": "2026-03-02T00:00:00Z" })")
                  .find("is never due in its span"),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "every": "0s" })").find("a duration of more than nothing"),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "every": "1us" })").find("schedules are kept in whole milliseconds"),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "every": "8000h", "count": 2 })")
                  .find("jobs[0].schedule.count: a schedule is over after 8760h"),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "at": [] })").find("at least one instant is expected here"),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "at": "2026-03-02T18:00:00.0001Z" })")
                  .find("schedules are kept in whole milliseconds"),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "at": "2026-03-02T18:00:00Z", "zone": "UTC" })")
                  .find("line 2, column 59: jobs[0].schedule.zone: unknown key; known beside "
                        "\"at\" are at"),
              std::string::npos)
        << scheduled(R"({ "at": "2026-03-02T18:00:00Z", "zone": "UTC" })");
    EXPECT_NE(scheduled("{}").find("a schedule has \"cron\" (and \"zone\"), \"every\""),
              std::string::npos);
    EXPECT_NE(scheduled(R"({ "every": "1ms" })").find("more than 1000 instants are due"),
              std::string::npos);
}

TEST(ScenarioFileTest, ActsThatAreOneToTheHandlerAreRefused) {
    const std::string text =
        R"({ "name": "n", "jobs": [{ "job": "j", "schedule": { "every": "10s", "count": 2 } }] })";
    EXPECT_NO_THROW(read(text));
    try {
        static_cast<void>(checked_scenario_from_json(text, std::filesystem::path{}));
        FAIL() << "it is sound";
    } catch (const ScenarioFileError& error) {
        EXPECT_TRUE(
            error.unplaced().starts_with("due: reconcile expects ledger (acme, 1, 2026-03-02) of "
                                         "acme/j@2026-03-02T18:00:00Z and "
                                         "of acme/j@2026-03-02T18:00:10Z: to it they are one act;"))
            << error.what();
    }
}

TEST(ScenarioFileTest, AFileWithoutWhatItMustHaveIsRefused) {
    EXPECT_EQ(refusal("[]"), "line 1, column 1: an object in braces is expected here");
    EXPECT_EQ(refusal("{}"), "line 1, column 1: \"name\" is missing");
    EXPECT_EQ(refusal(R"({ "name": "n" })"),
              "line 1, column 1: jobs: at least one job is needed, for the trigger is \"fires\"");
    EXPECT_EQ(refusal(R"({ "name": "n", "trigger": "messages" })"),
              "line 1, column 1: servers: messages need the server \"broker\"; or set "
              "\"requests\" to true");
}

}  // namespace
}  // namespace fencepost::scenarios
