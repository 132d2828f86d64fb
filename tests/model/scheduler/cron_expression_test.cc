// What texts are cron expressions, what they allow, and how the others are refused.
#include "model/scheduler/cron_expression.h"

#include <gtest/gtest.h>

#include <ostream>

namespace fencepost::model {
namespace {

CronFields fields_of(std::string_view text) {
    const auto parsed = CronExpression::parse(text);
    EXPECT_TRUE(parsed.has_value()) << text << ": " << parsed.error().text();
    return parsed ? parsed->fields() : CronFields{};
}

std::uint64_t bits(std::initializer_list<int> values) {
    std::uint64_t set = 0;
    for (const int value : values) set |= std::uint64_t{1} << value;
    return set;
}

TEST(CronExpressionTest, AStarIsEveryValue) {
    const CronFields fields = fields_of("* * * * * ?");
    EXPECT_EQ(fields.seconds, (std::uint64_t{1} << 60) - 1);
    EXPECT_EQ(fields.hours, (std::uint64_t{1} << 24) - 1);
    EXPECT_EQ(fields.days, ((std::uint64_t{1} << 32) - 1) & ~std::uint64_t{1});
    EXPECT_TRUE(fields.years.all());
    EXPECT_FALSE(fields.by_week_day);
}

TEST(CronExpressionTest, ListsRangesAndStepsAddUp) {
    const CronFields fields = fields_of("0,30 5-8,40/10 8-18/5 ? JAN,7 MON-FRI 2026-2030/2");
    EXPECT_EQ(fields.seconds, bits({0, 30}));
    EXPECT_EQ(fields.minutes, bits({5, 6, 7, 8, 40, 50}));
    EXPECT_EQ(fields.hours, bits({8, 13, 18}));
    EXPECT_EQ(fields.months, bits({1, 7}));
    EXPECT_EQ(fields.week_days, bits({2, 3, 4, 5, 6}));
    EXPECT_TRUE(fields.by_week_day);
    EXPECT_EQ(fields.years.count(), 3U);
}

TEST(CronExpressionTest, ARangeGoesOnBeyondTheLastValue) {
    EXPECT_EQ(fields_of("0 0 22-2 * * ?").hours, bits({22, 23, 0, 1, 2}));
    EXPECT_EQ(fields_of("0 0 0 ? * FRI-MON").week_days, bits({6, 7, 1, 2}));
    EXPECT_EQ(fields_of("0 0 0 ? NOV-FEB *").months, bits({11, 12, 1, 2}));
    EXPECT_EQ(fields_of("0 50-10/10 0 * * ?").minutes, bits({50, 0, 10}));
    EXPECT_EQ(fields_of("0 0 0 30-2 * ?").days, bits({30, 31, 1, 2}));
}

TEST(CronExpressionTest, ASlashWithoutAValueStartsAtTheFirst) {
    EXPECT_EQ(fields_of("/20 0 0 * * ?").seconds, bits({0, 20, 40}));
    EXPECT_EQ(fields_of("0 0 0 */10 * ?").days, bits({1, 11, 21, 31}));
}

TEST(CronExpressionTest, LettersAreOfEitherCase) {
    EXPECT_EQ(fields_of("0 0 0 ? jan mOn").months, bits({1}));
    EXPECT_TRUE(fields_of("0 0 0 l * ?").last_day);
}

TEST(CronExpressionTest, SpecialDaysOfTheMonth) {
    EXPECT_TRUE(fields_of("0 0 0 L * ?").last_day);
    EXPECT_EQ(fields_of("0 0 0 L-3 * ?").before_last_day, 3);
    EXPECT_TRUE(fields_of("0 0 0 LW * ?").nearest_working_day);
    EXPECT_TRUE(fields_of("0 0 0 L-3W * ?").nearest_working_day);
    EXPECT_TRUE(fields_of("0 0 0 15W * ?").nearest_working_day);
    EXPECT_EQ(fields_of("0 0 0 15W * ?").days, bits({15}));
}

TEST(CronExpressionTest, SpecialDaysOfTheWeek) {
    EXPECT_EQ(fields_of("0 0 0 ? * L").week_days, bits({7}));
    EXPECT_FALSE(fields_of("0 0 0 ? * L").last_of_week_day);
    EXPECT_TRUE(fields_of("0 0 0 ? * 6L").last_of_week_day);
    EXPECT_EQ(fields_of("0 0 0 ? * FRIL").week_days, bits({6}));
    EXPECT_EQ(fields_of("0 0 0 ? * 6#3").nth_of_week_day, 3);
    EXPECT_EQ(fields_of("0 0 0 ? * TUE#5").nth_of_week_day, 5);
}

struct Refused {
    std::string_view text;
    std::size_t position;
    std::string_view sentence;  // a part of it
};
void PrintTo(const Refused& refused, std::ostream* out) {
    *out << refused.text;
}

class CronRefusalTest : public testing::TestWithParam<Refused> {};

TEST_P(CronRefusalTest, NamesThePlaceAndWhatWouldBeRight) {
    const auto parsed = CronExpression::parse(GetParam().text);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().position, GetParam().position) << parsed.error().sentence;
    EXPECT_NE(parsed.error().sentence.find(GetParam().sentence), std::string::npos)
        << parsed.error().sentence;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, CronRefusalTest,
    testing::Values(
        Refused{"", 1, "seconds is missing"}, Refused{"0 0 2 * *", 10, "day of week is missing"},
        Refused{"0 0 2 * * ? 2026 x", 18, "nothing follows the year"},
        Refused{"60 0 2 * * ?", 1, "60 is out of range: seconds takes 0 to 59"},
        Refused{"0 0 24 * * ?", 5, "hours takes 0 to 23"},
        Refused{"0 0 0 0 * ?", 7, "day of month takes 1 to 31"},
        Refused{"0 0 0 ? 13 *", 9, "month takes 1 to 12 or JAN to DEC"},
        Refused{"0 0 0 ? * 8", 11, "day of week takes 1 to 7 or SUN to SAT"},
        Refused{"0 0 0 ? * MOO", 11, "'MOO' is no day of week: 1 to 7 or SUN to SAT"},
        Refused{"0 0 0 ? JANUARY *", 12, "'U' does not belong here: month takes"},
        Refused{"0 0 0 * * ? 1969", 13, "year takes 1970 to 2199"},
        Refused{"0 0 0 * * ? 2030-2026", 18, "the years of a range ascend"},
        Refused{"0 0 0 * * *", 11, "one of day of month and day of week must be '?'"},
        Refused{"0 0 0 ? * ?", 11, "cannot both be '?'"},
        Refused{"? 0 0 * * ?", 1, "seconds may say '*'"},
        Refused{"0 0 0 1,? * ?", 9, "'?' stands alone"},
        Refused{"0/0 0 0 * * ?", 3, "a step of seconds is 1 to 59"},
        Refused{"0 0/60 0 * * ?", 5, "a step of minutes is 1 to 59"},
        Refused{"0 0 0/ * * ?", 7, "'/' is followed by a step"},
        Refused{"0 0 0 ? * MON-FRI/2", 18, "Quartz ignores one after a name"},
        Refused{"0 0 0 ? * MON-6", 15, "two names or two numbers"},
        Refused{"0 0 1,,2 * * ?", 7, "',' does not belong here"},
        Refused{"0 0 1, * * ?", 7, "a value is missing"},
        Refused{"0 0 1- * * ?", 7, "a value is missing"},
        Refused{"0 0 *5 * * ?", 6, "'5' does not belong here"},
        Refused{"0 0 L * * ?", 5, "'L' is for day of month and day of week only"},
        Refused{"0 0 0 L,15 * ?", 8, "nothing follows 'L'"},
        Refused{"0 0 0 1,L * ?", 9, "'L' stands alone"},
        Refused{"0 0 0 L-31 * ?", 9, "at most 30 days"},
        Refused{"0 0 0 L-28W * ?", 9, "at most 27 days"},
        Refused{"0 0 0 L- * ?", 9, "a number of days, as in L-3"},
        Refused{"0 0 0 1,15W * ?", 11, "'W' follows the only day"},
        Refused{"0 0 0 32W * ?", 7, "day of month takes 1 to 31"},
        Refused{"0 0 0 ? * 6W", 12, "'W' is for day of month only"},
        Refused{"0 0 0 ? * 6#6", 13, "'#' is followed by 1 to 5"},
        Refused{"0 0 0 ? * 6#3,2", 14, "nothing follows '6#3'"},
        Refused{"0 0 0 ? * 2,6L", 14, "'L' follows the only day of its field, as in 6L"},
        Refused{"0 0 0 ? * 2-6#3", 14, "'#' follows the only day of its field, as in 6#3"},
        Refused{"0 0 0 6#3 * ?", 8, "'#' is for day of week only"}));

}  // namespace
}  // namespace fencepost::model
