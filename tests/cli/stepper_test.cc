// Goal: a run can be stepped through and looked at between its events, and looking changes nothing.
//
// Method: failures of the project's corpus are stepped through with lines of commands, as somebody
// would type them; every run of the corpus is looked at in every way after each of its steps.
#include "cli/stepper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "cli/failure_replay.h"
#include "cli/plans.h"
#include "cli/world_view.h"

namespace fencepost::cli {
namespace {

using scenarios::Failure;

std::filesystem::path corpus() {
    return std::filesystem::path{FENCEPOST_SOURCE_DIR} / "corpus";
}

struct Session {
    int code = 0;
    std::string out;

    [[nodiscard]] bool shows(std::string_view part) const {
        return out.find(part) != std::string::npos;
    }
    // What was printed after the prompt of event `number`, up to the next prompt.
    [[nodiscard]] std::string after(int number) const {
        const std::string prompt = fmt::format("#{} of ", number);
        const std::size_t at = out.find(prompt);
        if (at == std::string::npos) return "(no such prompt)";
        const std::size_t begin = out.find("> ", at) + 2;
        return out.substr(begin, out.find("\n#", begin) + 1 - begin);
    }
};

Session step(const Failure& failure, const std::string& lines) {
    std::istringstream in{lines};
    std::ostringstream out;
    std::ostringstream err;
    Console console{.out = out, .err = err, .in = in};
    Session session;
    session.code = step_through(failure, failure.plan, "f.json", console);
    session.out = out.str();
    EXPECT_EQ(err.str(), "");
    return session;
}

// The holder's COMMIT is held up for 20 s; then both it and the repeat land.
class StepperTest : public testing::Test {
protected:
    Session step(const std::string& lines) { return cli::step(failure_, lines); }

    Failure failure_ = read_failure((corpus() / "lock-only.once.same-instant.json").string());
};

TEST_F(StepperTest, TheFirstStopIsBeforeAnythingOfTheWork) {
    const Session session = step("quit\n");
    EXPECT_TRUE(session.shows("same-instant, handler lock-only, seed 0: 1 fault\n")) << session.out;
    EXPECT_TRUE(session.shows("==== faults ====")) << session.out;
    EXPECT_FALSE(session.shows("db.")) << session.out;
}

TEST_F(StepperTest, NextShowsTheNextEventsAndAnEmptyLineGoesOn) {
    // The answer to a call and the next call are one step.
    const Session session = step("to 37\nnext\n\nnext 2\nquit\n");
    EXPECT_TRUE(session.after(38).starts_with("    39 ")) << session.out;
    EXPECT_TRUE(session.after(39).starts_with("    40 ")) << session.out;
    EXPECT_TRUE(session.after(39).find("\n    41 ") != std::string::npos) << session.out;
    EXPECT_TRUE(session.after(41).starts_with("    42 ")) << session.out;
    EXPECT_TRUE(session.after(41).find("\n    43 ") != std::string::npos) << session.out;
}

TEST_F(StepperTest, FaultStopsWhereTheNextFaultHasStruck) {
    const Session session = step("plan\nfault\nplan\nquit\n");
    EXPECT_TRUE(session.shows("for 20s: is to come\n")) << session.out;
    EXPECT_TRUE(session.shows("fault 1 strikes: unreachable database")) << session.out;
    EXPECT_TRUE(session.shows("for 20s: took effect\n")) << session.out;
    EXPECT_FALSE(session.shows("ledger insert")) << session.out;
}

TEST_F(StepperTest, WithoutAFurtherFaultTheStopIsAtTheLastEvent) {
    const Session session = step("fault\nfault\nquit\n");
    EXPECT_TRUE(session.shows("That was the last event; what follows is the verdict.\n"))
        << session.out;
    EXPECT_EQ(session.code, 3);
}

TEST_F(StepperTest, ToRunsToAnEventThatIsToCome) {
    const Session session = step("to 73\nto 20\nto 5000\nto there\nquit\n");
    EXPECT_TRUE(session.shows("ledger insert id=1")) << session.out;
    EXPECT_TRUE(session.shows("event 20 is over; \"show 20\" shows it\n")) << session.out;
    EXPECT_TRUE(session.shows("the last event is 115\n")) << session.out;
    EXPECT_TRUE(session.shows("\"there\" is not a number of an event\n")) << session.out;
}

TEST_F(StepperTest, TheEndIsTheReplaysVerdictAndItsExitCode) {
    const Session session = step("end\nend\n");
    EXPECT_TRUE(session.shows("\nthe same failure (once)\n")) << session.out;
    EXPECT_EQ(session.code, 1);
    failure_.plan.handler = "reconcile";
    EXPECT_EQ(step("end\nend\n").code, 0);
}

TEST_F(StepperTest, WhoLeavesBeforeTheEndGetsNoVerdict) {
    for (const char* lines : {"quit\n", "next\n", ""}) {
        const Session session = step(lines);
        EXPECT_EQ(session.code, 3);
        EXPECT_FALSE(session.shows("invariant")) << session.out;
    }
}

TEST_F(StepperTest, WordsMayBeCutShortAsLongAsOneThingBeginsSo) {
    const Session session = step("f\ntab acc\nta A\nt\nfalut\nkey lease-\ntab led\nq now\nq\n");
    EXPECT_TRUE(session.shows("fault 1 strikes")) << session.out;
    EXPECT_TRUE(session.shows(" id  tenant  balance\n  1  acme    107\n") ||
                session.shows(" id  tenant  balance\n 1   acme    107\n"))
        << session.out;
    EXPECT_TRUE(session.shows("\"t\" may be to or tasks or table\n")) << session.out;
    EXPECT_TRUE(session.shows("no command \"falut\" (did you mean \"fault\"?)")) << session.out;
    EXPECT_TRUE(session.shows("lease-version:acme/daily-reconcile = 1\n")) << session.out;
    EXPECT_TRUE(session.shows("\"led\" may be ledger or ledger_summary\n")) << session.out;
    EXPECT_TRUE(session.shows("quit takes no word after it\n")) << session.out;
}

TEST_F(StepperTest, ATableShowsWhatIsCommitted) {
    const Session session = step("fault\ntable\ntable ledger\nend\ntable ledger\ntable xyz\nq\n");
    EXPECT_TRUE(session.shows(" account            2\n")) << session.out;
    EXPECT_TRUE(session.shows("> ledger has no rows\n")) << "the insert is not committed";
    EXPECT_TRUE(session.shows("business_key")) << session.out;
    EXPECT_TRUE(
        session.shows("there is no table \"xyz\"; there are account, ledger, "
                      "ledger_summary\n"))
        << session.out;
}

TEST_F(StepperTest, AKeyShowsItsValueAndHowLongItLives) {
    const Session session = step("fault\nkey\nkey lease:\nend\nkey lease:\nq\n");
    EXPECT_TRUE(session.shows("lease:acme/daily-reconcile = 1:B#1.1   (gone in 9s993ms)\n"))
        << session.out;
    EXPECT_TRUE(
        session.shows("there is no key \"lease:\"; there are "
                      "lease-version:acme/daily-reconcile\n"))
        << session.out;
}

TEST_F(StepperTest, TasksShowsWhatEachTaskOfANodeWaitsFor) {
    const Session session = step("fault\ntasks B\nq\n");
    EXPECT_TRUE(session.shows("B#1 is up; its clock says 2026-03-02T18:00:00.009")) << session.out;
    EXPECT_TRUE(
        session.shows("  daily-reconcile@2026-03-02T18:00:00Z: waits since 0s for the "
                      "answer to db.commit/1\n"))
        << session.out;
    EXPECT_TRUE(session.shows("  lease-renewal: waits since ")) << session.out;
    EXPECT_FALSE(session.shows("A#1 is")) << session.out;
}

TEST_F(StepperTest, ShowTellsAnEventInFullAndWhatCausedIt) {
    const Session session = step("to 80\nshow 70\nshow 500\nlast 2\nq\n");
    EXPECT_TRUE(
        session.shows("#70  2026-03-02T18:00:20.009251306Z "
                      "B#1/daily-reconcile@2026-03-02T18:00:00Z answer op=db.commit "
                      "ordinal=1 outcome=timed out\nbecause of #"))
        << session.out;
    EXPECT_TRUE(session.shows("event 500 has not happened yet\n")) << session.out;
}

TEST_F(StepperTest, HelpNamesEveryCommand) {
    const Session session = step("help\nq\n");
    for (const char* name : {"next [N]", "fault", "to N", "end", "tasks [NODE]", "waits",
                             "table [NAME]", "key [NAME]", "show [N]", "last [N]", "plan", "quit"})
        EXPECT_TRUE(session.shows(fmt::format("  {} ", name))) << name << "\n" << session.out;
}

TEST_F(StepperTest, WaitsNamesTheHolderOfALock) {
    const Failure failure = read_failure((corpus() / "no-inbox.once.request-twice.json").string());
    const Session session = cli::step(failure, "to 70\nwaits\nq\n");
    EXPECT_TRUE(
        session.shows("acme/consume-order#order-1 waits at row stock('bolt') held by "
                      "session 3\n  which is the session of "))
        << session.out;
}

TEST_F(StepperTest, AHandlerThatTakesItsProcessDownIsSteppedThroughAllTheSame) {
    scenarios::HandlerSpec crashing = *scenarios::find_handler("reconcile");
    crashing.name = "stepper-test-crash";
    crashing.program = [](const scenarios::ProgramSetting&) -> std::unique_ptr<scenarios::Program> {
        std::abort();
    };
    scenarios::add_handler(crashing);
    failure_.plan.handler = crashing.name;
    failure_.plan.faults.clear();
    const Session session = step("quit\n");
    EXPECT_TRUE(session.shows("BROKEN handler: the run, tried beforehand\n")) << session.out;
    EXPECT_TRUE(session.shows("\n#")) << session.out;
}

// Every way to look, at everything that there is.
std::size_t look_at_all(model::World& world) {
    std::size_t size = tasks_text(world, "", {}).size() + waits_text(world).size() +
                       tables_text(world, {}).size() + keys_text(world).size();
    for (const std::string& table : table_names(world)) size += table_text(world, table, {}).size();
    return size;
}

TEST(WorldViewTest, LookingAtEverythingAfterEachStepChangesNoRun) {
    scenarios::Runner runner;
    for (const auto& entry : std::filesystem::directory_iterator(corpus())) {
        const sim::Plan plan = read_plan(entry.path().string());
        if (plan.scenario == "long-job") continue;  // hundreds of batches: the same, for long
        const std::uint64_t unseen = runner.run(plan).fingerprint;
        std::size_t seen = 0;
        scenarios::RunOptions options;
        options.watch = [&seen](model::World& world) { seen += look_at_all(world); };
        EXPECT_EQ(runner.run(plan, options).fingerprint, unseen) << entry.path();
        EXPECT_GT(seen, 0U);
    }
}

TEST(WorldViewTest, ARunAfterOneThatWasLeftIsAsEver) {
    scenarios::Runner runner;
    const sim::Plan plan = read_plan((corpus() / "lock-only.once.same-instant.json").string());
    const std::uint64_t fingerprint = runner.run(plan).fingerprint;
    scenarios::RunOptions options;
    options.watch = [steps = 0](model::World&) mutable {
        if (++steps == 50) throw Stepper::Quit{};
    };
    EXPECT_THROW(runner.run(plan, options), Stepper::Quit);
    EXPECT_EQ(runner.run(plan).fingerprint, fingerprint);
}

}  // namespace
}  // namespace fencepost::cli
