// Goal: what an exhaustive search takes for granted is so. A plan with a further fault runs as the
// plan without it until that strikes; it does strike; and plans that are left out as equal to
// others do what those do.
//
// Method: real scenarios and a sample of their plans, run in full and compared record by record.
#include "scenarios/search/equal_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>

#include "model/events.h"
#include "scenarios/runner.h"
#include "scenarios/search/exhaust_session.h"
#include "scenarios/search/next_faults.h"

namespace fencepost::scenarios {
namespace {

struct Seen {
    std::uint64_t history = 0;  // but for the records of faults
    std::vector<checkers::Verdict> verdicts;
    sim::RunEnd end{};

    bool operator==(const Seen&) const = default;
};

class EqualPlansTest : public testing::Test {
protected:
    Seen see(const sim::Plan& plan) {
        const RunResult result = runner_.run(plan, {});
        Seen seen{fingerprint_without_faults(runner_.history()), {}, result.end};
        for (const checkers::Judgement& judgement : result.judgements)
            seen.verdicts.push_back(judgement.verdict);
        return seen;
    }
    Branching branch(const Scenario& scenario, const sim::Plan& plan) {
        NextFaultFinder finder{scenario, {scenario.name, scenario.handlers.front()}};
        return branching_of(plan, finder, plain_);
    }
    static sim::Plan plain(const Scenario& scenario) {
        return Subject{scenario.name, scenario.handlers.front()}.plan(0);
    }
    // The plan that an item of a branching is said to be equal to.
    static sim::Plan twin(const Branching& branching, std::size_t fault) {
        const std::size_t to = branching.equal[fault].to;
        return to == EqualPlan::kWithout ? branching.plan : branching.item(to + 1);
    }

    Runner runner_;
    PlanRunner plain_ = fresh_runner();
};

TEST_F(EqualPlansTest, SecondFaultsStrikeAndChangeNothingBeforeTheyDo) {
    std::uint64_t compared = 0;
    for (const Scenario& scenario : all_scenarios()) {
        const Branching firsts = branch(scenario, plain(scenario));
        RunOptions options;
        options.keep_fingerprints = true;
        for (std::size_t first = 0; first < firsts.faults.size(); first += 331) {
            const Branching seconds = branch(scenario, firsts.item(first + 1));
            (void)runner_.run(seconds.plan, options);
            const std::vector<std::uint64_t> before = runner_.history().fingerprints();
            for (std::size_t second = 0; second < seconds.faults.size(); second += 173) {
                const sim::Plan plan = seconds.item(second + 1);
                const RunResult result = runner_.run(plan, options);
                ASSERT_NE(result.faults[1], FaultFate::Inert) << sim::to_json(plan);
                const sim::History& history = runner_.history();
                sim::RecordId strike = 0;
                for (int strikes = 0; strikes < 2; ++strike) {
                    if (history.kind_of(strike) != sim::FaultStruck::kKind) continue;
                    EXPECT_EQ(history[strike].as<sim::FaultStruck>()->index, strikes);
                    ++strikes;
                }
                --strike;
                // What is pending keeps a run from its end; until then it is the same.
                const std::size_t same = std::min<std::size_t>(strike, before.size());
                const auto end = std::ranges::mismatch(
                    std::span{before}.first(same), std::span{history.fingerprints()}.first(same));
                if (!plan.faults[1].at_time) {
                    EXPECT_EQ(end.in1, std::span{before}.first(same).end()) << sim::to_json(plan);
                }
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 200U);
}

TEST_F(EqualPlansTest, WhatIsLeftOutDoesWhatItsEqualDoes) {
    std::map<Equal, int> seen;
    for (const std::string name : {"same-instant", "same-instant-clustered", "redis-fails"}) {
        const Scenario& scenario = *find_scenario(name);
        const Branching firsts = branch(scenario, plain(scenario));
        for (std::size_t first = 0; first < firsts.faults.size(); first += 47) {
            const Branching seconds = branch(scenario, firsts.item(first + 1));
            std::map<Equal, int> of_this;
            for (std::size_t second = 0; second < seconds.faults.size(); ++second) {
                const Equal why = seconds.equal[second].why;
                if (why == Equal::Unknown || of_this[why]++ % 37 != 0) continue;
                ++seen[why];
                EXPECT_EQ(see(seconds.item(second + 1)), see(twin(seconds, second)))
                    << reason_of(why) << "\n"
                    << sim::to_json(seconds.item(second + 1));
            }
        }
    }
    for (const Equal why : {Equal::NothingToEvict, Equal::NodeIsDown, Equal::NodeIsStopping,
                            Equal::ServerIsDown, Equal::NothingToLose, Equal::NothingUnsynced}) {
        EXPECT_GE(seen[why], 5) << reason_of(why);
    }
}

TEST_F(EqualPlansTest, WhatFollowsAnEqualDoesWhatFollowsTheOther) {
    int compared = 0;
    for (const std::string name : {"same-instant", "redis-fails"}) {
        const Scenario& scenario = *find_scenario(name);
        const Branching firsts = branch(scenario, plain(scenario));
        int equals = 0;
        for (std::size_t first = 0; first < firsts.faults.size(); ++first) {
            if (firsts.equal[first].why == Equal::Unknown || equals++ % 17 != 0) continue;
            const Branching seconds = branch(scenario, firsts.item(first + 1));
            const sim::Plan other = twin(firsts, first);
            for (std::size_t second = 0; second < seconds.faults.size(); second += 97) {
                sim::Plan after_other = other;
                after_other.faults.push_back(seconds.faults[second]);
                EXPECT_EQ(see(seconds.item(second + 1)), see(after_other))
                    << sim::to_json(seconds.item(second + 1));
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 200);
}

// --- what must not be taken for equal

// A history of Redis's keys, as the rules read it.
class KeyHistory {
public:
    KeyHistory() {
        history_.clear();
        redis_ = history_.add_party("redis");
        node_ = history_.add_party("A");
        task_ = history_.add_task({"daily@1", node_, 1, sim::kNoTask});
    }
    void change(model::KeyChangeKind kind, std::string_view before, std::string_view after) {
        history_.append(at_, redis_, sim::kNoTask, sim::kNoRecord,
                        model::KeyChanged{kind, "k", before, after, 0});
    }
    void pass(sim::Duration duration) { at_ += duration; }
    // Why the fault, struck now, needs no run.
    [[nodiscard]] Equal why(sim::Fault fault) {
        NextFaults next;
        fault.at = "A#1/daily@1/db.commit/1";
        history_.append(at_, node_, task_, sim::kNoRecord, sim::TaskStarted{true});
        sim::Fault keeps_all = fault;
        keeps_all.keep = "all";
        next.faults = {fault, keeps_all};
        next.strikes.assign(2, static_cast<sim::RecordId>(history_.size()));
        return equal_plans({}, history_, next)[0].why;
    }

private:
    sim::History history_;
    sim::Time at_ = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2};
    sim::PartyId redis_ = 0;
    sim::PartyId node_ = 0;
    sim::TaskId task_ = 0;
};

sim::Fault eviction() {
    sim::Fault fault;
    fault.kind = sim::FaultKind::Evict;
    fault.party = "redis";
    fault.key = "k";
    return fault;
}

sim::Fault restart(const std::string& keep) {
    sim::Fault fault;
    fault.kind = sim::FaultKind::Restart;
    fault.party = "redis";
    fault.lasting = std::chrono::milliseconds{500};
    fault.keep = keep;
    return fault;
}

using model::KeyChangeKind;

TEST(EqualPlansRulesTest, AKeyIsThereFromItsFirstChangeToItsLast) {
    KeyHistory keys;
    EXPECT_EQ(keys.why(eviction()), Equal::NothingToEvict);
    EXPECT_EQ(keys.why(restart("none")), Equal::NothingToLose);
    keys.change(KeyChangeKind::Set, "", "1:A");
    EXPECT_EQ(keys.why(eviction()), Equal::Unknown);
    EXPECT_EQ(keys.why(restart("none")), Equal::Unknown);
    keys.change(KeyChangeKind::Deleted, "1:A", "");
    EXPECT_EQ(keys.why(eviction()), Equal::NothingToEvict);
    EXPECT_EQ(keys.why(restart("none")), Equal::NothingToLose);
}

TEST(EqualPlansRulesTest, AKeyThatWasDeletedLatelyCanComeBackWithALostSecond) {
    KeyHistory keys;
    keys.change(KeyChangeKind::Set, "", "1:A");
    keys.pass(std::chrono::seconds{5});
    EXPECT_EQ(keys.why(restart("last-second-lost")), Equal::NothingUnsynced);
    keys.change(KeyChangeKind::Deleted, "1:A", "");
    EXPECT_EQ(keys.why(restart("last-second-lost")), Equal::Unknown);
    keys.pass(std::chrono::seconds{1});
    EXPECT_EQ(keys.why(restart("last-second-lost")), Equal::Unknown);
    keys.pass(std::chrono::seconds{2});
    EXPECT_EQ(keys.why(restart("last-second-lost")), Equal::NothingUnsynced);
}

TEST(EqualPlansRulesTest, AKeyOfFieldsIsNeverSaidToBeGone) {
    KeyHistory keys;
    keys.change(KeyChangeKind::Set, "", "value of one field");
    keys.change(KeyChangeKind::Set, "", "value of another");
    keys.change(KeyChangeKind::Deleted, "value of another", "");
    EXPECT_EQ(keys.why(eviction()), Equal::Unknown);
    EXPECT_EQ(keys.why(restart("none")), Equal::Unknown);
}

TEST(EqualPlansRulesTest, ARestartThatKeepsAllAndWhatHasNoRuleIsRun) {
    KeyHistory keys;
    EXPECT_EQ(keys.why(restart("all")), Equal::Unknown);
    sim::Fault partition;
    partition.kind = sim::FaultKind::Partition;
    partition.from = "A";
    partition.to = "redis";
    EXPECT_EQ(keys.why(partition), Equal::Unknown);
    sim::Fault jump;
    jump.kind = sim::FaultKind::ClockJump;
    jump.party = "A";
    EXPECT_EQ(keys.why(jump), Equal::Unknown);
}

TEST(EqualPlansRulesTest, FingerprintsWithoutFaultsTellAllElseApart) {
    const auto fingerprint = [](bool fault, std::string_view value) {
        sim::History history;
        history.clear();
        const sim::PartyId redis = history.add_party("redis");
        const sim::Time at{};
        if (fault)
            history.append(at, sim::kWorld, sim::kNoTask, sim::kNoRecord, sim::FaultStruck{0, "f"});
        const sim::RecordId cause =
            history.append(at, redis, sim::kNoTask, sim::kNoRecord,
                           model::KeyChanged{KeyChangeKind::Set, "k", "", value, 0});
        if (fault) {
            history.append(at, sim::kWorld, sim::kNoTask, cause, sim::FaultTookEffect{0, "k"});
        }
        history.append(at, redis, sim::kNoTask, cause,
                       model::KeyChanged{KeyChangeKind::Deleted, "k", value, "", 0});
        return fingerprint_without_faults(history);
    };
    EXPECT_EQ(fingerprint(false, "a"), fingerprint(true, "a"));
    EXPECT_NE(fingerprint(false, "a"), fingerprint(false, "b"));
}

}  // namespace
}  // namespace fencepost::scenarios
