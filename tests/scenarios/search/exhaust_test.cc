// Goal: nothing that belongs to an exhaustive search is left out or done twice, and its certificate
// adds up.
#include "scenarios/search/exhaust.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scenarios/search/fault_menu.h"
#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

const Subject kSubject{"same-instant", "reconcile"};

Enumeration fake_enumeration(const Scenario& scenario) {
    return enumerate(scenario, kSubject, reached_by(kSubject.plan(0), fake_runners()()));
}

TEST(ExhaustTest, EveryPointIsStruckByACrashInEveryPhase) {
    const Enumeration all = fake_enumeration(fake_scenario());
    ASSERT_EQ(all.points.size(), 10U);
    for (const ReachedPoint& point : all.points) {
        for (const sim::Phase phase : sim::kPhases) {
            EXPECT_TRUE(std::ranges::any_of(all.plans, [&](const sim::Plan& plan) {
                return !plan.faults.empty() && plan.faults[0].at == point.address &&
                       plan.faults[0].phase == phase &&
                       plan.faults[0].kind == sim::FaultKind::Crash;
            })) << point.address;
        }
    }
}

TEST(ExhaustTest, EachPlanIsThereOnceAndHasAtMostOneFault) {
    const Enumeration all = fake_enumeration(fake_scenario());
    std::set<std::string> texts;
    std::uint64_t without = 0;
    std::uint64_t counted = 1;
    for (const sim::Plan& plan : all.plans) {
        EXPECT_TRUE(texts.insert(sim::to_json(plan)).second) << sim::to_json(plan);
        EXPECT_LE(plan.faults.size(), 1U);
        without += plan.faults.empty() ? 1 : 0;
        EXPECT_NO_THROW(validate(plan)) << sim::to_json(plan);
        EXPECT_EQ(sim::plan_from_json(sim::to_json(plan)), plan);
    }
    EXPECT_EQ(without, 1U);
    for (const KindCount& count : all.kinds) counted += count.plans;
    EXPECT_EQ(counted, all.plans.size());
    EXPECT_EQ(all.kinds.size(), kinds_of(fake_scenario()));
}

TEST(ExhaustTest, KindsStrikeOnlyOperationsThatTheyApplyTo) {
    for (const sim::Plan& plan : fake_enumeration(fake_scenario()).plans) {
        if (plan.faults.empty()) continue;
        const sim::Fault& fault = plan.faults[0];
        if (fault.kind == sim::FaultKind::Duplicate) {
            EXPECT_NE(fault.at.find("/redis."), std::string::npos);
        }
        if (fault.kind == sim::FaultKind::DeadlockVictim) {
            EXPECT_NE(fault.at.find("/db."), std::string::npos);
            EXPECT_EQ(fault.at.find("/db.begin"), std::string::npos);
        }
    }
}

TEST(ExhaustTest, ServersThatTakePartAreStruckAndNoOthers) {
    const FaultMenu menu{*find_scenario("message-twice"), {}, {}};
    std::set<std::string> struck;
    std::set<sim::FaultKind> kinds;
    for (const FaultOption& option : menu.at_point("A", "broker.receive")) {
        kinds.insert(option.fault.kind);
        if (option.fault.kind == sim::FaultKind::Restart) struck.insert(option.fault.party);
    }
    EXPECT_EQ(struck, (std::set<std::string>{"broker", "database"}));
    EXPECT_TRUE(kinds.contains(sim::FaultKind::DuplicateMessage));
    EXPECT_TRUE(kinds.contains(sim::FaultKind::EarlyRedelivery));
    EXPECT_TRUE(kinds.contains(sim::FaultKind::ReorderMessages));
    EXPECT_FALSE(kinds.contains(sim::FaultKind::Failover));
    for (const FaultOption& option : menu.at_point("A", "broker.acknowledge")) {
        EXPECT_NE(option.fault.kind, sim::FaultKind::ReorderMessages);
    }
}

TEST(ExhaustTest, AClientIsCutOffFromNodesAndHasNoLifeOfItsOwn) {
    const FaultMenu menu{*find_scenario("request-twice"), {}, {}};
    std::set<std::string> cut_off_from;
    for (const FaultOption& option : menu.at_point("client", "client.request")) {
        EXPECT_NE(sim::info_of(option.fault.kind).family, sim::FaultFamily::Node);
        if (option.fault.kind == sim::FaultKind::Partition && !option.fault.one_way) {
            cut_off_from.insert(option.fault.to);
        }
    }
    EXPECT_EQ(cut_off_from, (std::set<std::string>{"A", "B"}));
}

TEST(ExhaustTest, PhasesThatACallDoesNotComeToAreLeftOut) {
    const std::vector<ReachedPoint> points{{.address = "A#1/daily@1/db.commit/1",
                                            .node = "A",
                                            .operation = "db.commit",
                                            .at = kFakeStart,
                                            .of_job = true}};
    for (const sim::Plan& plan : enumerate(fake_scenario(), kSubject, {points, {}}).plans) {
        if (plan.faults.empty() || plan.faults[0].at_time) continue;
        EXPECT_LE(plan.faults[0].phase, sim::Phase::Sent);
    }
}

TEST(ExhaustTest, TheCertificateAddsUp) {
    const Scenario scenario = fake_scenario();
    ExhaustOptions options;
    options.search.pool.jobs = 2;
    options.search.make_runner = fake_runners([](const sim::Plan& plan, RunResult& result) {
        if (plan.faults.empty()) return;
        if (plan.faults[0].kind == sim::FaultKind::Evict) result.faults[0] = FaultFate::Inert;
        if (plan.faults[0].kind == sim::FaultKind::Reset) result.faults[0] = FaultFate::Struck;
        if (plan.faults[0].kind == sim::FaultKind::Pause) fail_checker(result, "once", "k");
    });
    const ExhaustResult result = exhaust(scenario, kSubject, options);
    const Certificate& certificate = result.certificate;
    EXPECT_EQ(certificate.points, 10U);
    EXPECT_EQ(certificate.run, certificate.planned);
    EXPECT_EQ(certificate.skipped, 0U);
    const auto of = [&](sim::FaultKind kind) {
        return *std::ranges::find(certificate.kinds, kind, &KindCount::kind);
    };
    EXPECT_EQ(certificate.inert, of(sim::FaultKind::Evict).plans);
    EXPECT_EQ(of(sim::FaultKind::Evict).struck, 0U);
    EXPECT_EQ(of(sim::FaultKind::Reset).struck, of(sim::FaultKind::Reset).plans);
    EXPECT_EQ(of(sim::FaultKind::Reset).took_effect, 0U);
    EXPECT_EQ(certificate.without_effect,
              of(sim::FaultKind::Evict).plans + of(sim::FaultKind::Reset).plans);
    EXPECT_EQ(certificate.violating, of(sim::FaultKind::Pause).plans);
    ASSERT_FALSE(result.search.failures.empty());
    EXPECT_EQ(result.search.failures[0].plan.faults[0].kind, sim::FaultKind::Pause);
}

TEST(ExhaustTest, MoreThanOneFaultIsRefusedWithAClearError) {
    ExhaustOptions options;
    options.faults = 2;
    try {
        (void)exhaust(fake_scenario(), kSubject, options);
        FAIL();
    } catch (const sim::PlanError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "faults: 2 a plan cannot be enumerated; only every plan with 1 fault can (a "
                  "sweep draws plans with several)");
    }
}

}  // namespace
}  // namespace fencepost::scenarios
