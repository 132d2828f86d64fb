// Scenarios with less in them: fewer nodes that run the program, fewer units of work. For plans
// that are made small: a failure that one node or one day shows needs no second.
//
//   nodes             the first so many run the program; the others are up and do nothing
//   units, first_unit  so many units of the scenario's due work fall due, from that one on, counted
//                     from 1
//
// They are parameters of the scenarios where they mean something, so that a plan can override them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "scenarios/handler.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {

inline constexpr std::string_view kNodes = "nodes";
inline constexpr std::string_view kUnits = "units";
inline constexpr std::string_view kFirstUnit = "first_unit";

// Adds the parameters, at the values that leave everything in.
void add_reducing_parameters(Scenario& scenario);

// The scenario with the units of work that `parameters` leave, and the jobs and acts of operators
// that are about them. Throws sim::PlanError when there are not so many units or nodes.
Scenario reduced(const Scenario& scenario, const Parameters& parameters);
// The same for a plan's overrides of the scenario's parameters.
Scenario reduced(const Scenario& scenario,
                 const std::map<std::string, std::int64_t, std::less<>>& overrides);

}  // namespace fencepost::scenarios
