// Goal: a test of somebody's own gets the verdict of the program, and a text that says what broke.
//
// Method: reference handlers and planted mistakes of the checklist, a few seeds; the failure files
// go to a folder of the test's.
#include "kit/acceptance.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "scenarios/search/nearby.h"
#include "tests/kit/folder.h"

namespace fencepost::kit {
namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TrialOptions in(const Folder& folder) {
    return {.failures_folder = folder.path()};
}

TEST(AcceptanceTest, AReferenceHandlerIsAccepted) {
    const Folder folder;
    TrialOptions options = in(folder);
    options.scenarios = {"same-instant", "holder-leaves"};
    const Verdict verdict = accept({"reconcile", options});
    EXPECT_TRUE(verdict.accepted) << verdict.text;
    EXPECT_TRUE(verdict.failures.empty());
    EXPECT_GT(verdict.runs, 1'000U);
    EXPECT_TRUE(contains(verdict.text, "reconcile is accepted")) << verdict.text;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AcceptanceTest, AMistakeIsToldAsTheProgramTellsIt) {
    const Folder folder;
    TrialOptions options = in(folder);
    options.scenarios = {"holder-leaves"};
    const Verdict verdict = accept({"lock-only", options});
    EXPECT_FALSE(verdict.accepted);
    ASSERT_EQ(verdict.failures.size(), 1U);
    const SavedFailure& saved = verdict.failures.front();
    EXPECT_EQ(saved.failure.invariant, "once");
    for (const std::string part :
         {"FAIL once  holder-leaves, handler lock-only", "broken", "key", "what", "faults",
          "What happened", "What it takes", "What usually causes this"}) {
        EXPECT_TRUE(contains(verdict.text, part)) << part << " is missing in\n" << verdict.text;
    }
    EXPECT_TRUE(contains(verdict.text, "fencepost replay " + saved.file)) << verdict.text;
    EXPECT_TRUE(std::filesystem::exists(saved.file));
}

TEST(AcceptanceTest, TheSavedFailureReplaysAndIsMinimal) {
    const Folder folder;
    TrialOptions options = in(folder);
    options.scenarios = {"holder-leaves"};
    const Verdict verdict = accept({"lock-only", options});
    ASSERT_EQ(verdict.failures.size(), 1U);
    const scenarios::Failure failure = scenarios::read_failure(verdict.failures.front().file);
    EXPECT_TRUE(failure.found_by.minimal);
    EXPECT_EQ(failure.found_by.how, "sweep");
    EXPECT_FALSE(failure.version.empty());
    scenarios::Runner runner;
    const scenarios::Replay replay = scenarios::compare(failure, runner.run(failure.plan));
    EXPECT_EQ(replay.verdict, scenarios::ReplayVerdict::SameFailure);
    EXPECT_TRUE(replay.same_key);
}

TEST(AcceptanceTest, WhatRandomPlansMissEveryOneFaultPlanFinds) {
    const Folder folder;
    TrialOptions options = in(folder);
    options.scenarios = {"holder-leaves"};
    options.seeds = 1;
    const Verdict verdict = accept({"lock-only", options});
    ASSERT_EQ(verdict.failures.size(), 1U) << verdict.text;
    EXPECT_EQ(verdict.failures.front().failure.found_by.how, "exhaust");
}

TEST(AcceptanceTest, InOneProcessItFindsTheSame) {
    const Folder folder;
    TrialOptions options = in(folder);
    options.scenarios = {"holder-leaves"};
    const Verdict apart = accept({"lock-only", options});
    options.in_process = true;
    const Verdict together = accept({"lock-only", options});
    ASSERT_EQ(apart.failures.size(), 1U);
    ASSERT_EQ(together.failures.size(), 1U);
    EXPECT_EQ(apart.failures.front().failure, together.failures.front().failure);
}

TEST(AcceptanceTest, WhatWasNeverReachedIsNoAcceptance) {
    const Folder folder;
    TrialOptions options = in(folder);
    options.scenarios = {"holder-leaves"};
    options.seeds = 1;
    options.faults = 0;
    const Verdict verdict = accept({"reconcile", options});
    EXPECT_FALSE(verdict.accepted);
    EXPECT_TRUE(contains(verdict.text, "holder-leaves: never reached: ")) << verdict.text;
    options.need_not_reach = scenarios::find_scenario("holder-leaves")->probes;
    const Verdict easier = accept({"reconcile", options});
    EXPECT_TRUE(easier.accepted) << easier.text;
}

TEST(AcceptanceTest, OneScenarioIsHeldWithSeedsOfARange) {
    const Folder folder;
    const Verdict held = hold("same-instant", {"reconcile", in(folder)}, {100, 149});
    EXPECT_TRUE(held.accepted) << held.text;
    EXPECT_EQ(held.runs, 50U);
    const Verdict broken = hold("holder-leaves", {"lock-only", in(folder)}, 200);
    EXPECT_FALSE(broken.accepted);
}

TEST(AcceptanceTest, WhatThereIsNotIsRefused) {
    EXPECT_THROW(Candidate("recncile"), std::invalid_argument);
    EXPECT_THROW((void)hold("same-instnat", "reconcile", 1), std::invalid_argument);
    EXPECT_THROW((void)hold("start-up-twice", "reconcile", 1), std::invalid_argument);
    EXPECT_THROW((void)accept({"reconcile", {.faults = 4}}), std::invalid_argument);
    EXPECT_THROW((void)accept({"reconcile", {.scenarios = {"start-up-twice"}}}),
                 std::invalid_argument);
}

// A program whose node dies of its handler.
class Crashing : public scenarios::Program {
public:
    std::string handle(const jobs::Fire& /*fire*/) override { std::abort(); }
};

scenarios::HandlerSpec crashing() {
    scenarios::HandlerSpec handler = *scenarios::find_handler("reconcile");
    handler.name = "crashing";
    handler.source = std::source_location::current();
    handler.program = [](const scenarios::ProgramSetting&) -> std::unique_ptr<scenarios::Program> {
        return std::make_unique<Crashing>();
    };
    return handler;
}

TEST(AcceptanceTest, AHandlerThatCrashesIsAFindingAndNotTheEndOfTheTest) {
    const Folder folder;
    const Verdict verdict = hold("same-instant", {crashing(), in(folder)}, 3);
    EXPECT_FALSE(verdict.accepted);
    EXPECT_TRUE(contains(verdict.text, "BROKEN handler")) << verdict.text;
    EXPECT_TRUE(contains(verdict.text, "SIGABRT")) << verdict.text;
    EXPECT_TRUE(contains(verdict.text, "FENCEPOST_REPLAY=")) << verdict.text;
}

TEST(AcceptanceTest, AHandlerIsBroughtAgainAndAgainButTakesNoName) {
    const Candidate first{crashing()};
    const Candidate second{crashing()};
    EXPECT_EQ(first.name(), second.name());
    scenarios::HandlerSpec handler = crashing();
    handler.name = "reconcile";
    EXPECT_THROW((void)Candidate(handler), std::invalid_argument);
    EXPECT_FALSE(scenarios::is_built_in("crashing"));
    EXPECT_TRUE(scenarios::is_built_in("reconcile"));
}

TEST(AcceptanceTest, ReplayRunsTheFileInPlaceOfTheSearch) {
    const Folder folder;
    TrialOptions options = in(folder);
    options.scenarios = {"holder-leaves"};
    const Verdict found = accept({"lock-only", options});
    ASSERT_EQ(found.failures.size(), 1U);
    setenv("FENCEPOST_REPLAY", found.failures.front().file.c_str(), 1);
    const Verdict again = accept({"lock-only", options});
    const Verdict elsewhere = hold("same-instant", {"reconcile", options}, 20);
    unsetenv("FENCEPOST_REPLAY");
    EXPECT_FALSE(again.accepted);
    EXPECT_EQ(again.runs, 1U);
    EXPECT_TRUE(contains(again.text, "FENCEPOST_REPLAY is the same failure")) << again.text;
    EXPECT_EQ(elsewhere.runs, 20U) << "another handler's failure is none of its own";
}

}  // namespace
}  // namespace fencepost::kit
