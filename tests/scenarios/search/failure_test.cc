// Goal: a failure file says again what it was told, and whatever else is in a file gives one clear
// sentence.
#include "scenarios/search/failure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

Failure example() {
    Failure failure;
    failure.plan.scenario = "same-instant";
    failure.plan.handler = "lock-only";
    failure.plan.seed = 0x5eed;
    failure.plan.parameters["accounts"] = 1;
    sim::Fault pause;
    pause.kind = sim::FaultKind::Pause;
    pause.at = "A#1/daily@1/db.commit/1";
    pause.lasting = std::chrono::seconds{20};
    failure.plan.faults.push_back(pause);
    failure.invariant = "once";
    failure.key = "acme/daily@2026-03-02T18:00:00Z/7";
    failure.message = "the effect \"7\" landed twice";
    failure.first_violating_event = 211;
    failure.fingerprint = 0xfedcba9876543210;
    failure.version = "0.1.0+3f2a1b4c5d6e";
    failure.found_by = {.how = "sweep", .seed = 42, .original_faults = 3, .minimal = true};
    return failure;
}

std::string error_of(const std::string& text) {
    try {
        (void)failure_from_json(text);
    } catch (const sim::PlanError& error) {
        return error.what();
    }
    return "no error";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
}

TEST(FailureTest, AFileSaysWhatItWasTold) {
    EXPECT_EQ(failure_from_json(to_json(example())), example());
    Failure by_hand = example();
    by_hand.first_violating_event = sim::kNoRecord;
    by_hand.version.clear();
    by_hand.found_by.seed.reset();
    EXPECT_EQ(failure_from_json(to_json(by_hand)), by_hand);
}

TEST(FailureTest, AFileCutOffAtAnyByteGivesAClearError) {
    const std::string text = to_json(example());
    const std::size_t end = text.find_last_of('}');
    for (std::size_t size = 0; size <= end; ++size) {
        const std::string error = error_of(text.substr(0, size));
        EXPECT_TRUE(error.starts_with("line ")) << size << ": " << error;
        EXPECT_NE(error.find("it may have been cut off"), std::string::npos)
            << size << ": " << error;
    }
    EXPECT_EQ(error_of(text.substr(0, end + 1)), "no error");
}

TEST(FailureTest, AnyChangedByteIsReadOrRefusedWithASentence) {
    const std::string text = to_json(example());
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (const char c : {'\0', '"', '{', '7', '\xff'}) {
            std::string changed = text;
            changed[at] = c;
            EXPECT_NO_FATAL_FAILURE((void)error_of(changed));
        }
    }
}

TEST(FailureTest, ErrorsNameThePlace) {
    const std::string text = to_json(example());
    EXPECT_EQ(error_of(replaced(text, "\"invariant\"", "\"invarient\"")),
              "invarient: unknown key; known here are fencepost, plan, invariant, key, message, "
              "first_violating_event, fingerprint, version, found_by");
    EXPECT_EQ(error_of(replaced(text, "\"how\"", "\"who\"")),
              "found_by.who: unknown key; known here are how, seed, original_faults, minimal");
    EXPECT_EQ(error_of(replaced(text, "\"fencepost\": 1", "\"fencepost\": 2")),
              "fencepost: version 2 of failure files is not known; known is 1");
    EXPECT_EQ(error_of(replaced(text, "\"20s\"", "\"20 s\"")).substr(0, 50),
              "plan.faults[0].for: \"20 s\" is not a duration; writ");
    EXPECT_EQ(error_of(replaced(text, "0xfedcba9876543210", "0xfedg")),
              "fingerprint: \"0xfedg\" is not a number such as \"0x5eed\"");
    EXPECT_EQ(error_of(replaced(text, "211", "-1")),
              "first_violating_event: a whole number, not negative, is expected here");
    EXPECT_EQ(error_of("{}"),
              "the file: neither a failure (with \"fencepost\": 1) nor a plan (with \"scenario\")");
    EXPECT_EQ(error_of("[1]"), "the file: an object in braces is expected here");
}

TEST(FailureTest, ABarePlanIsAcceptedWhereAFailureIsExpected) {
    const Failure bare = failure_from_json(sim::to_json(example().plan));
    EXPECT_TRUE(bare.is_bare_plan());
    EXPECT_EQ(bare.plan, example().plan);
}

TEST(FailureTest, AWrittenFileIsWholeAndLeavesNothingElseBehind) {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / fmt::format("failures-{}", ::getpid());
    std::filesystem::create_directory(folder);
    const std::string path = (folder / failure_file_name(example())).string();
    write_failure(path, example());
    write_failure(path, example());
    EXPECT_EQ(read_failure(path), example());
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        ++files;
        EXPECT_EQ(entry.path().filename(), "same-instant-lock-only-once-0x2a.json");
    }
    EXPECT_EQ(files, 1U);
    std::filesystem::remove_all(folder);
    EXPECT_THROW(write_failure(path, example()), sim::PlanError);
    EXPECT_THROW((void)read_failure(path), sim::PlanError);
}

// A run in which `checkers` broke on `key`, with the history of the example or another.
RunResult run_in_which(const std::vector<std::string>& broke, const std::string& key,
                       bool same_history) {
    RunResult result;
    result.fingerprint = same_history ? example().fingerprint : 1;
    for (const char* checker : {"once", "fencing"}) {
        result.judgements.push_back({checker, checkers::Verdict::Pass, "held", {}});
    }
    for (const std::string& checker : broke) fail_checker(result, checker, key);
    return result;
}

TEST(FailureTest, TheSameInvariantByTheSameHistoryIsTheSameFailure) {
    const Replay replay = compare(example(), run_in_which({"once"}, example().key, true));
    EXPECT_EQ(replay.verdict, ReplayVerdict::SameFailure);
    EXPECT_TRUE(replay.same_history && replay.same_key && replay.reproduced());
}

TEST(FailureTest, TheSameInvariantByAnotherHistoryIsAnotherWayWhateverTheKey) {
    for (const std::string& key : {example().key, std::string{"another"}}) {
        const Replay replay = compare(example(), run_in_which({"fencing", "once"}, key, false));
        EXPECT_EQ(replay.verdict, ReplayVerdict::SameInvariantOtherWay);
        EXPECT_FALSE(replay.same_history);
        EXPECT_TRUE(replay.reproduced());
        EXPECT_EQ(replay.same_key, key == example().key);
    }
}

TEST(FailureTest, WhereOnlyOthersBrokeItIsAnotherInvariant) {
    const Replay replay = compare(example(), run_in_which({"fencing"}, example().key, false));
    EXPECT_EQ(replay.verdict, ReplayVerdict::OtherInvariant);
    EXPECT_FALSE(replay.reproduced());
}

TEST(FailureTest, WhereNothingBrokeThereIsNoFailureAnyMoreEvenByTheSameHistory) {
    for (const bool same_history : {true, false}) {
        const Replay replay = compare(example(), run_in_which({}, "", same_history));
        EXPECT_EQ(replay.verdict, ReplayVerdict::NoFailure);
        EXPECT_EQ(replay.same_history, same_history);
        EXPECT_FALSE(replay.reproduced());
    }
}

TEST(FailureTest, OfABarePlanAnyFailureIsTheSame) {
    EXPECT_EQ(compare(Failure{}, run_in_which({"fencing"}, "k", false)).verdict,
              ReplayVerdict::SameFailure);
}

TEST(FailureTest, AFailureIsMadeFromWhatBroke) {
    FakeRunner runner(
        [](const sim::Plan&, RunResult& result) { fail_checker(result, "fencing", "k"); });
    const RunResult result = runner.run(example().plan, {});
    const Failure failure = failure_of(example().plan, result);
    EXPECT_EQ(failure.invariant, "fencing");
    EXPECT_EQ(failure.key, "k");
    EXPECT_EQ(failure.message, "broken on k");
    EXPECT_EQ(failure.fingerprint, result.fingerprint);
    EXPECT_EQ(compare(failure, result).verdict, ReplayVerdict::SameFailure);
}

}  // namespace
}  // namespace fencepost::scenarios
