#include "kit/plan_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "checkers/checker.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/shrink.h"
#include "scenarios/search/simpler.h"

namespace fencepost::kit {
namespace {

using sim::Plan;

const scenarios::Scenario& scenario_for(std::string_view name, const Candidate& candidate) {
    const scenarios::Scenario* const scenario = scenarios::find_scenario(name);
    if (scenario == nullptr)
        throw std::invalid_argument(fmt::format("unknown scenario \"{}\"", name));
    if (const auto why_not = scenarios::obstacle(*scenario, candidate.handler())) {
        throw std::invalid_argument(
            fmt::format("{} cannot take part in {}, because {}", candidate.name(), name, *why_not));
    }
    return *scenario;
}

void add_without_a_fault(const Plan& plan, std::vector<Plan>& simpler) {
    for (std::size_t i = 0; i < plan.faults.size(); ++i) {
        simpler.push_back(plan);
        auto& faults = simpler.back().faults;
        faults.erase(faults.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void add_with_simpler_faults(const Plan& plan, std::vector<Plan>& simpler) {
    for (std::size_t i = 0; i < plan.faults.size(); ++i) {
        for (std::size_t aspect = 0; aspect < scenarios::kAspects; ++aspect) {
            for (const sim::Fault& fault : scenarios::simpler_faults(plan.faults[i], aspect)) {
                simpler.push_back(plan);
                simpler.back().faults[i] = fault;
            }
        }
    }
}

void add_with_smaller_parameters(const scenarios::Scenario& scenario, const Plan& plan,
                                 std::vector<Plan>& simpler) {
    for (const auto& [name, usual] : scenarios::shrinkable_parameters(scenario)) {
        const auto own = plan.parameters.find(name);
        const std::int64_t present = own == plan.parameters.end() ? usual : own->second;
        for (const std::int64_t smaller : scenarios::smaller_counts(present)) {
            simpler.push_back(plan);
            simpler.back().parameters[name] = smaller;
        }
    }
}

// With fewer nodes, say, a fault may strike at one that is not there.
bool is_sound(const Plan& plan) {
    try {
        scenarios::validate(plan);
        return true;
    } catch (const sim::PlanError&) {
        return false;
    }
}

const checkers::Judgement* failed(const scenarios::RunResult& result, const std::string& checker) {
    if (checker.empty()) return result.failure();
    const auto found = std::ranges::find_if(result.judgements, [&](const auto& judgement) {
        return judgement.checker == checker && judgement.verdict == checkers::Verdict::Fail;
    });
    return found == result.judgements.end() ? nullptr : &*found;
}

// On the key of the lineage if it broke there as well.
checkers::Finding finding_of(const checkers::Judgement& judgement, const std::string& key) {
    const auto same = std::ranges::find(judgement.findings, key, &checkers::Finding::key);
    return same != judgement.findings.end() ? *same : checkers::first_finding(judgement);
}

}  // namespace

std::vector<sim::Plan> simpler_plans(const scenarios::Scenario& scenario, const sim::Plan& plan) {
    std::vector<Plan> simpler;
    add_without_a_fault(plan, simpler);
    add_with_simpler_faults(plan, simpler);
    add_with_smaller_parameters(scenario, plan, simpler);
    for (std::uint64_t seed = 0; seed < scenarios::kSmallSeeds && seed < plan.seed; ++seed) {
        simpler.push_back(plan);
        simpler.back().seed = seed;
    }
    return simpler;
}

PlanSpace::PlanSpace(std::string_view scenario, Candidate candidate,
                     std::map<std::string, std::int64_t, std::less<>> parameters)
    : candidate_(std::move(candidate)),
      subject_{std::string(scenario), candidate_.name(), std::move(parameters)},
      runner_(scenarios::fresh_runner()) {
    const scenarios::Scenario& where = scenario_for(scenario, candidate_);
    try {
        scenarios::validate(subject_.plan(0));
    } catch (const sim::PlanError& error) {
        throw std::invalid_argument(error.what());
    }
    again_ = asked_for_again(candidate_, scenario);
    source_ = std::make_unique<scenarios::PlanSource>(
        where, subject_, scenarios::catalogue_of(where, subject_, runner_));
}

PlanSpace::~PlanSpace() = default;

const scenarios::Scenario& PlanSpace::scenario() const {
    return *scenarios::find_scenario(subject_.scenario);
}

DrawnPlan PlanSpace::draw(std::uint64_t seed) const {
    DrawnPlan drawn{.plan = again_ ? again_->plan : source_->draw(seed),
                    .lineage = std::make_shared<Lineage>()};
    drawn.lineage->seed = again_ ? again_->found_by.seed.value_or(again_->plan.seed) : seed;
    drawn.lineage->faults = drawn.plan.faults.size();
    return drawn;
}

std::vector<DrawnPlan> PlanSpace::smaller(const DrawnPlan& drawn) const {
    find_least(drawn);
    std::vector<DrawnPlan> smaller;
    const auto& least = drawn.lineage->least;
    if (least && *least != drawn.plan) smaller.push_back({*least, drawn.lineage});
    for (sim::Plan& plan : simpler_plans(scenario(), drawn.plan)) {
        if (is_sound(plan)) smaller.push_back({std::move(plan), drawn.lineage});
    }
    return smaller;
}

// Only of a plan that was run and failed: for others there is nothing that must go on failing.
void PlanSpace::find_least(const DrawnPlan& drawn) const {
    Lineage& lineage = *drawn.lineage;
    if (lineage.least || lineage.checker.empty()) return;
    scenarios::ShrinkOptions options;
    options.parameters = scenarios::shrinkable_parameters(scenario());
    for (auto& [name, value] : options.parameters) {
        const auto own = subject_.parameters.find(name);
        if (own != subject_.parameters.end()) value = own->second;
    }
    const scenarios::Shrunk shrunk =
        scenarios::shrink(drawn.plan, runner_.run, options, lineage.checker, lineage.key);
    lineage.least = shrunk.plan;
    lineage.proven = shrunk.proven;
}

std::optional<SavedFailure> PlanSpace::broken_by(const DrawnPlan& drawn) const {
    const scenarios::RunResult result = runner_.run(drawn.plan, {});
    Lineage& lineage = *drawn.lineage;
    const checkers::Judgement* const judgement = failed(result, lineage.checker);
    if (judgement == nullptr) return std::nullopt;
    const checkers::Finding finding = finding_of(*judgement, lineage.key);
    if (lineage.checker.empty()) {
        lineage.checker = judgement->checker;
        lineage.key = finding.key;
    }
    scenarios::Failure failure{
        .plan = drawn.plan,
        .invariant = judgement->checker,
        .key = finding.key,
        .message = finding.message,
        .first_violating_event = finding.record,
        .fingerprint = result.fingerprint,
        .found_by = {.how = "rapidcheck",
                     .seed = lineage.seed,
                     .original_faults = lineage.faults,
                     .minimal = lineage.proven && lineage.least == drawn.plan}};
    return save(std::move(failure), 1, candidate_.options());
}

scenarios::RunResult PlanSpace::run(const sim::Plan& plan) const {
    return runner_.run(plan, {});
}

}  // namespace fencepost::kit
