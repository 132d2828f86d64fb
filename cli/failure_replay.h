// A failure file, replayed: in one go or step by step.
#pragma once

#include <string>

#include "cli/console.h"
#include "reports/results.h"
#include "scenarios/search/failure.h"

namespace fencepost::cli {

// What a run of the failure's plan, or of one nearby, says of it.
reports::ReplayReport replay_report(const scenarios::Failure& failure, const std::string& file,
                                    reports::RunReport run, const scenarios::RunResult& result);

// Steps through the run of a plan as the user says; the exit code is the replay's, or 3 when
// somebody leaves it before the end.
int step_through(const scenarios::Failure& failure, const sim::Plan& plan, const std::string& file,
                 Console& console);

}  // namespace fencepost::cli
