// A stand-in for the runner: two nodes that each call the database and Redis, with a history made
// of the calls alone. What breaks is the test's to say.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "model/events.h"
#include "scenarios/scenario.h"
#include "scenarios/search/plan_runner.h"
#include "sim/events.h"
#include "sim/history.h"
#include "sim/random.h"

namespace fencepost::scenarios {

inline const sim::Time kFakeStart = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2};

inline Scenario fake_scenario() {
    Scenario scenario;
    scenario.name = "same-instant";
    scenario.start = kFakeStart;
    scenario.parameters = Parameters{{{"accounts", 5}, {"batch", 2}, {"lease_ttl_ms", 10'000}}};
    scenario.families = {sim::FaultFamily::Node,    sim::FaultFamily::Call,
                         sim::FaultFamily::Network, sim::FaultFamily::Server,
                         sim::FaultFamily::Clock,   sim::FaultFamily::Scheduler};
    scenario.probes = {"crashed", "paused"};
    scenario.checkers = {"once", "fencing"};
    return scenario;
}

// How many kinds of faults the scenario's families have.
inline std::size_t kinds_of(const Scenario& scenario) {
    return static_cast<std::size_t>(
        std::ranges::count_if(sim::fault_kinds(), [&scenario](const sim::FaultKindInfo& kind) {
            return std::ranges::find(scenario.families, kind.family) != scenario.families.end();
        }));
}

// Lets the checker `name` of a fake run fail.
inline void fail_checker(RunResult& result, const std::string& name, const std::string& key) {
    for (checkers::Judgement& judgement : result.judgements) {
        if (judgement.checker != name) continue;
        judgement.verdict = checkers::Verdict::Fail;
        judgement.findings.push_back({key, "broken on " + key, 1});
    }
}

using Break = std::function<void(const sim::Plan&, RunResult&)>;

class FakeRunner {
public:
    explicit FakeRunner(Break breaks = {}) : break_(std::move(breaks)) {}

    RunResult run(const sim::Plan& plan, const RunOptions& options) {
        ++runs;
        plan_ = plan;
        struck_.assign(plan.faults.size(), false);
        history_.clear();
        history_.keep_fingerprints(options.keep_fingerprints);
        bool crash = false;
        bool pause = false;
        RunResult result;
        for (const sim::Fault& fault : plan.faults) {
            crash |= fault.kind == sim::FaultKind::Crash;
            pause |= fault.kind == sim::FaultKind::Pause;
            result.faults.push_back(FaultFate::TookEffect);
        }
        sim::Time at = kFakeStart + std::chrono::seconds{2};
        const sim::Random random{plan.seed};
        for (const char* node : {"A", "B"}) {
            const sim::PartyId party = history_.add_party(node);
            const sim::TaskId job = history_.add_task({"daily@1", party, 1, sim::kNoTask});
            history_.append(at, party, job, sim::kNoRecord, sim::TaskStarted{true});
            at += random.between(sim::Duration::zero(), std::chrono::milliseconds{1}, 7, party);
            for (const char* operation :
                 {"redis.lease-acquire", "db.begin", "db.execute", "db.commit"}) {
                call(at, party, job, operation);
            }
            const sim::TaskId check_in = history_.add_task({"check-in", party, 1, sim::kNoTask});
            call(at, party, check_in, "db.query");
            model::KeyChanged lease;
            lease.key = "lease:daily";
            lease.after = "1:A";
            history_.append(at, party, job, sim::kNoRecord, lease);
            // A second life has points of its own.
            if (!crash || party != history_.parties() - 1) continue;
            const sim::TaskId again = history_.add_task({"daily@1", party, 2, sim::kNoTask});
            history_.append(at, party, again, sim::kNoRecord, sim::TaskStarted{true});
            at += std::chrono::seconds{30};
            call(at, party, again, "db.query");
        }
        strike_until(sim::Time::max(), at);
        result.fingerprint = sim::combine(history_.fingerprint(), sim::hash_of(sim::to_json(plan)));
        result.steps = 10;
        result.records = history_.size();
        for (const char* checker : {"once", "fencing"}) {
            result.judgements.push_back({checker, checkers::Verdict::Pass, "held", {}});
        }
        if (crash) result.probes.emplace_back("crashed");
        if (pause) result.probes.emplace_back("paused");
        if (break_) break_(plan, result);
        return result;
    }
    [[nodiscard]] const sim::History& history() const { return history_; }
    sim::History& history() { return history_; }

    int runs = 0;

private:
    void call(sim::Time& at, sim::PartyId party, sim::TaskId task, std::string_view operation) {
        strike_until(at, at);
        const std::string address = history_.actor(task) + "/" + std::string(operation) + "/1";
        const sim::RecordId call =
            history_.append(at, party, task, sim::kNoRecord, sim::CallStarted{operation, 1, ""});
        reach(call, address, sim::Phase::Before, at);
        reach(call, address, sim::Phase::Sent, at);
        at += std::chrono::milliseconds{1};
        history_.append(at, party, task, sim::kNoRecord, sim::CallApplied{operation, 1, ""});
        reach(call, address, sim::Phase::Applied, at);
        at += std::chrono::milliseconds{1};
        history_.append(at, party, task, sim::kNoRecord, sim::CallEnded{operation, 1, "ok"});
        reach(call, address, sim::Phase::After, at);
    }
    void reach(sim::RecordId call, const std::string& address, sim::Phase phase, sim::Time at) {
        history_.note_phase(call, phase);
        for (std::uint32_t i = 0; i < plan_.faults.size(); ++i) {
            if (plan_.faults[i].at == address && plan_.faults[i].phase == phase) strike(i, at);
        }
    }
    // What is planned at a time and due by then.
    void strike_until(sim::Time due, sim::Time at) {
        for (std::uint32_t i = 0; i < plan_.faults.size(); ++i) {
            if (plan_.faults[i].at_time && *plan_.faults[i].at_time <= due && !struck_[i])
                strike(i, std::max(at, *plan_.faults[i].at_time));
        }
    }
    void strike(std::uint32_t index, sim::Time at) {
        struck_[index] = true;
        history_.append(at, sim::kWorld, sim::kNoTask, sim::kNoRecord,
                        sim::FaultStruck{index, sim::describe(plan_.faults[index])});
    }

    Break break_;
    sim::Plan plan_;
    std::vector<bool> struck_;
    sim::History history_;
};

inline PlanRunner plan_runner(const std::shared_ptr<FakeRunner>& fake) {
    return {[fake](const sim::Plan& plan, const RunOptions& options) {
                return fake->run(plan, options);
            },
            [fake]() -> const sim::History& { return std::as_const(*fake).history(); }};
}

inline MakePlanRunner fake_runners(const Break& breaks = {}) {
    return [breaks] { return plan_runner(std::make_shared<FakeRunner>(breaks)); };
}

}  // namespace fencepost::scenarios
