// Goal: every value of a file knows its line and column, and hostile input is refused in a
// sentence. Method: small texts by hand, with what makes positions go wrong (comments, numbers,
// characters of several bytes), and one for each bound.
#include "scenarios/files/located_json.h"

#include <gtest/gtest.h>

#include <string>

namespace fencepost::scenarios {
namespace {

FilePosition position(const std::string& text, const std::string& place) {
    const LocatedJson located = parse_located(text);
    const FileValue file{located};
    try {
        file.fail_at_place(place, "here");
    } catch (const ScenarioFileError& error) {
        return error.position();
    }
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(parse_located(text));
    } catch (const ScenarioFileError& error) {
        return error.what();
    }
    return "nothing is wrong";
}

TEST(LocatedJsonTest, AValueKnowsItsLineAndColumn) {
    const std::string text =
        "// A comment, with \"quotes\": 1\n"
        "{ \"a\": 1, \"b\" : [ 10,200 , -3e2],\n"
        "  /* one\n     more */ \"c\":/* here */{\"d\":true/**/,\"e\": null}, \"f\": \"x\\\"y\" "
        "}\n";
    EXPECT_EQ(position(text, ""), (FilePosition{2, 1}));
    EXPECT_EQ(position(text, "a"), (FilePosition{2, 8}));
    EXPECT_EQ(position(text, "b"), (FilePosition{2, 17}));
    EXPECT_EQ(position(text, "b[0]"), (FilePosition{2, 19}));
    EXPECT_EQ(position(text, "b[1]"), (FilePosition{2, 22}));
    EXPECT_EQ(position(text, "b[2]"), (FilePosition{2, 28}));
    EXPECT_EQ(position(text, "c"), (FilePosition{4, 28}));
    EXPECT_EQ(position(text, "c.d"), (FilePosition{4, 33}));
    EXPECT_EQ(position(text, "c.e"), (FilePosition{4, 47}));
    EXPECT_EQ(position(text, "f"), (FilePosition{4, 59}));
}

TEST(LocatedJsonTest, ANumberMayEndAtACommentOrABracket) {
    const std::string text = "[1/* one */,2// two\n,3]";
    EXPECT_EQ(position(text, "[0]"), (FilePosition{1, 2}));
    EXPECT_EQ(position(text, "[1]"), (FilePosition{1, 13}));
    EXPECT_EQ(position(text, "[2]"), (FilePosition{2, 2}));
}

TEST(LocatedJsonTest, ColumnsAreCharactersNotBytes) {
    EXPECT_EQ(position("{\"ä€\": \"ü\", \"b\": 1}", "b"), (FilePosition{1, 18}));
}

TEST(LocatedJsonTest, WhatIsNotThereIsPlacedAtWhatShouldHoldIt) {
    EXPECT_EQ(position("{\n  \"a\": [ {} ] }", "a[0].x.y"), (FilePosition{2, 10}));
}

TEST(LocatedJsonTest, PlacesOfKeysThatAreNoWordsAreQuoted) {
    const LocatedJson located = parse_located("{\"a.b\": 1, \"a\": {\"b\": 2}}");
    const auto members = FileValue{located}.members();
    EXPECT_EQ(members.at(0).value.place(), "[\"a.b\"]");
    EXPECT_EQ(members.at(1).value.find("b")->place(), "a.b");
}

TEST(LocatedJsonTest, WhatIsNoJsonIsRefusedWhereItBeginsNotToBe) {
    EXPECT_EQ(refusal(""),
              "line 1, column 1: the file ends too early: a bracket, a brace, a quote or a "
              "comment is still open");
    EXPECT_EQ(refusal("{\n  \"a\": 1,\n}"),
              "line 2, column 9: no comma may stand before a closing bracket");
    EXPECT_EQ(refusal("{\n  \"a\": 1\n  \"b\": 2\n}"),
              "line 3, column 5: this is not JSON any more: unexpected string literal; expected "
              "'}'");
    EXPECT_EQ(refusal("{} {}"),
              "line 1, column 4: this is not JSON any more: unexpected '{'; expected end of input");
    EXPECT_NE(refusal("{\"a\": \"\xff\"}").find("line 1, column 8: this is not JSON any more"),
              std::string::npos);
}

TEST(LocatedJsonTest, NothingHidesBehindAByteOfZero) {
    EXPECT_EQ(refusal(std::string("{}\n\0 more", 9)),
              "line 2, column 1: a byte of zero is no text");
}

TEST(LocatedJsonTest, AKeyMayNotStandTwiceInAnObject) {
    EXPECT_EQ(refusal("{ \"a\": 1,\n  \"a\": 2 }"),
              "line 2, column 3: the key \"a\" stands twice in this object");
    EXPECT_EQ(refusal("[{\"a\": 1}, {\"a\": 2}]"), "nothing is wrong");
}

TEST(LocatedJsonTest, DepthSizeAndKeysAreBounded) {
    const std::string deep(LocatedJson::kMostLevels, '[');
    EXPECT_EQ(refusal(deep + std::string(LocatedJson::kMostLevels, ']')), "nothing is wrong");
    EXPECT_EQ(refusal(deep + "[]"),
              "line 1, column 65: brackets and braces are nested more than 64 deep");
    EXPECT_EQ(refusal(std::string(100'000, '[')),
              "line 1, column 65: brackets and braces are nested more than 64 deep");
    EXPECT_EQ(refusal(std::string(LocatedJson::kMostBytes + 1, ' ')),
              "line 1, column 1: the file is too large: 1048576 bytes at most");
    std::string many = "{\"a\": 0";
    for (std::size_t i = 1; i <= LocatedJson::kMostKeys; ++i)
        many += ",\"k" + std::to_string(i) + "\":0";
    EXPECT_NE(refusal(many + "}").find("an object has at most 1000 keys"), std::string::npos);
}

}  // namespace
}  // namespace fencepost::scenarios
