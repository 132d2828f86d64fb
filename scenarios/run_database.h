// The database of a run as it is before the run: the handler's tables, the scheduler's, and what
// the scenario adds in SQL.
#pragma once

#include <string>
#include <vector>

#include "model/database/image.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {

// In the order in which they run.
std::vector<std::string> scripts_of(const Scenario& scenario, const HandlerSpec& handler,
                                    const Parameters& parameters);

// Runs them, and answers each of the scenario's invariants once: a query that fails there could
// never be answered. Throws sim::PlanError, with the place in the scenario for what is wrong with
// its own SQL.
model::DatabaseImage database_of(const Scenario& scenario, const HandlerSpec& handler,
                                 const Parameters& parameters);

}  // namespace fencepost::scenarios
