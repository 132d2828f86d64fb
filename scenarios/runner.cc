#include "scenarios/runner.h"

#include <fmt/format.h>
#include <malloc.h>

#include <map>

#include "checkers/checker.h"
#include "checkers/learnt_effects.h"
#include "checkers/learnt_start_up.h"
#include "model/world.h"
#include "scenarios/probes.h"
#include "scenarios/reduced.h"
#include "scenarios/run.h"
#include "scenarios/setting.h"

namespace fencepost::scenarios {

// A world keeps the memory that its longest run took: tens of MiB, where the usual run takes two.
// So after a run of more steps than almost any has, the next one gets a world of its own. And each
// of its parts (a session, an exchange) keeps that of the run in which it did most: little, but the
// more runs, the more parts. A new world costs as much as ten short runs.
constexpr std::uint64_t kManySteps = 20'000;
constexpr std::uint64_t kManyRuns = 2'000;

// Why nothing can be learnt, after "the run without faults ".
constexpr const char* kAnotherEachTime =
    "is another one when it is run again: the handler keeps something beyond a run or takes it "
    "from outside, such as a static variable (all nodes share it here, and no crash clears it), "
    "the machine's clock or chance";

struct Runner::State {
    std::map<std::string, Setting, std::less<>> settings;  // by scenario, handler and parameters
    // After the settings, so that it goes before them: a run that was left by an exception has
    // tasks that refer to its setting.
    std::unique_ptr<model::World> world = std::make_unique<model::World>();
    std::uint64_t runs = 0;  // in this world

    void make_another_world() {
        world.reset();
        ::malloc_trim(0);
        world = std::make_unique<model::World>();
        runs = 0;
    }

    static sim::Plan without_faults(sim::Plan plan, std::uint64_t seed) {
        plan.seed = seed;
        plan.faults.clear();
        return plan;
    }

    Setting& setting_for(const sim::Plan& plan) {
        std::string key = plan.scenario + '\n' + plan.handler;
        for (const auto& [name, value] : plan.parameters)
            key += fmt::format("\n{}={}", name, value);
        const auto known = settings.find(key);
        if (known != settings.end()) return known->second;
        Setting& setting = settings.try_emplace(key, plan).first->second;
        try {
            if (setting.has_to_learn()) learn(setting, plan);
            if (setting.has_to_learn_start_up()) learn_start_up(setting, plan);
        } catch (...) {
            settings.erase(key);
            throw;
        }
        return setting;
    }

    // From a run without faults. The seed is always the same: what must happen is no matter of
    // latencies. It is run twice: what is another run each time is no oracle.
    void learn(Setting& setting, const sim::Plan& plan) {
        const sim::Plan undisturbed = without_faults(plan, 0);
        Run{*world, setting, undisturbed}.execute(RunOptions{}.step_limit);
        const std::uint64_t fingerprint = world->kernel().history().fingerprint();
        world->kernel().end_run();
        Run{*world, setting, undisturbed}.execute(RunOptions{}.step_limit);
        std::vector<std::string> units;
        for (const DueWork& work : setting.scenario->due) units.push_back(work.unit());
        checkers::learn_effects(world->kernel().history(), units, setting.expectations);
        if (world->kernel().history().fingerprint() != fingerprint) {
            for (checkers::EffectTable& table : setting.expectations.effects) {
                if (table.learnt) table.not_learnt = kAnotherEachTime;
            }
        }
        world->kernel().end_run();
    }

    // From a node that is alone and starts once, twice over, with other latencies each time.
    void learn_start_up(Setting& setting, const sim::Plan& plan) {
        auto alone = setting.parameters.all();
        alone["start_ups"] = 1;
        if (alone.contains(kNodes)) alone[std::string{kNodes}] = 1;
        Setting once{*find_scenario(plan.scenario), setting.handler, Parameters{std::move(alone)}};
        std::vector<checkers::StartUpState> left;
        checkers::Expectations& expectations = setting.expectations;
        for (const std::uint64_t seed : {0, 1}) {
            const sim::Plan undisturbed = without_faults(plan, seed);
            const sim::RunEnd end = Run{*world, once, undisturbed}.execute(RunOptions{}.step_limit);
            left.push_back(checkers::left_by_start_up(world->kernel().history()));
            world->kernel().end_run();
            if (end == sim::RunEnd::Quiet) continue;
            expectations.start_up_not_learnt = "does not come through";
            return;
        }
        auto learnt = checkers::in_common(left[0], left[1]);
        if (learnt) {
            expectations.start_up = *std::move(learnt);
        } else {
            expectations.start_up_not_learnt = std::move(learnt.error());
        }
    }
};

bool RunResult::failed() const {
    return failure() != nullptr;
}

const checkers::Judgement* RunResult::failure() const {
    const auto found =
        std::ranges::find(judgements, checkers::Verdict::Fail, &checkers::Judgement::verdict);
    return found == judgements.end() ? nullptr : &*found;
}

namespace {

// Watches the runs of a kernel for as long as it lives.
class Watch {
public:
    Watch(model::World& world, const std::function<void(model::World&)>& watcher)
        : kernel_(world.kernel()) {
        if (watcher) kernel_.watch([&world, &watcher] { watcher(world); });
    }
    ~Watch() { kernel_.watch({}); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

private:
    sim::Kernel& kernel_;
};

}  // namespace

void check_setting(const sim::Plan& plan) {
    const Setting setting{plan};
}

Runner::Runner() : state_(std::make_unique<State>()) {}
Runner::~Runner() = default;

RunResult Runner::run(const sim::Plan& plan, const RunOptions& options) {
    if (!plan.faults.empty()) validate(plan);
    if (state_->world->kernel().steps() > kManySteps || state_->runs >= kManyRuns) {
        state_->make_another_world();
    }
    ++state_->runs;
    Setting& setting = state_->setting_for(plan);
    sim::Kernel& kernel = state_->world->kernel();
    kernel.history().keep_fingerprints(options.keep_fingerprints);

    const Watch watch{*state_->world, options.watch};
    RunResult result;
    result.end = Run{*state_->world, setting, plan}.execute(options.step_limit);
    const sim::History& history = kernel.history();
    result.fingerprint = history.fingerprint();
    result.steps = kernel.steps();
    result.records = history.size();
    result.virtual_time = kernel.now() - setting.scenario->start;
    result.judgements = checkers::judge_all(history, setting.expectations, setting.checkers);
    result.probes = reached_probes(history, setting.scenario->probes);
    for (std::uint32_t index = 0; index < plan.faults.size(); ++index) {
        result.faults.push_back(kernel.fault_had_effect(index) ? FaultFate::TookEffect
                                : kernel.fault_struck(index)   ? FaultFate::Struck
                                                               : FaultFate::Inert);
    }
    kernel.end_run();
    return result;
}

const sim::History& Runner::history() const {
    return state_->world->kernel().history();
}

const checkers::Expectations& Runner::expectations(const sim::Plan& plan) const {
    return state_->setting_for(plan).expectations;
}

std::vector<std::string> Runner::schema_of(const sim::Plan& plan) const {
    return state_->setting_for(plan).scripts;
}

std::vector<ExecutedStatement> Runner::statements() const {
    std::vector<ExecutedStatement> statements;
    for (const model::SqlExchange& exchange : state_->world->database().exchanges()) {
        if (!exchange.statement.empty())
            statements.push_back({exchange.statement, exchange.parameters});
    }
    return statements;
}

}  // namespace fencepost::scenarios
