// What the runner says, in the words of reports.
#pragma once

#include "kit/reporting.h"
#include "reports/results.h"
#include "scenarios/runner.h"
#include "scenarios/search/failure.h"

namespace fencepost::cli {

reports::RunReport report_of(const sim::Plan& plan, const scenarios::RunResult& result);

// Remarks for the trace: where the first findings of each failing checker show.
std::vector<std::pair<sim::RecordId, std::string>> remarks_of(const scenarios::RunResult& result);

reports::ReplayOutcome outcome_of(scenarios::ReplayVerdict verdict);

// "sweep, seed 12, shrunk from 3 faults"; empty when nothing is known.
std::string found_by_text(const scenarios::FoundBy& found);

using kit::broken_run_of;
using scenarios::is_interruption;

}  // namespace fencepost::cli
