// Goal: fencepost exhaust ends with a certificate that says what it claims, and goes on where it
// was stopped.
//
// Method: real scenarios and few kinds of faults, so that two of them are some hundred plans.
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

const std::vector<std::string> kSmall{"exhaust", "same-instant",     "--faults", "2",
                                      "--kinds", "refuse,duplicate", "--set",    "accounts=2"};

std::vector<std::string> small_with(const std::vector<std::string>& more) {
    std::vector<std::string> words = kSmall;
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(ExhaustCommandTest, TwoFaultsEndWithACertificate) {
    const Folder folder;
    const Called called = call(small_with({"--json", "j"}));
    EXPECT_TRUE(contains(called.out, "CERTIFICATE: every plan with at most 2 faults\n"))
        << called.out << called.err;
    EXPECT_TRUE(contains(called.out,
                         "same-instant, handler reconcile, seed 0, parameters "
                         "accounts=2"))
        << called.out;
    EXPECT_TRUE(contains(called.out, "duplicate, refuse alone")) << called.out;
    const Json certificate = Json::parse(folder.read("j"))["certificate"];
    EXPECT_EQ(certificate["complete"], true);
    EXPECT_EQ(certificate["skipped"], 0);
    EXPECT_EQ(certificate["never_struck"], 0);
    EXPECT_EQ(certificate["violating"], 0);
    EXPECT_EQ(certificate["parameters"], "accounts=2");
    std::uint64_t planned = certificate["run"].get<std::uint64_t>();
    for (const Json& equal : certificate["equal"]) planned += equal["plans"].get<std::uint64_t>();
    EXPECT_EQ(certificate["planned"], planned);
    EXPECT_GT(planned, 50U);
    EXPECT_FALSE(certificate["fencepost"].get<std::string>().empty());
}

TEST(ExhaustCommandTest, AMistakeThatBreaksHasACertificateOfItsViolations) {
    const Folder folder;
    const Called called = call(
        {"exhaust", "same-instant", "--handler", "no-claim", "--kinds", "refuse", "--json", "j"});
    EXPECT_EQ(called.code, 1) << called.out << called.err;
    const Json certificate = Json::parse(folder.read("j"))["certificate"];
    EXPECT_EQ(certificate["complete"], true);
    EXPECT_GT(certificate["violating"], 0);
}

TEST(ExhaustCommandTest, ACompleteSearchIsNotDoneAgain) {
    const Folder folder;
    Json first;
    Json second;
    (void)call(small_with({"--out", "d", "--json", "first"}));
    first = Json::parse(folder.read("first"));
    ASSERT_TRUE(std::filesystem::exists("d/exhaust-same-instant-reconcile-2.state"));
    (void)call(small_with({"--out", "d", "--resume", "--json", "second"}));
    second = Json::parse(folder.read("second"));
    first["certificate"].erase("seconds");
    second["certificate"].erase("seconds");
    EXPECT_EQ(first, second);
}

TEST(ExhaustCommandTest, TheStateOfOtherParametersIsRefused) {
    const Folder folder;
    (void)call(small_with({"--out", "d"}));
    const Called called = call({"exhaust", "same-instant", "--faults", "2", "--kinds",
                                "refuse,duplicate", "--out", "d", "--resume"});
    EXPECT_EQ(called.code, 2);
    EXPECT_TRUE(contains(called.err, "this is the state of another search: its parameters is"))
        << called.err;
}

TEST(ExhaustCommandTest, ParametersAreThoseOfTheRun) {
    const Json few =
        Json::parse(call({"run", "same-instant", "--set", "accounts=1", "--json", "-"}).out);
    EXPECT_EQ(few["plan"]["parameters"], Json({{"accounts", 1}}));
    EXPECT_TRUE(contains(few["replay"], " --set accounts=1")) << few["replay"];
    const Json many = Json::parse(call({"run", "same-instant", "--json", "-"}).out);
    EXPECT_LT(few["records"], many["records"]);
}

}  // namespace
}  // namespace fencepost::cli
