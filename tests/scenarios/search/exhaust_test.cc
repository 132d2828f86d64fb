// Goal: nothing that belongs to an exhaustive search is left out or done twice, its certificate
// adds up, and it is the same whatever happens on the way.
//
// Method: a stand-in for the runner, which is fast and breaks what the test wants broken.
#include "scenarios/search/exhaust.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "scenarios/search/exhaust_batch.h"
#include "scenarios/search/exhaust_session.h"
#include "scenarios/search/fault_menu.h"
#include "tests/scenarios/search/fake_runner.h"

namespace fencepost::scenarios {
namespace {

const Subject kSubject{"same-instant", "reconcile"};

std::vector<sim::Plan> one_fault_plans(const Scenario& scenario) {
    return plans_after(scenario, kSubject, kSubject.plan(0), fake_runners()());
}

// A search with few kinds of faults: some ten thousand plans with two.
ExhaustOptions small_search(int faults, const Break& breaks = {}) {
    ExhaustOptions options;
    options.faults = faults;
    options.kinds = {sim::FaultKind::Crash, sim::FaultKind::Evict};
    options.search.pool.jobs = 2;
    options.search.make_runner = fake_runners(breaks);
    return options;
}

bool has_kind(const sim::Plan& plan, sim::FaultKind kind) {
    return std::ranges::find(plan.faults, kind, &sim::Fault::kind) != plan.faults.end();
}

// A plan that has both breaks "once".
void break_with_crash_and_eviction(const sim::Plan& plan, RunResult& result) {
    if (has_kind(plan, sim::FaultKind::Crash) && has_kind(plan, sim::FaultKind::Evict))
        fail_checker(result, "once", "k");
}

void expect_same(const ExhaustResult& a, const ExhaustResult& b) {
    EXPECT_EQ(a.certificate.planned, b.certificate.planned);
    EXPECT_EQ(a.certificate.run, b.certificate.run);
    EXPECT_EQ(a.certificate.skipped, b.certificate.skipped);
    EXPECT_EQ(a.certificate.equal, b.certificate.equal);
    EXPECT_EQ(a.certificate.kinds, b.certificate.kinds);
    EXPECT_EQ(a.certificate.further_points, b.certificate.further_points);
    EXPECT_EQ(a.search.totals, b.search.totals);
    ASSERT_EQ(a.search.failures.size(), b.search.failures.size());
    for (std::size_t i = 0; i < a.search.failures.size(); ++i) {
        EXPECT_EQ(a.search.failures[i].run, b.search.failures[i].run);
        EXPECT_EQ(a.search.failures[i].plan, b.search.failures[i].plan);
    }
}

// --- the plans

TEST(ExhaustTest, EveryPointIsStruckByACrashInEveryPhase) {
    const std::vector<sim::Plan> plans = one_fault_plans(fake_scenario());
    std::set<std::string> addresses;
    for (const sim::Plan& plan : plans) {
        if (!plan.faults[0].at_time) addresses.insert(plan.faults[0].at);
    }
    ASSERT_EQ(addresses.size(), 10U);
    for (const std::string& address : addresses) {
        for (const sim::Phase phase : sim::kPhases) {
            EXPECT_TRUE(std::ranges::any_of(plans, [&](const sim::Plan& plan) {
                return plan.faults[0].at == address && plan.faults[0].phase == phase &&
                       plan.faults[0].kind == sim::FaultKind::Crash;
            })) << address;
        }
    }
}

TEST(ExhaustTest, EachPlanIsThereOnceAndHasOneFaultOfEachKindSomewhere) {
    std::set<std::string> texts;
    std::set<sim::FaultKind> kinds;
    for (const sim::Plan& plan : one_fault_plans(fake_scenario())) {
        EXPECT_TRUE(texts.insert(sim::to_json(plan)).second) << sim::to_json(plan);
        EXPECT_EQ(plan.faults.size(), 1U);
        kinds.insert(plan.faults[0].kind);
        EXPECT_NO_THROW(validate(plan)) << sim::to_json(plan);
        EXPECT_EQ(sim::plan_from_json(sim::to_json(plan)), plan);
    }
    EXPECT_EQ(kinds.size(), kinds_of(fake_scenario()));
}

TEST(ExhaustTest, KindsStrikeOnlyOperationsThatTheyApplyTo) {
    for (const sim::Plan& plan : one_fault_plans(fake_scenario())) {
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
    sim::History history;
    history.clear();
    const sim::PartyId node = history.add_party("A");
    const sim::TaskId job = history.add_task({"daily@1", node, 1, sim::kNoTask});
    const sim::RecordId call =
        history.append(kFakeStart, node, job, sim::kNoRecord, sim::CallStarted{"db.commit", 1, ""});
    history.note_phase(call, sim::Phase::Before);
    history.note_phase(call, sim::Phase::Sent);
    const Scenario scenario = fake_scenario();
    const NextFaults next = NextFaultFinder{scenario, kSubject}.after(kSubject.plan(0), history);
    std::set<sim::Phase> phases;
    for (const sim::Fault& fault : next.faults) {
        if (!fault.at_time) phases.insert(fault.phase);
    }
    EXPECT_EQ(phases, (std::set{sim::Phase::Before, sim::Phase::Sent}));
}

TEST(ExhaustTest, SecondFaultsStrikeWhereTheFirstDidAndLaterAndAtPointsThatOnlyItMakes) {
    const Scenario scenario = fake_scenario();
    sim::Plan plan = kSubject.plan(0);
    sim::Fault crash;
    crash.kind = sim::FaultKind::Crash;
    crash.at = "B#1/daily@1/db.execute/1";
    crash.phase = sim::Phase::Applied;
    plan.faults.push_back(crash);
    std::set<std::string> places;
    for (const sim::Plan& two : plans_after(scenario, kSubject, plan, fake_runners()())) {
        ASSERT_EQ(two.faults.size(), 2U);
        EXPECT_EQ(two.faults[0], crash);
        if (!two.faults[1].at_time)
            places.insert(two.faults[1].at + " " + std::string(name_of(two.faults[1].phase)));
    }
    EXPECT_EQ(places, (std::set<std::string>{
                          "B#1/daily@1/db.execute/1 applied", "B#1/daily@1/db.execute/1 after",
                          "B#1/daily@1/db.commit/1 before", "B#1/daily@1/db.commit/1 sent",
                          "B#1/daily@1/db.commit/1 applied", "B#1/daily@1/db.commit/1 after",
                          "B#1/check-in/db.query/1 before", "B#1/check-in/db.query/1 sent",
                          "B#1/check-in/db.query/1 applied", "B#1/check-in/db.query/1 after",
                          "B#2/daily@1/db.query/1 before", "B#2/daily@1/db.query/1 sent",
                          "B#2/daily@1/db.query/1 applied", "B#2/daily@1/db.query/1 after"}));
}

TEST(ExhaustTest, NothingFollowsAFaultThatNeverStruck) {
    sim::Plan plan = kSubject.plan(0);
    plan.faults.emplace_back().at = "A#7/daily@1/db.commit/1";
    EXPECT_TRUE(plans_after(fake_scenario(), kSubject, plan, fake_runners()()).empty());
}

// --- one fault

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
    EXPECT_EQ(certificate.planned, 1 + one_fault_plans(scenario).size());
    EXPECT_EQ(certificate.run, certificate.planned);
    EXPECT_EQ(certificate.skipped, 0U);
    EXPECT_TRUE(certificate.equal.empty());
    const auto of = [&](sim::FaultKind kind) {
        return *std::ranges::find(certificate.kinds, kind, &KindCount::kind);
    };
    EXPECT_EQ(certificate.inert, of(sim::FaultKind::Evict).planned);
    EXPECT_FALSE(certificate.complete());  // faults were planned in vain
    EXPECT_EQ(of(sim::FaultKind::Evict).struck, 0U);
    EXPECT_EQ(of(sim::FaultKind::Reset).struck, of(sim::FaultKind::Reset).planned);
    EXPECT_EQ(of(sim::FaultKind::Reset).took_effect, 0U);
    EXPECT_EQ(certificate.without_effect,
              of(sim::FaultKind::Evict).planned + of(sim::FaultKind::Reset).planned);
    EXPECT_EQ(certificate.violating, of(sim::FaultKind::Pause).planned);
    ASSERT_FALSE(result.search.failures.empty());
    EXPECT_EQ(result.search.failures[0].plan.faults[0].kind, sim::FaultKind::Pause);
}

TEST(ExhaustTest, ASearchOfSomeKindsSaysSoAndHasNoOthers) {
    const ExhaustResult result = exhaust(fake_scenario(), kSubject, small_search(1));
    EXPECT_FALSE(result.certificate.all_kinds);
    EXPECT_TRUE(result.certificate.complete());
    ASSERT_EQ(result.certificate.kinds.size(), 2U);
    EXPECT_EQ(result.certificate.kinds[0].kind, sim::FaultKind::Crash);
    EXPECT_EQ(result.certificate.kinds[1].kind, sim::FaultKind::Evict);
}

TEST(ExhaustTest, MoreFaultsThanCanBeEnumeratedAreRefusedWithAClearError) {
    ExhaustOptions options;
    options.faults = 4;
    try {
        (void)exhaust(fake_scenario(), kSubject, options);
        FAIL();
    } catch (const sim::PlanError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "faults: 4 a plan cannot be enumerated; 1 to 3 can (a sweep draws plans with "
                  "more)");
    }
}

// --- two faults and three

TEST(ExhaustTest, TwoFaultsAreEveryFirstWithEverythingThatFollowsIt) {
    const Scenario scenario = fake_scenario();
    const ExhaustOptions options = small_search(2, break_with_crash_and_eviction);
    std::uint64_t planned = 1;
    std::uint64_t violating = 0;
    NextFaultFinder finder{scenario, kSubject, options.kinds};
    const PlanRunner runner = fake_runners()();
    const Branching firsts = branching_of(kSubject.plan(0), finder, runner);
    for (std::uint64_t first = 1; first < firsts.items(); ++first) {
        const Branching seconds = branching_of(firsts.item(first), finder, runner);
        planned += seconds.items();
        for (std::uint64_t second = 1; second < seconds.items(); ++second) {
            RunResult result;
            result.judgements.push_back({"once", checkers::Verdict::Pass, "", {}});
            break_with_crash_and_eviction(seconds.item(second), result);
            violating += result.failed() ? 1 : 0;
        }
    }
    ExhaustOptions all = options;
    all.leave_out_equals = false;
    const ExhaustResult result = exhaust(scenario, kSubject, all);
    EXPECT_EQ(result.certificate.planned, planned);
    EXPECT_EQ(result.certificate.run, planned);
    EXPECT_EQ(result.certificate.violating, violating);
    EXPECT_GT(violating, 0U);
    EXPECT_GT(result.certificate.further_points, 0U);
    EXPECT_TRUE(result.certificate.complete());
    // The plan of a failing run is the one that its number stands for.
    ASSERT_FALSE(result.search.failures.empty());
    for (const FoundFailure& failure : result.search.failures) {
        EXPECT_TRUE(has_kind(failure.plan, sim::FaultKind::Crash));
        EXPECT_TRUE(has_kind(failure.plan, sim::FaultKind::Evict));
    }
    EXPECT_EQ(result.search.failures[0].run.item, result.search.totals.checkers[0].first_failed);
}

TEST(ExhaustTest, WhatIsFoundDoesNotDependOnTheNumberOfWorkers) {
    ExhaustOptions options = small_search(2, break_with_crash_and_eviction);
    const ExhaustResult two = exhaust(fake_scenario(), kSubject, options);
    options.search.pool.jobs = 1;
    expect_same(two, exhaust(fake_scenario(), kSubject, options));
    options.search.pool.jobs = 5;
    expect_same(two, exhaust(fake_scenario(), kSubject, options));
    options.search.pool.in_process = true;
    expect_same(two, exhaust(fake_scenario(), kSubject, options));
}

TEST(ExhaustTest, LeavingOutEqualsLeavesOutNoFailureOfOthers) {
    ExhaustOptions options = small_search(2, break_with_crash_and_eviction);
    const ExhaustResult some = exhaust(fake_scenario(), kSubject, options);
    options.leave_out_equals = false;
    const ExhaustResult all = exhaust(fake_scenario(), kSubject, options);
    EXPECT_EQ(some.certificate.planned, all.certificate.planned);
    EXPECT_EQ(some.certificate.kinds.size(), all.certificate.kinds.size());
    std::uint64_t left_out = 0;
    for (const auto& [why, plans] : some.certificate.equal) left_out += plans;
    // In the stand-in's world no key is there before the first node has set it.
    EXPECT_GT(left_out, 0U);
    EXPECT_EQ(some.certificate.run + left_out, all.certificate.run);
}

TEST(ExhaustTest, ThreeFaultsAreTwoWithEverythingThatFollowsThem) {
    ExhaustOptions options = small_search(3);
    options.kinds = {sim::FaultKind::Evict};
    options.leave_out_equals = false;
    const Scenario scenario = fake_scenario();
    const ExhaustResult result = exhaust(scenario, kSubject, options);
    // In the stand-in's world an eviction makes no further points: with n places there are
    // 1 + n plans of at most one fault, n (n + 1) / 2 of two, n (n + 1) (n + 2) / 6 of three.
    const std::uint64_t n = 20;
    EXPECT_EQ(result.certificate.planned, 1 + n + n * (n + 1) / 2 + n * (n + 1) * (n + 2) / 6);
    EXPECT_TRUE(result.certificate.complete());
    EXPECT_EQ(result.search.totals.of(sim::FaultKind::Evict).planned,
              n + n * (n + 1) + n * (n + 1) * (n + 2) / 2);
}

TEST(ExhaustTest, AHandlerThatDiesOfASecondFaultIsFoundAndTheOtherPlansAreStillRun) {
    const std::string place = "B#1/daily@1/db.commit/1";
    const auto dies = [place](const sim::Plan& plan) {
        return plan.faults.size() == 2 && plan.faults[0].kind == sim::FaultKind::Evict &&
               plan.faults[0].at == place && plan.faults[0].phase == sim::Phase::Before &&
               plan.faults[1].kind == sim::FaultKind::Crash && plan.faults[1].at == place &&
               plan.faults[1].phase == sim::Phase::Sent && !plan.faults[1].restart_after;
    };
    ExhaustOptions options = small_search(2);
    const ExhaustResult whole = exhaust(fake_scenario(), kSubject, options);
    options.search.make_runner = fake_runners([dies](const sim::Plan& plan, RunResult&) {
        if (dies(plan)) ::raise(SIGKILL);
    });
    const ExhaustResult result = exhaust(fake_scenario(), kSubject, options);
    ASSERT_EQ(result.search.mishaps.size(), 1U);
    EXPECT_TRUE(dies(result.search.mishaps[0].plan));
    EXPECT_EQ(result.certificate.skipped, 1U);
    EXPECT_FALSE(result.certificate.complete());
    EXPECT_EQ(result.certificate.planned, whole.certificate.planned);
    EXPECT_EQ(result.certificate.run, whole.certificate.run - 1);
    EXPECT_EQ(result.certificate.equal, whole.certificate.equal);
}

TEST(ExhaustTest, AClaimOfEqualityThatDoesNotHoldIsNotBelieved) {
    const Scenario scenario = fake_scenario();
    const ExhaustOptions options = small_search(2);
    NextFaultFinder finder{scenario, kSubject, options.kinds};
    Branching branching = branching_of(kSubject.plan(0), finder, fake_runners()());
    const auto crash =
        std::ranges::find(branching.faults, sim::FaultKind::Crash, &sim::Fault::kind);
    const auto index = static_cast<std::size_t>(crash - branching.faults.begin());
    branching.equal[index] = {Equal::NodeIsDown, EqualPlan::kWithout};
    const auto session = exhaust_session(scenario, kSubject, options, branching, Depth::Further);
    EXPECT_THROW(session->run(index + 1), sim::BrokenInvariant);
}

// --- going on

class ExhaustStateTest : public testing::Test {
protected:
    ExhaustStateTest() {
        std::string name = (std::filesystem::temp_directory_path() / "exhaust-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = name;
    }
    ~ExhaustStateTest() override { std::filesystem::remove_all(folder_); }

    static ExhaustOptions without_state() {
        ExhaustOptions options = small_search(2, break_with_crash_and_eviction);
        options.kinds.push_back(sim::FaultKind::Pause);
        return options;
    }
    [[nodiscard]] ExhaustOptions options() const {
        ExhaustOptions options = without_state();
        options.plans_between_notes = 200;
        options.state_file = (folder_ / "state").string();
        options.resume = true;
        return options;
    }

    std::filesystem::path folder_;
};

TEST_F(ExhaustStateTest, AStoppedSearchThatGoesOnGivesWhatOneInOneGoGives) {
    ExhaustOptions options = this->options();
    const ExhaustResult whole = exhaust(fake_scenario(), kSubject, without_state());
    std::uint64_t parts = 0;
    ExhaustResult part;
    do {
        options.most_plans = ++parts * 1'000;
        part = exhaust(fake_scenario(), kSubject, options);
        if (part.certificate.cut_short) {
            EXPECT_FALSE(part.certificate.complete());
            EXPECT_GT(part.certificate.skipped, 0U);
        }
    } while (part.certificate.cut_short && parts < 100);
    EXPECT_GT(parts, 2U);
    expect_same(whole, part);
    EXPECT_TRUE(part.certificate.complete());
    // What is complete is not done again.
    options.search.make_runner = fake_runners([](const sim::Plan& plan, RunResult&) {
        if (!plan.faults.empty()) ::raise(SIGKILL);
    });
    expect_same(whole, exhaust(fake_scenario(), kSubject, options));
}

TEST_F(ExhaustStateTest, AKilledSearchThatGoesOnGivesWhatOneInOneGoGives) {
    const ExhaustOptions options = this->options();
    const ExhaustResult whole = exhaust(fake_scenario(), kSubject, without_state());
    int kills = 0;
    for (int attempt = 0; attempt < 10; ++attempt) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            (void)exhaust(fake_scenario(), kSubject, options);
            ::_exit(0);
        }
        ::usleep(static_cast<useconds_t>(40'000 + 35'000 * attempt));
        ::kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        kills += WIFSIGNALED(status) ? 1 : 0;
    }
    EXPECT_GT(kills, 0);
    expect_same(whole, exhaust(fake_scenario(), kSubject, options));
}

TEST_F(ExhaustStateTest, TheStateOfAnotherSearchIsRefused) {
    ExhaustOptions options = this->options();
    (void)exhaust(fake_scenario(), kSubject, options);
    options.faults = 1;
    try {
        (void)exhaust(fake_scenario(), kSubject, options);
        FAIL();
    } catch (const sim::PlanError& error) {
        EXPECT_NE(std::string(error.what()).find("its faults is 2 and not 1"), std::string::npos)
            << error.what();
    }
    options.resume = false;  // begins anew
    EXPECT_TRUE(exhaust(fake_scenario(), kSubject, options).certificate.complete());
}

TEST_F(ExhaustStateTest, AStateThatIsBrokenIsRefused) {
    const ExhaustOptions options = this->options();
    for (const std::string text :
         {"", "{", "[]", R"({"fencepost_exhaust": 1})", R"({"fencepost_exhaust": 99})"}) {
        std::ofstream(options.state_file) << text;
        EXPECT_THROW((void)exhaust(fake_scenario(), kSubject, options), sim::PlanError) << text;
    }
    std::filesystem::remove(options.state_file);
    (void)exhaust(fake_scenario(), kSubject, options);
    std::ifstream file(options.state_file);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (const std::string_view at : {"\"sum\": \"", "\"items\": ", "\"branching\": "}) {
        std::string changed = text;
        const std::size_t digit = text.find(at) + at.size();
        changed[digit] = changed[digit] == '0' ? '1' : '0';
        std::ofstream(options.state_file) << changed;
        EXPECT_THROW((void)exhaust(fake_scenario(), kSubject, options), sim::PlanError) << at;
    }
    std::ofstream(options.state_file) << text;
    EXPECT_TRUE(exhaust(fake_scenario(), kSubject, options).certificate.complete());
}

TEST_F(ExhaustStateTest, AStateThatCannotBeWrittenIsToldOnceAndNothingIsLost) {
    ExhaustOptions options = this->options();
    options.state_file = (folder_ / "none" / "state").string();
    EXPECT_THROW((void)exhaust(fake_scenario(), kSubject, options), sim::PlanError);
    std::vector<std::string> told;
    options.not_noted = [&](const std::string& why) { told.push_back(why); };
    EXPECT_TRUE(exhaust(fake_scenario(), kSubject, options).certificate.complete());
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("cannot be written"), std::string::npos) << told[0];
}

}  // namespace
}  // namespace fencepost::scenarios
