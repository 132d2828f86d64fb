// Start-ups of which nobody states what they leave are judged by one that is alone and undisturbed.
//
// Method: the reference handler and the planted mistakes, without what they state, under the plans
// that tests/failures holds for each mistake.
#include <gtest/gtest.h>

#include <filesystem>

#include "scenarios/handler.h"
#include "scenarios/handlers/initialise.h"
#include "scenarios/runner.h"
#include "scenarios/search/failure.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using jobs::Ports;

std::filesystem::path failures() {
    return std::filesystem::path(FENCEPOST_SOURCE_DIR) / "tests/failures";
}

// The mistakes in start-ups of which a failure is kept.
std::vector<std::string> mistakes() {
    std::vector<std::string> names;
    for (const HandlerSpec& handler : all_handlers()) {
        const bool kept = std::filesystem::exists(failures() / (handler.name + ".json"));
        if (handler.trigger == Trigger::StartUp && handler.is_mistake() && kept)
            names.push_back(handler.name);
    }
    return names;
}

std::string unstated(const std::string& name) {
    std::string own = "unstated-" + name;
    if (find_handler(own) != nullptr) return own;
    HandlerSpec copy = *find_handler(name);
    copy.name = own;
    copy.breaks.clear();
    copy.expectations = nullptr;
    add_handler(std::move(copy));
    return own;
}

const checkers::Judgement& convergence(const RunResult& result) {
    return *std::ranges::find(result.judgements, "start-up-convergence",
                              &checkers::Judgement::checker);
}

RunResult run_of_own(const std::string& name, StartUpBody body) {
    if (find_handler(name) == nullptr) {
        HandlerSpec spec = start_up_handler(name, "", std::move(body));
        spec.expectations = nullptr;
        add_handler(std::move(spec));
    }
    Runner runner;
    return runner.run(plan_for("start-up-twice", name));
}

// Two mistakes take a statement: what an undisturbed start-up caches too early is what it leaves
// itself, and a version that is recorded too early is only wrong until its step is there.
TEST(LearntStartUp, FindsEveryMistakeThatShowsInWhatIsLeft) {
    const std::vector<std::string> unseen{"startup-warms-up-first", "upgrade-checkpoint-early"};
    ASSERT_GE(mistakes().size(), 8U);
    for (const std::string& mistake : mistakes()) {
        sim::Plan plan = read_failure((failures() / (mistake + ".json")).string()).plan;
        plan.handler = unstated(mistake);
        Runner runner;
        const RunResult result = runner.run(plan);
        const bool seen = std::ranges::find(unseen, mistake) == unseen.end();
        EXPECT_EQ(convergence(result).verdict,
                  seen ? checkers::Verdict::Fail : checkers::Verdict::Pass)
            << mistake;
    }
}

TEST(LearntStartUp, PassesTheRightOneUnderTheSamePlans) {
    for (const std::string& mistake : mistakes()) {
        sim::Plan plan = read_failure((failures() / (mistake + ".json")).string()).plan;
        plan.handler = unstated("initialise");
        Runner runner;
        const RunResult result = runner.run(plan);
        EXPECT_EQ(convergence(result).verdict, checkers::Verdict::Pass)
            << mistake << ": " << convergence(result).reason;
    }
}

// Who made a row, when, and under which drawn id is another in every run.
TEST(LearntStartUp, DoesNotCompareWhatDiffersFromRunToRun) {
    const RunResult result = run_of_own("own-dated-rows", [](const Ports& ports) {
        const auto session = ports.database.connect();
        jobs::sql::Transaction tx{*session};
        tx.execute("SELECT pg_advisory_xact_lock(1)");
        tx.execute("CREATE TABLE IF NOT EXISTS tariff (name TEXT PRIMARY KEY, made_us BIGINT)");
        tx.execute("INSERT INTO tariff VALUES ('day', db_now_us()) ON CONFLICT DO NOTHING");
        tx.commit();
    });
    EXPECT_EQ(convergence(result).verdict, checkers::Verdict::Pass) << convergence(result).reason;
}

TEST(LearntStartUp, FindsRowsThatASecondStartUpAdds) {
    const RunResult result = run_of_own("own-rows-again", [](const Ports& ports) {
        const auto session = ports.database.connect();
        jobs::sql::Transaction tx{*session};
        tx.execute("SELECT pg_advisory_xact_lock(1)");
        tx.execute(
            "CREATE TABLE IF NOT EXISTS tariff (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY "
            "KEY, name TEXT)");
        tx.execute("INSERT INTO tariff (name) VALUES ('day')");
        tx.commit();
    });
    EXPECT_EQ(convergence(result).verdict, checkers::Verdict::Fail);
}

TEST(LearntStartUp, IsNoPassWhereTheUndisturbedOneSaysNothing) {
    const RunResult result =
        run_of_own("own-never-up", [](const Ports&) { throw std::runtime_error("no licence"); });
    EXPECT_EQ(convergence(result).reason,
              "nothing says what a start-up leaves, and an undisturbed one does not come through: "
              "say it in the handler's expectations, as start_up");
    EXPECT_EQ(convergence(result).verdict, checkers::Verdict::Unknown);
}

}  // namespace
}  // namespace fencepost::scenarios
