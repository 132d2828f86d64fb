// Goal: text stays aligned, within the page, and free of what could confuse a terminal.
#include "reports/layout.h"

#include <gtest/gtest.h>

namespace fencepost::reports {
namespace {

TEST(LayoutTest, WidthCountsCharactersAndNotBytes) {
    EXPECT_EQ(width_of("abc"), 3U);
    EXPECT_EQ(width_of("a\u2026\u00e9"), 3U);
}

TEST(LayoutTest, ControlCharactersCannotLeaveTheLine) {
    EXPECT_EQ(on_one_line("SELECT 1\n  FROM t\t\x1b[2J"), "SELECT 1 FROM t [2J");
    EXPECT_EQ(on_one_line("  a  "), "a");
    EXPECT_EQ(on_one_line(""), "");
}

TEST(LayoutTest, ShorteningKeepsWholeCharacters) {
    EXPECT_EQ(shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(shortened("abcdefg", 6), "abc...");
    EXPECT_EQ(shortened("\u00e9\u00e9\u00e9\u00e9\u00e9", 4), "\u00e9...");
}

TEST(LayoutTest, WrappingBreaksAtBlanksAndLeavesLongWordsWhole) {
    EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(wrapped("a incomprehensible b", 5),
              (std::vector<std::string>{"a", "incomprehensible", "b"}));
    EXPECT_EQ(wrapped("", 5), (std::vector<std::string>{""}));
}

TEST(LayoutTest, NumbersAreGroupedByThousands) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(1234567), "1,234,567");
    EXPECT_EQ(counted(1, "run", "runs"), "1 run");
    EXPECT_EQ(counted(2000, "run", "runs"), "2,000 runs");
}

TEST(LayoutTest, FieldsWrapBelowTheirText) {
    std::string out;
    add_field(out, "what", "x " + std::string(91, 'y') + " z", 6);
    EXPECT_EQ(out, "  what  x\n        " + std::string(91, 'y') + "\n        z\n");
}

TEST(LayoutTest, TableColumnsAreAsWideAsTheirWidestLine) {
    Table table{{{.heading = {"", "#"}, .right = true}, {.heading = {"two", "lines"}, .most = 8}}};
    table.add_row({{"1"}, {"short"}});
    table.add_row({{"10"}, {"wraps at blanks"}});
    EXPECT_EQ(table.text(),
              "    two\n"
              " #  lines\n"
              " 1  short\n"
              "10  wraps at\n"
              "    blanks\n");
}

TEST(LayoutTest, ColourTakesNoRoomAndIsThereOnlyWhenAskedFor) {
    Table table{{{}, {}}};
    table.add_row({{"pass", Ink::Good}, {"x"}});
    table.add_row({{"unknown", Ink::Doubt}, {"y"}});
    EXPECT_EQ(table.text(), "pass     x\nunknown  y\n");
    EXPECT_EQ(table.text({.color = true}),
              "\x1b[32mpass\x1b[0m     x\n\x1b[33munknown\x1b[0m  y\n");
}

}  // namespace
}  // namespace fencepost::reports
