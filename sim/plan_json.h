// A plan within another file, as sim/plan.h has it by itself.
#pragma once

#include "sim/json_object.h"
#include "sim/plan.h"

namespace fencepost::sim {

// Throws PlanError, with places within the plan. Any depth of nesting will do.
Plan plan_from_json(const Json& json);

}  // namespace fencepost::sim
