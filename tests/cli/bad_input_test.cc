// Goal: whatever is wrong with a command or a file gives exit code 2, one sentence on standard
// error that names the place and says what would be right, nothing on standard output and no file.
//
// Method: a table of command lines, each with a part of the sentence.
#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

struct BadInput {
    std::vector<std::string> words;
    std::string_view says;
};

void expect_refused(const std::vector<std::string>& words, std::string_view says) {
    const Called called = call(words);
    EXPECT_EQ(called.code, 2) << called.err;
    EXPECT_EQ(called.out, "");
    EXPECT_TRUE(called.err.starts_with("fencepost: ")) << called.err;
    EXPECT_EQ(std::ranges::count(called.err, '\n'), 1) << called.err;
    EXPECT_NE(called.err.find(says), std::string::npos) << called.err << "does not say: " << says;
}

TEST(BadInputTest, CommandsAndNames) {
    const Folder folder;
    const std::vector<BadInput> all{
        {{"acept"}, "unknown command \"acept\" (did you mean \"accept\"?)"},
        {{"-x"}, "unknown command \"-x\""},
        {{""}, "unknown command \"\""},
        {{"help", "sweeep"}, "unknown command \"sweeep\" (did you mean \"sweep\"?)"},
        {{"run"}, "run needs SCENARIO"},
        {{"run", "same-instnat"},
         "unknown scenario \"same-instnat\" (did you mean \"same-instant\"?)"},
        {{"run", "a\nb"}, "unknown scenario \"a b\""},
        {{"sweep", std::string(500, 'x')}, "unknown scenario \"xxx"},
        {{"sweep", "same-instant", "--handler", "reconcil"},
         "unknown handler \"reconcil\" (did you mean \"reconcile\"?)"},
        {{"exhaust", "nothing"}, "unknown scenario \"nothing\""},
        {{"accept", "--handler", "nobody"}, "unknown handler \"nobody\""},
        {{"list"}, "list needs WHAT"},
        {{"list", "scenario"}, "unknown list \"scenario\" (did you mean \"scenarios\"?)"},
        {{"version", "1"}, "one word too many"},
    };
    for (const BadInput& input : all) expect_refused(input.words, input.says);
    EXPECT_TRUE(folder.names().empty());
}

TEST(BadInputTest, OptionsAndTheirValues) {
    const Folder folder;
    const std::vector<BadInput> all{
        {{"accept", "--seed", "5"}, "accept has no option \"--seed\" (did you mean \"--seeds\"?)"},
        {{"accept", "--seeds", "0"}, "--seeds: at least 1 seed"},
        {{"accept", "--faults", "4"}, "--faults: \"4\" is not a whole number from 1 to 3"},
        {{"exhaust", "same-instant", "--faults", "0"},
         "--faults: \"0\" is not a whole number from 1 to 3"},
        {{"exhaust", "same-instant", "--faults", "x"}, "--faults: \"x\" is not a whole number"},
        {{"exhaust", "same-instant", "--kinds", "crash,puase"},
         "--kinds: unknown kind of fault \"puase\" (did you mean \"pause\"?)"},
        {{"exhaust", "same-instant", "--resume"}, "--resume: a search goes on from what it has"},
        {{"exhaust", "same-instant", "--set", "acounts=2"},
         "--set: parameters.acounts: unknown parameter \"acounts\" (did you mean \"accounts\"?)"},
        {{"sweep", "same-instant", "--set", "accounts=0"}, "--set: parameters.accounts: 0 is out"},
        {{"run", "same-instant", "--set", "accounts"}, "--set: \"accounts\" sets nothing"},
        {{"run", "same-instant", "--set", "accounts=2,"}, "--set: \"\" sets nothing"},
        {{"run", "same-instant", "--set", "batch=2,batch=3"}, "--set: batch is set twice"},
        {{"sweep", "same-instant", "--seeds", "9..1"}, "9..1 holds no seed"},
        {{"sweep", "same-instant", "--seeds", "18446744073709551616"}, "is not a range of seeds"},
        {{"sweep", "same-instant", "--jobs", "-2"}, "--jobs: \"-2\" is not a whole number"},
        {{"sweep", "same-instant", "--fingerprints", "--json", "-"},
         "--fingerprints prints nothing"},
        {{"run", "same-instant", "--seed", "-1"}, "--seed: \"-1\" is not a seed"},
        {{"run", "same-instant", "--seed", "1", "--plan", "f"}, "either --seed or --plan"},
        {{"run", "same-instant", "--trace=yes"}, "--trace takes no value"},
        {{"run", "same-instant", "--json", "-", "--trace-json", "-"},
         "--json and --trace-json cannot both go to standard output"},
    };
    for (const BadInput& input : all) expect_refused(input.words, input.says);
    EXPECT_TRUE(folder.names().empty());
}

TEST(BadInputTest, OutputsThatCannotBeWrittenAreFoundBeforeAnyRun) {
    const Folder folder;
    const std::string file = folder.write("file", "x");
    const std::vector<BadInput> all{
        {{"run", "same-instant", "--json", "none/x.json"},
         "cannot write none/x.json: the folder none does not exist"},
        {{"run", "same-instant", "--seed", "3", "--json", "none/x.json"},
         "cannot write none/x.json"},
        {{"run", "same-instant", "--trace-json", "."}, "cannot write .: Is a directory"},
        {{"sweep", "same-instant", "--seeds", "1000000000", "--json", "none/x"},
         "cannot write none/x"},
        {{"sweep", "same-instant", "--seeds", "1000000000", "--out", "file"},
         "cannot make the folder file"},
        {{"sweep", "same-instant", "--seeds", "1000000000", "--out", "file/below"},
         "cannot make the folder file/below: Not a directory"},
        {{"exhaust", "same-instant", "--out", "file"}, "cannot make the folder file"},
        {{"accept", "--seeds", "1000000000", "--json", "none/x"}, "cannot write none/x"},
        {{"list", "handlers", "--json", "none/x"}, "cannot write none/x"},
    };
    for (const BadInput& input : all) expect_refused(input.words, input.says);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
}

TEST(BadInputTest, NoOutputTakesThePlaceOfAnotherOrOfWhatIsRead) {
    const Folder folder;
    const std::string failure = FENCEPOST_SOURCE_DIR "/corpus/lock-only.once.same-instant.json";
    std::filesystem::copy(failure, "f.json");
    std::filesystem::create_directory("d");
    const std::vector<BadInput> all{
        {{"accept", "--seeds", "1000000000", "--json", "x", "--junit", "d/../x"},
         "--json and --junit cannot both go to d/../x; give one of them another file"},
        {{"accept", "--seeds", "1000000000", "--sarif", "x", "--html", "./x"},
         "--sarif and --html cannot both go to ./x"},
        {{"run", "same-instant", "--json", "x", "--trace-json", "x"},
         "--json and --trace-json cannot both go to x"},
        {{"run", "same-instant", "--plan", "f.json", "--json", "f.json"},
         "--json: f.json is the file to read, and would be lost; name another"},
        {{"replay", "f.json", "--trace-json", "./f.json"}, "--trace-json: ./f.json is the file to"},
        {{"explain", "f.json", "--html", "f.json"}, "--html: f.json is the file to read"},
        {{"shrink", "f.json", "--json", "f.json"}, "--json: f.json is the file to read"},
        {{"shrink", "f.json", "--json", "x", "--out", "x"}, "--json and --out cannot both go to x"},
    };
    for (const BadInput& input : all) expect_refused(input.words, input.says);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"d", "f.json"}));
    EXPECT_EQ(call({"shrink", "f.json", "--out", "f.json"}).code, 1);
    EXPECT_EQ(call({"replay", "f.json", "--json", "/dev/null", "--trace-json", "/dev/null"}).code,
              1);
}

TEST(BadInputTest, WhatCannotBeWrittenIsToldAfterTheResult) {
    const Folder folder;
    const std::string failure = FENCEPOST_SOURCE_DIR "/corpus/lock-only.once.same-instant.json";
    const std::vector<BadInput> all{
        {{"sweep", "same-instant", "--seeds", "5", "--json", "/dev/full"}, "all invariants held"},
        {{"accept", "--seeds", "1", "--handler", "lock-only", "--junit", "/dev/full", "--html",
          "page.html"},
         "an invariant broke"},
        {{"replay", failure, "--json", "/dev/full"}, "the same failure"},
        {{"explain", failure, "--html", "/dev/full"}, "What happened"},
        {{"shrink", failure, "--out", "/dev/full"}, "\"faults\": ["},
    };
    for (const BadInput& input : all) {
        const Called called = call(input.words);
        EXPECT_EQ(called.code, 2) << called.err;
        EXPECT_NE(called.err.find("cannot write /dev/full: No space left on device"),
                  std::string::npos)
            << called.err;
        EXPECT_NE(called.out.find(input.says), std::string::npos) << called.out;
    }
    EXPECT_TRUE(std::filesystem::exists("page.html"));
}

TEST(BadInputTest, WhatIsWrongIsToldOnOneShortLineWithoutControlCharacters) {
    const Folder folder;
    folder.write("f.json", R"({"scenario": "same-instant", "handler": "a\u001b[31m\nb"})");
    expect_refused({"replay", "f.json"}, "unknown handler \"a [31m b\"");
    folder.write("own.json", R"({"name": "own", "jobs": [{"job": "j", "schedule": {"cron": ")" +
                                 std::string(100'000, '0') + R"(", "zone": "Asia/Tokyo"}}]})");
    expect_refused({"run", "./own.json"}, "cron expression");
    for (const std::string command : {"check", "run"})
        EXPECT_LT(call({command, "./own.json"}).err.size(), 2'200U);
}

TEST(BadInputTest, AFolderIsNoProfile) {
    const Folder folder;
    expect_refused({"sweep", "same-instant", "--profile", "."},
                   "this is a folder, not a file; give gentle, default, harsh or the file");
}

struct BadFile {
    std::string text;
    std::string_view says;
};

TEST(BadInputTest, PlansNameTheFileAndThePlace) {
    const Folder folder;
    const std::string crash = R"("at": "A#1/*/db.commit/1", "do": "crash")";
    const auto plan = [](const std::string& faults) {
        return R"({"scenario": "same-instant", "handler": "reconcile", "faults": [)" + faults +
               "]}";
    };
    const std::vector<BadFile> all{
        {"", "f.json: line 1, column 1: "},
        {"not json", "f.json: line 1, column "},
        {R"({"scenario": "same-instant",)", "f.json: line 1, column "},
        {"[]", "f.json: "},
        {"{}", "f.json: "},
        {R"({"scenario": "same-instant", "sed": 1})", "sed: unknown key; known here are"},
        {R"({"scenario": 3})", "scenario: a text in quotes"},
        {R"({"scenario": "same-instant", "seed": -1})", "seed: "},
        {R"({"scenario": "same-instant", "seed": "x"})", "seed: \"x\" is not a seed"},
        {R"({"scenario": "same-instant", "handler": "nobody"})", "handler: unknown handler"},
        {R"({"scenario": "same-instant", "parameters": {"acounts": 5}})",
         "parameters.acounts: unknown parameter \"acounts\" (did you mean \"accounts\"?)"},
        {R"({"scenario": "same-instant", "parameters": {"accounts": -5}})",
         "parameters.accounts: -5 is out of range"},
        {R"({"scenario": "holder-leaves"})",
         "f.json: this plan is for the scenario \"holder-leaves\", not \"same-instant\""},
        {plan(R"({"do": "explode"})"), "faults[0].do: \"explode\" is not a fault"},
        {plan("{" + crash + R"(, "for": "5s"})"), "faults[0].for: unknown key"},
        {plan("{" + crash + R"(, "restart_after": "5 parsecs"})"),
         "faults[0].restart_after: \"5 parsecs\" is not a duration"},
        {plan("{" + crash + R"(, "restart_after": "-5s"})"), "a negative duration makes no sense"},
        {plan("{" + crash + "}, {" + R"("at": "C#1/*/db.commit/1", "do": "crash"})"),
         "faults[1].at: unknown node \"C\""},
        {plan(R"({"at": "A#1/*/db.comit/1", "do": "crash"})"),
         "faults[0].at: unknown operation \"db.comit\" (did you mean \"db.commit\"?)"},
        {plan(R"({"at": "here", "do": "crash"})"), "faults[0].at: \"here\" is not a fault point"},
        {plan(R"({"at_time": "soon", "do": "crash", "node": "A"})"),
         "faults[0].at_time: \"soon\" is not an instant"},
        {R"({"fencepost": 2})", "fencepost: version 2 of failure files is not known"},
        {R"({"fencepost": 1, "invariant": "once"})", "the failure: \"plan\" is missing"},
    };
    for (const BadFile& file : all) {
        std::ignore = folder.write("f.json", file.text);
        expect_refused({"run", "same-instant", "--plan", "f.json"}, file.says);
    }
    for (const std::string command : {"replay", "shrink"}) {
        std::ignore = folder.write("f.json", plan(R"({"do": "explode"})"));
        expect_refused({command, "f.json"}, "f.json: faults[0].do: \"explode\" is not a fault");
        std::ignore = folder.write("f.json", R"({"scenario": "nothing"})");
        expect_refused({command, "f.json"}, "f.json: scenario: unknown scenario \"nothing\"");
        expect_refused({command, "none.json"}, "cannot read none.json: No such file or directory");
        expect_refused({command, "."}, "cannot read .: Is a directory");
        expect_refused({command}, command + " needs FAILURE.json");
    }
    expect_refused({"replay", "f.json", "--step", "--trace"},
                   "--step and --trace do not go together");
    expect_refused({"run", "same-instant", "--plan", "none.json"}, "cannot read none.json");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"f.json"});
}

TEST(BadInputTest, AFullStandardOutputIsAnError) {
    std::ostringstream err;
    std::ofstream full{"/dev/full"};
    const std::array arguments{"fencepost", "help"};
    EXPECT_EQ(fencepost_main(arguments, full, err), 2);
    EXPECT_EQ(err.str(), "fencepost: cannot write to standard output\n");
}

TEST(BadInputTest, NoCommandAtAllShowsTheHelpAsAnError) {
    const Called called = call({});
    EXPECT_EQ(called.code, 2);
    EXPECT_EQ(called.out, "");
    EXPECT_NE(called.err.find("fencepost COMMAND"), std::string::npos);
}

TEST(BadInputTest, APlanOfMoreFaultsThanARunTakesIsRefused) {
    const Folder folder;
    const std::string crash = R"({"at": "A#1/*/db.commit/1", "do": "crash"})";
    std::string faults = crash;
    for (int i = 1; i < 10'000; ++i) faults += ", " + crash;
    folder.write("f.json", R"({"scenario": "same-instant", "handler": "reconcile", "faults": [)" +
                               faults + "]}");
    for (const std::string command : {"replay", "explain", "shrink"}) {
        expect_refused({command, "f.json"},
                       "f.json: faults: 10000 are too many; a plan has at most 9999");
    }
}

}  // namespace
}  // namespace fencepost::cli
