// Plans and failures from files of the user. What is wrong is a CommandError that names the file
// and the place.
#pragma once

#include <string>

#include "scenarios/search/failure.h"
#include "sim/plan.h"

namespace fencepost::cli {

// The plan of a plan file or a failure file. Without a handler it has the usual one.
sim::Plan read_plan(const std::string& file);

// A failure, or a plan as a failure that does not say what breaks. Its names are valid.
scenarios::Failure read_failure(const std::string& file);

// Checks every name in the plan against its scenario.
void validate_plan(const sim::Plan& plan, const std::string& file);

}  // namespace fencepost::cli
