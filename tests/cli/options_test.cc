// Goal: values of options are taken exactly or refused with a sentence that says what is right.
#include "cli/options.h"

#include <gtest/gtest.h>

#include <tuple>

#include "cli/command_error.h"

namespace fencepost::cli {
namespace {

Arguments parse(std::string_view command, const std::vector<const char*>& words) {
    return {*find_command(command), words};
}

std::string error_of(std::string_view command, const std::vector<const char*>& words) {
    try {
        const Arguments arguments = parse(command, words);
        std::ignore = arguments.seeds("seeds");
        std::ignore = arguments.seed("seed");
        std::ignore = arguments.number("jobs", 1, 256);
        std::ignore = arguments.text("json");
    } catch (const CommandError& error) {
        return error.what();
    }
    return "no error";
}

std::optional<SeedRange> seeds(const char* text) {
    return parse("sweep", {"same-instant", "--seeds", text}).seeds("seeds");
}

TEST(OptionsTest, SeedsAreARangeOrANumberOfThem) {
    EXPECT_EQ(seeds("1..1000"), (SeedRange{1, 1000}));
    EXPECT_EQ(seeds("0..0"), (SeedRange{0, 0}));
    EXPECT_EQ(seeds("50"), (SeedRange{1, 50}));
    EXPECT_EQ(seeds("0x10..0x1f"), (SeedRange{16, 31}));
    EXPECT_EQ(seeds("18446744073709551615..18446744073709551615"),
              (SeedRange{UINT64_MAX, UINT64_MAX}));
    EXPECT_EQ(parse("sweep", {"same-instant"}).seeds("seeds"), std::nullopt);
}

TEST(OptionsTest, RangesThatHoldNothingOrTooMuchAreRefused) {
    EXPECT_EQ(error_of("sweep", {"s", "--seeds", "5..2"}),
              "--seeds: 5..2 holds no seed; write the smaller one first");
    EXPECT_EQ(error_of("sweep", {"s", "--seeds", "0"}), "--seeds: at least 1 seed is needed");
    EXPECT_EQ(error_of("sweep", {"s", "--seeds", "0..18446744073709551615"}),
              "--seeds: more than 1000000000000 seeds are too many for one command");
    for (const char* text : {"x", "1..", "..2", "1...2", "-1..2", "1..-2", "+1", "1.5", " 1",
                             "18446744073709551616", "0x", "1..2..3"}) {
        EXPECT_EQ(error_of("sweep", {"s", "--seeds", text}),
                  std::string("--seeds: \"") + (*text == ' ' ? "1" : text) +
                      "\" is not a range of seeds; write A..B such as 1..1000, or N for 1..N");
    }
}

TEST(OptionsTest, NumbersHaveBounds) {
    EXPECT_EQ(parse("sweep", {"s", "--jobs=2"}).number("jobs", 1, 256), 2U);
    for (const char* text : {"0", "257", "-1", "two", "1e3", "99999999999999999999"}) {
        EXPECT_EQ(error_of("sweep", {"s", "--jobs", text}),
                  std::string("--jobs: \"") + text + "\" is not a whole number from 1 to 256");
    }
}

TEST(OptionsTest, OptionsAndOperandsComeInAnyOrder) {
    const Arguments arguments = parse("sweep", {"--jobs", "2", "same-instant", "--verify"});
    EXPECT_EQ(arguments.operand(), "same-instant");
    EXPECT_TRUE(arguments.has("verify"));
    EXPECT_FALSE(arguments.has("json"));
}

TEST(OptionsTest, ADashIsAValue) {
    EXPECT_EQ(parse("sweep", {"s", "--json", "-"}).text("json"), "-");
}

TEST(OptionsTest, WhatIsMissingTwiceOrTooMuchIsSaid) {
    EXPECT_EQ(error_of("sweep", {}), "sweep needs SCENARIO; see fencepost help sweep");
    EXPECT_EQ(error_of("sweep", {"a", "b"}),
              "sweep: \"b\" is one word too many; see fencepost help sweep");
    EXPECT_EQ(error_of("accept", {"a"}),
              "accept: \"a\" is one word too many; see fencepost help accept");
    EXPECT_EQ(error_of("sweep", {"s", "--jobs"}), "--jobs needs a value; see fencepost help sweep");
    EXPECT_EQ(error_of("sweep", {"s", "--json="}),
              "--json needs a value; see fencepost help sweep");
    EXPECT_EQ(error_of("sweep", {"s", "--jobs", "1", "--jobs", "2"}),
              "--jobs is given twice; once is enough");
    EXPECT_EQ(error_of("sweep", {"s", "--verify=yes"}), "--verify takes no value");
}

TEST(OptionsTest, UnknownOptionsComeWithTheNearestOne) {
    EXPECT_EQ(
        error_of("sweep", {"s", "--seed", "1"}),
        "sweep has no option \"--seed\" (did you mean \"--seeds\"?); see fencepost help sweep");
    EXPECT_EQ(error_of("sweep", {"s", "--bananas"}),
              "sweep has no option \"--bananas\"; see fencepost help sweep");
    EXPECT_EQ(error_of("sweep", {"s", "-x"}),
              "sweep has no option \"-x\"; see fencepost help sweep");
    EXPECT_EQ(error_of("sweep", {"s", "--job", "2"}),
              "sweep has no option \"--job\" (did you mean \"--jobs\"?); see fencepost help sweep");
}

TEST(OptionsTest, EveryCommandHasHelp) {
    const std::string all = help_text();
    for (const CommandSpec& command : all_commands()) {
        EXPECT_NE(all.find("\n  " + std::string(command.name)), std::string::npos);
        const std::string help = help_text(command);
        for (const OptionSpec& option : command.options)
            EXPECT_NE(help.find("--" + std::string(option.name)), std::string::npos);
    }
}

}  // namespace
}  // namespace fencepost::cli
