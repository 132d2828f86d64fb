#include "scenarios/reduced.h"

#include <fmt/format.h>

#include <algorithm>

namespace fencepost::scenarios {
namespace {

bool is_of(const DueWork& work, const model::ScheduledJob& job) {
    return work.tenant == job.tenant && work.job == job.job;
}

// Whether each unit can be left out without another: a message or request, or the only instant of a
// job.
bool has_separate_units(const Scenario& scenario) {
    if (scenario.due.size() < 2 || scenario.trigger == Trigger::StartUp) return false;
    if (scenario.trigger == Trigger::Messages) return true;
    return scenario.jobs.size() == scenario.due.size() &&
           std::ranges::all_of(scenario.jobs, [&](const model::ScheduledJob& job) {
               return std::ranges::count_if(
                          scenario.due, [&](const DueWork& work) { return is_of(work, job); }) == 1;
           });
}

void require_at_most(std::string_view name, std::int64_t value, std::size_t most) {
    if (value >= 1 && value <= static_cast<std::int64_t>(most)) return;
    throw sim::PlanError(fmt::format(
        "parameters.{}: {} is out of range; give a number from 1 to {}", name, value, most));
}

}  // namespace

void add_reducing_parameters(Scenario& scenario) {
    auto values = scenario.parameters.all();
    if (scenario.nodes.size() > 1)
        values.emplace(kNodes, static_cast<std::int64_t>(scenario.nodes.size()));
    if (has_separate_units(scenario)) {
        values.emplace(kUnits, static_cast<std::int64_t>(scenario.due.size()));
        values.emplace(kFirstUnit, 1);
    }
    scenario.parameters = Parameters{std::move(values)};
}

Scenario reduced(const Scenario& scenario, const Parameters& parameters) {
    const auto all = static_cast<std::int64_t>(scenario.due.size());
    const auto nodes = static_cast<std::int64_t>(scenario.nodes.size());
    require_at_most(kNodes, parameters.value_or(kNodes, nodes), scenario.nodes.size());
    if (!scenario.parameters.all().contains(kUnits)) return scenario;
    const std::int64_t units = parameters.at(kUnits);
    const std::int64_t first = parameters.at(kFirstUnit);
    require_at_most(kUnits, units, scenario.due.size());
    require_at_most(kFirstUnit, first, static_cast<std::size_t>(all - units + 1));
    if (units == all) return scenario;
    Scenario own = scenario;
    own.due.assign(scenario.due.begin() + (first - 1), scenario.due.begin() + (first - 1 + units));
    std::erase_if(own.jobs, [&own](const model::ScheduledJob& job) {
        return std::ranges::none_of(own.due,
                                    [&job](const DueWork& work) { return is_of(work, job); });
    });
    std::erase_if(own.script, [&own](const sim::Fault& act) {
        return act.kind == sim::FaultKind::Cancel &&
               std::ranges::find(own.due, act.unit, &DueWork::unit) == own.due.end();
    });
    return own;
}

Scenario reduced(const Scenario& scenario,
                 const std::map<std::string, std::int64_t, std::less<>>& overrides) {
    if (overrides.empty()) return scenario;
    auto values = scenario.parameters.all();
    for (const auto& [name, value] : overrides) values[name] = value;
    return reduced(scenario, Parameters{std::move(values)});
}

}  // namespace fencepost::scenarios
