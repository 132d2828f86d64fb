// Goal: one instant gives one business key, whoever writes it in whatever notation.
#include "jobs/business_key.h"

#include <date/tz.h>
#include <gtest/gtest.h>

#include "jobs/agenda.h"
#include "jobs/instant_text.h"
#include "model/scheduler/cron_time_zone.h"

namespace fencepost::jobs {
namespace {

using namespace std::chrono_literals;

const WallTime kInstant = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;

TEST(InstantTextTest, OneInstantIsReadFromEveryNotation) {
    for (const char* text :
         {"2026-03-02T18:00:00Z", "2026-03-02T18:00Z", "2026-03-03T02:00:00+08:00",
          "2026-03-03T02:00+0800", "2026-03-03T02:00:00+08", "2026-03-02T14:30:00-03:30",
          "2026-03-02T18:53:28+00:53:28", "2026-03-02T18:00:00.000Z",
          "2026-03-02T18:00:00+00:00"}) {
        const auto read = read_instant(text);
        ASSERT_TRUE(read.has_value()) << read.error();
        EXPECT_EQ(*read, kInstant) << text;
    }
}

TEST(InstantTextTest, DecimalsAreKeptWithPointAndComma) {
    EXPECT_EQ(read_instant("2026-03-02T18:00:00.5Z"), kInstant + 500ms);
    EXPECT_EQ(read_instant("2026-03-03T02:00:00,000000001+08:00"), kInstant + 1ns);
}

TEST(InstantTextTest, ATimeWithoutAnOffsetIsRefusedForItCouldBeAnyInstant) {
    const auto read = read_instant("2026-10-25T02:30:00");
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error(),
              "\"2026-10-25T02:30:00\" is no instant: without an offset from UTC it is another "
              "time in every zone; end it with Z or with an offset such as +08:00");
}

TEST(InstantTextTest, TheOffsetOfAnUnknownZoneIsRefused) {
    const auto read = read_instant("2026-03-02T18:00:00-00:00");
    ASSERT_FALSE(read.has_value());
    EXPECT_NE(read.error().find("the zone is not known"), std::string::npos) << read.error();
}

TEST(InstantTextTest, WhatIsNoInstantIsRefused) {
    for (const char* text :
         {"", "18:00:00Z", "2026-03-02", "2026-02-29T18:00:00Z", "2026-13-02T18:00:00Z",
          "2026-03-02 18:00:00Z", "2026-03-02T24:00:00Z", "2026-03-02T18:60:00Z",
          "2026-03-02T18:00:60Z", "2026-03-02T18:00:00.Z", "2026-03-02T18:00:00.1234567890Z",
          "2026-03-02T18:00:00Zulu", "2026-03-02T18:00:00+8", "2026-03-02T18:00:00+08:0",
          "2026-03-02T18:00:00+08:00[Asia/Shanghai]", "2026-03-02T18:00:00+24:00",
          "2026-03-02T18:00:00+08:60", "2026-3-2T18:00:00Z", "2026-03-02T18Z"}) {
        EXPECT_FALSE(read_instant(text).has_value()) << text;
    }
}

TEST(InstantTextTest, AFireWithoutATextKeepsItsInstant) {
    EXPECT_EQ(as_written({.scheduled_fire_time = kInstant}).scheduled_fire_time, kInstant);
}

TEST(InstantTextTest, AFireWithATextThatCouldMeanTwoInstantsIsRefused) {
    EXPECT_THROW((void)as_written({.scheduled_text = "2026-10-25T02:30:00"}),
                 std::invalid_argument);
}

// Noon of every day of 2026, and each side of every change of the offset in it.
std::vector<std::chrono::sys_seconds> instants_of(const date::time_zone& zone) {
    const std::chrono::sys_seconds begin = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
    const std::chrono::sys_seconds end = std::chrono::sys_days{std::chrono::year{2027} / 1 / 1};
    std::vector<std::chrono::sys_seconds> instants;
    for (auto at = begin + 12h; at < end; at += 24h) instants.push_back(at);
    for (auto change = zone.get_info(begin).end; change < end; change = zone.get_info(change).end) {
        for (const std::chrono::minutes apart : {-60min, -30min, 0min, 30min, 60min}) {
            instants.push_back(change + apart);
        }
        instants.push_back(change - 1s);
    }
    return instants;
}

Fire fire_of(const char* id, std::string text) {
    return {.tenant = "acme",
            .job = "daily-backup",
            .fire_instance_id = id,
            .scheduled_text = std::move(text)};
}

TEST(BusinessKeyTest, IsOneForTwoNodesThatWriteInAnyTwoZonesOfTheSystemAllYear) {
    const auto& zones = date::get_tzdb().zones;
    ASSERT_GT(zones.size(), 300U);
    std::size_t judged = 0;
    auto other = *model::CronTimeZone::find(zones.back().name());
    for (const date::time_zone& known : zones) {
        const auto zone = *model::CronTimeZone::find(known.name());
        for (const auto instant : instants_of(known)) {
            const BusinessKey plain = BusinessKey::of(
                {.tenant = "acme", .job = "daily-backup", .scheduled_fire_time = instant});
            const Fire on_a = as_written(fire_of("A1772474400000", zone.text(instant)));
            const Fire on_b = as_written(fire_of("B1772474400001", other.text(instant)));
            ASSERT_EQ(BusinessKey::of(on_a), plain) << known.name() << " " << zone.text(instant);
            ASSERT_EQ(BusinessKey::of(on_b), plain) << other.name() << " " << other.text(instant);
            ++judged;
        }
        other = zone;
    }
    EXPECT_GT(judged, 365 * zones.size());
}

TEST(BusinessKeyTest, TwoInstantsOfOneLocalTimeHaveTwoKeys) {
    const auto first = as_written(fire_of("A1", "2026-10-25T02:30:00+02:00"));
    const auto second = as_written(fire_of("A2", "2026-10-25T02:30:00+01:00"));
    EXPECT_EQ(second.scheduled_fire_time - first.scheduled_fire_time, 1h);
    EXPECT_NE(BusinessKey::of(first), BusinessKey::of(second));
}

TEST(NotationTest, IsWhatTheLibraryOfTimeZonesWrites) {
    const std::chrono::sys_seconds instant =
        std::chrono::sys_days{std::chrono::year{2026} / 10 / 25} + 90min;
    for (const date::time_zone& known : date::get_tzdb().zones) {
        if (known.get_info(instant).offset == 0s) continue;
        const auto zone = *model::CronTimeZone::find(known.name());
        EXPECT_EQ(zone.text(instant), date::format("%FT%T%Ez", date::make_zoned(&known, instant)));
    }
    EXPECT_EQ(model::CronTimeZone::find("UTC")->text(kInstant + 250ms), "2026-03-02T18:00:00.25Z");
}

// Each hour from 18:00 on.
std::vector<Fire> hourly(WallTime since, WallTime until) {
    std::vector<Fire> planned;
    for (WallTime at = kInstant; at <= until; at += 1h) {
        if (at <= since) continue;
        planned.push_back({.tenant = "acme", .job = "hourly-backup", .scheduled_fire_time = at});
        planned.push_back(
            {.tenant = "globex", .job = "hourly-backup", .scheduled_fire_time = at + 5min});
    }
    return planned;
}

Fire handed_over(WallTime at) {
    return {.tenant = "acme",
            .job = "hourly-backup",
            .fire_instance_id = "A7",
            .scheduled_fire_time = at};
}

TEST(PlannedActTest, AFireInTimeIsItsOwnAct) {
    const auto act = planned_act(hourly, handed_over(kInstant + 1h), 24h);
    ASSERT_TRUE(act.has_value());
    EXPECT_EQ(act->scheduled_fire_time, kInstant + 1h);
    EXPECT_EQ(act->fire_instance_id, "A7");
}

TEST(PlannedActTest, AMisfireIsForTheLatestInstantOfItsOwnTenantThatWasMissed) {
    const auto act = planned_act(hourly, handed_over(kInstant + 1h + 7min), 24h);
    ASSERT_TRUE(act.has_value());
    EXPECT_EQ(act->scheduled_fire_time, kInstant + 1h);
}

TEST(PlannedActTest, AFireBeforeEverythingPlannedIsForNothing) {
    EXPECT_FALSE(planned_act(hourly, handed_over(kInstant - 1ns), 24h).has_value());
}

}  // namespace
}  // namespace fencepost::jobs
