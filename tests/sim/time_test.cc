// Goal: durations and instants are written exactly, read back, and rubbish is refused.
#include "sim/time.h"

#include <gtest/gtest.h>

#include "sim/random.h"

namespace fencepost::sim {
namespace {

TEST(DurationTextTest, IsTheShortestExactOne) {
    EXPECT_EQ(to_text(Duration{0}), "0s");
    EXPECT_EQ(to_text(5s), "5s");
    EXPECT_EQ(to_text(250ms), "250ms");
    EXPECT_EQ(to_text(90s), "1m30s");
    EXPECT_EQ(to_text(25h + 1ns), "25h1ns");
    EXPECT_EQ(to_text(-1500ms), "-1s500ms");
    EXPECT_EQ(to_text(1us), "1us");
}

TEST(DurationTextTest, RoundTripsOverTheWholeRange) {
    const Random random{3};
    for (std::uint64_t i = 0; i < 5000; ++i) {
        const auto count = static_cast<std::int64_t>(random.bits(1, i) >> random.below(63, 2, i));
        for (const Duration duration : {Duration{count}, Duration{-(count / 2)}}) {
            ASSERT_EQ(parse_duration(to_text(duration)), duration) << to_text(duration);
        }
    }
    EXPECT_EQ(parse_duration(to_text(Duration::max())), Duration::max());
    EXPECT_EQ(parse_duration(to_text(Duration::min())), Duration::min());
}

TEST(DurationTextTest, RefusesWhatIsNoDuration) {
    for (const char* text : {"",
                             "-",
                             "5",
                             "s",
                             "s5",
                             "5x",
                             "5 s",
                             " 5s",
                             "5s ",
                             "+5s",
                             "--5s",
                             "1h-3s",
                             "1.5s",
                             "5S",
                             "5s3",
                             "0x5s",
                             "5d",
                             "99999999999999999999ns",
                             "9223372036854775808ns",
                             "2562048h",
                             "2562047h48m",
                             "9223372036854775807ns1ns"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << '"' << text << '"';
    }
}

TEST(InstantTextTest, HasAFractionOnlyWhereThereIsOne) {
    const Time start = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;
    EXPECT_EQ(to_text(start), "2026-03-02T18:00:00Z");
    EXPECT_EQ(to_text(start + 1ms), "2026-03-02T18:00:00.001Z");
    EXPECT_EQ(to_text(start + 1ns), "2026-03-02T18:00:00.000000001Z");
    EXPECT_EQ(to_text(Time{} - 1ns), "1969-12-31T23:59:59.999999999Z");
}

TEST(InstantTextTest, RoundTripsOverTheWholeRange) {
    const Random random{4};
    for (std::uint64_t i = 0; i < 5000; ++i) {
        const Time time{Duration{static_cast<std::int64_t>(random.bits(1, i)) / 100 * 99}};
        ASSERT_EQ(parse_time(to_text(time)), time) << to_text(time);
    }
}

TEST(InstantTextTest, RefusesWhatIsNoInstant) {
    for (const char* text :
         {"", "Z", "2026-03-02", "2026-03-02T18:00:00", "2026-03-02 18:00:00Z",
          "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
          "2026-03-02T24:00:00Z", "2026-03-02T23:60:00Z", "2026-03-02T23:59:60Z",
          "2026-03-02T18:00:00.Z", "2026-03-02T18:00:00.1234567890Z", "2026-03-02T18:00:00.-1Z",
          "2026-03-02T18:00:00Zx", "2026-03-02T18:00:00+01:00", "+026-03-02T18:00:00Z",
          "2026-3-2T18:00:00Z"}) {
        EXPECT_EQ(parse_time(text), std::nullopt) << '"' << text << '"';
    }
}

TEST(InstantTextTest, RefusesYearsThatVirtualTimeDoesNotHold) {
    EXPECT_EQ(parse_time("9999-01-01T00:00:00Z"), std::nullopt);
    EXPECT_EQ(parse_time("0001-01-01T00:00:00Z"), std::nullopt);
    EXPECT_EQ(parse_time("2262-04-12T00:00:00Z"), std::nullopt);
    EXPECT_TRUE(parse_time("2262-04-11T00:00:00Z"));
    EXPECT_TRUE(parse_time("1677-09-22T00:00:00Z"));
}

TEST(InstantTest, ALaterOneThanTheLastIsTheLast) {
    EXPECT_EQ(later(Time{} + 5s, Duration::max()), Time::max());
    EXPECT_EQ(later(Time::max(), 1ns), Time::max());
    EXPECT_EQ(later(Time{} + 5s, 2s), Time{} + 7s);
    EXPECT_EQ(later(Time{} - 5s, Duration::max()), Time::max() - 5s);
}

}  // namespace
}  // namespace fencepost::sim
