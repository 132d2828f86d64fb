// Goal: a profile bounds what random plans draw, a plan says all that was drawn, and a file that is
// no profile is refused with the place and what would be right.
#include "scenarios/search/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scenarios/search/random_plan.h"
#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;

std::vector<sim::Plan> plans_of(const Profile& profile, std::uint64_t seeds = 1000) {
    const Scenario scenario = fake_scenario();
    const Subject subject{"same-instant", "reconcile", {}, profile};
    const PlanSource source(scenario, subject, catalogue_of(scenario, subject, fake_runners()()));
    std::vector<sim::Plan> plans;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) plans.push_back(source.draw(seed));
    return plans;
}

std::vector<sim::Plan> plans_of(std::string_view json) {
    return plans_of(profile_from_json(json));
}

TEST(ProfileTest, TheDefaultIsWhatIsDrawnWithoutOne) {
    EXPECT_EQ(plans_of(*find_profile("default")), plans_of(Profile{}));
    EXPECT_TRUE(find_profile("default")->is_default());
    EXPECT_FALSE(find_profile("harsh")->is_default());
    EXPECT_EQ(find_profile("hrash"), nullptr);
}

TEST(ProfileTest, GentleIsGentlerThanTheDefaultAndHarshIsHarder) {
    const auto faults = [](std::string_view name) {
        std::size_t count = 0;
        for (const sim::Plan& plan : plans_of(*find_profile(name))) count += plan.faults.size();
        return count;
    };
    EXPECT_LT(2 * faults("gentle"), faults("default"));
    EXPECT_GT(faults("harsh"), 2 * faults("default"));
}

TEST(ProfileTest, PlansHaveAsManyFaultsAsItSays) {
    std::set<std::size_t> sizes;
    for (const sim::Plan& plan :
         plans_of(R"({"profile": "p", "faults": {"without": 0, "least": 2, "most": 4}})"))
        sizes.insert(plan.faults.size());
    EXPECT_EQ(sizes, (std::set<std::size_t>{2, 3, 4}));
    for (const sim::Plan& plan : plans_of(R"({"profile": "p", "faults": {"without": 100}})"))
        EXPECT_TRUE(plan.faults.empty());
}

TEST(ProfileTest, AFamilyAtNoPercentIsNeverDrawnAndOneAtAHundredIsAlwaysOn) {
    for (const sim::Plan& plan : plans_of(
             R"({"profile": "p", "families": {"node": 100, "call": 0, "network": 0, "server": 0,
                 "clock": 0, "scheduler": 0}})")) {
        for (const sim::Fault& fault : plan.faults)
            EXPECT_EQ(sim::info_of(fault.kind).family, sim::FaultFamily::Node);
    }
    const auto none = plans_of(
        R"({"profile": "p", "families": {"node": 0, "call": 0, "network": 0, "server": 0,
            "clock": 0, "scheduler": 0}})");
    for (const sim::Plan& plan : none) EXPECT_TRUE(plan.faults.empty());
}

TEST(ProfileTest, DurationsStayWithinItsBounds) {
    std::size_t lasting = 0;
    for (const sim::Plan& plan :
         plans_of(R"({"profile": "p", "durations": {"least": "100ms", "most": "20s"}})")) {
        for (const sim::Fault& fault : plan.faults) {
            if (!fault.lasting) continue;
            ++lasting;
            EXPECT_GE(*fault.lasting, 100ms);
            EXPECT_LE(*fault.lasting, 20s);
        }
    }
    EXPECT_GT(lasting, 100U);
}

TEST(ProfileTest, ClocksAndLatenciesAreOffFromTheStart) {
    std::size_t offsets = 0;
    std::size_t latencies = 0;
    for (const sim::Plan& plan : plans_of(
             R"({"profile": "p", "faults": {"without": 100},
                 "clock_offsets": {"percent": 50, "most": "300ms"},
                 "latencies": {"percent": 100, "most": "20ms"}})")) {
        for (const sim::Fault& fault : plan.faults) {
            ASSERT_TRUE(fault.at_time);
            EXPECT_LT(*fault.at_time, kFakeStart + 1s);
            EXPECT_NE(*fault.by, 0s);
            if (fault.kind == sim::FaultKind::ClockJump) {
                ++offsets;
                EXPECT_LE(std::chrono::abs(*fault.by), 300ms);
            } else {
                EXPECT_EQ(fault.kind, sim::FaultKind::Slow);
                ++latencies;
                EXPECT_LE(*fault.by, 20ms);
                EXPECT_GT(*fault.lasting, 1min);
            }
        }
        EXPECT_NO_THROW(validate(plan));
        EXPECT_EQ(sim::plan_from_json(sim::to_json(plan)), plan);
    }
    EXPECT_EQ(latencies, 2000U);
    EXPECT_GT(offsets, 800U);
    EXPECT_LT(offsets, 1200U);
}

TEST(ProfileTest, ParametersAreDrawnWhereTheScenarioHasThemAndNobodySetThem) {
    const std::string_view kProfile =
        R"({"profile": "p", "parameters": {"accounts": [1, 3], "start_ups": [1, 2]}})";
    std::set<std::int64_t> accounts;
    for (const sim::Plan& plan : plans_of(kProfile)) {
        EXPECT_FALSE(plan.parameters.contains("start_ups"));
        accounts.insert(plan.parameters.at("accounts"));
    }
    EXPECT_EQ(accounts, (std::set<std::int64_t>{1, 2, 3}));
    const Scenario scenario = fake_scenario();
    const Subject subject{
        "same-instant", "reconcile", {{"accounts", 4}}, profile_from_json(kProfile)};
    const PlanSource source(scenario, subject, catalogue_of(scenario, subject, fake_runners()()));
    EXPECT_EQ(source.draw(1).parameters.at("accounts"), 4);
}

TEST(ProfileTest, ItsJsonGivesTheSameProfile) {
    for (const std::string_view name : {"gentle", "default", "harsh"}) {
        const Profile& profile = *find_profile(name);
        EXPECT_EQ(profile_from_json(to_json(profile)), profile) << to_json(profile);
    }
}

std::string error_of(std::string_view json) {
    try {
        (void)profile_from_json(json);
    } catch (const sim::PlanError& error) {
        return error.what();
    }
    return "";
}

TEST(ProfileTest, WhatIsNoProfileIsRefusedWithThePlaceAndWhatWouldBeRight) {
    EXPECT_EQ(error_of(R"({"profile": "p", "fault": {}})"),
              "fault: unknown key; known here are profile, faults, families, durations, "
              "clock_offsets, latencies, parameters");
    EXPECT_EQ(error_of(R"({})"), "profile: a name in quotes is expected here, for reports");
    EXPECT_EQ(error_of(R"({"profile": "p", "faults": {"most": 21}})"),
              "faults.most: 21 is no whole number from 1 to 20");
    EXPECT_EQ(error_of(R"({"profile": "p", "faults": {"least": 3, "most": 2}})"),
              "faults.most: 2 is less than the 3 of faults.least");
    EXPECT_EQ(error_of(R"({"profile": "p", "families": {"nodes": 10}})"),
              "families.nodes: unknown family (did you mean \"node\"?); known are node, call, "
              "network, server, clock, scheduler, broker, operator");
    EXPECT_EQ(error_of(R"({"profile": "p", "durations": {"most": 5}})"),
              "durations.most: 5 is no duration such as \"200ms\" or \"15s\"");
    EXPECT_EQ(error_of(R"({"profile": "p", "latencies": {"percent": 5}})"),
              "latencies: \"most\" is missing");
    EXPECT_EQ(error_of(R"({"profile": "p", "parameters": {"accounts": [4, 2]}})"),
              "parameters.accounts: 4 to 2 is empty; the least comes first");
    EXPECT_TRUE(error_of(R"({"profile": "p", "parameters": {"acounts": [1, 2]}})")
                    .starts_with("parameters.acounts: no scenario has this parameter (did you mean "
                                 "\"accounts\"?); known are "));
    EXPECT_EQ(error_of(R"({"profile": "harsh"})"),
              "profile: \"harsh\" is a profile of the program; name it otherwise");
    EXPECT_EQ(error_of(R"({"profile": "p", "latencies": {"percent": 5, "most": "2h"}})"),
              "latencies.most: a duration from 1ms to 1h is expected here");
    EXPECT_EQ(error_of("{"), "line 1, column 2: the file ends too early; it may have been cut off");
    EXPECT_EQ(error_of(R"({"profile": "p", "profile": "q"})"),
              "the file: the key \"profile\" stands twice in one object");
}

TEST(ProfileTest, AFileThatIsNotThereIsNamedWithTheProfilesThatAre) {
    try {
        (void)read_profile("no-such-file");
        FAIL();
    } catch (const sim::PlanError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("no-such-file")) << text;
        EXPECT_NE(text.find("gentle, default, harsh"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace fencepost::scenarios
