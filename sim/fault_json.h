// The JSON form of one planned fault, in plans and wherever else faults are written down.
#pragma once

#include <string>

#include "sim/fault.h"
#include "sim/json_object.h"

namespace fencepost::sim {

Json to_json(const Fault& fault);

// `place` is that of the fault in its file: "faults[0]". Throws PlanError with the place of what is
// wrong in it. Handles the shape alone; whether its names exist is the scenario's to say.
Fault fault_from_json(const Json& json, const std::string& place);

}  // namespace fencepost::sim
