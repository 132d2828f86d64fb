// What the checks of plans and of scenarios share. Each throws sim::PlanError with the place in the
// file and what would be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

namespace fencepost::scenarios {

[[noreturn]] void unknown(const std::string& place, std::string_view what, std::string_view name,
                          const std::vector<std::string>& known);
void require_known(const std::string& place, std::string_view what, std::string_view name,
                   const std::vector<std::string>& known);

// What to say of a name that nobody has. The names of handlers are too many to be told.
[[nodiscard]] std::string unknown_scenario(std::string_view name);
[[nodiscard]] std::string unknown_handler(std::string_view name);

// That the fault can strike in that scenario.
void validate_fault(const std::string& place, const sim::Fault& fault, const Scenario& scenario);

template <typename Things>
std::vector<std::string> names_of(const Things& things) {
    std::vector<std::string> names;
    for (const auto& thing : things) names.emplace_back(thing.name);
    return names;
}

}  // namespace fencepost::scenarios
