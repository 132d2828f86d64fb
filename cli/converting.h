// What the runner says, in the words of reports.
#pragma once

#include "reports/results.h"
#include "scenarios/runner.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {

reports::RunReport report_of(const sim::Plan& plan, const scenarios::RunResult& result);

// Remarks for the trace: where the first findings of each failing checker show.
std::vector<std::pair<sim::RecordId, std::string>> remarks_of(const scenarios::RunResult& result);

// A run that took its process down. `run` as in "seed 12".
reports::BrokenRun broken_run_of(const scenarios::Mishap& mishap, std::string run,
                                 std::string replay);

reports::ReplayOutcome outcome_of(scenarios::ReplayVerdict verdict);

// "sweep, seed 12, shrunk from 3 faults"; empty when nothing is known.
std::string found_by_text(const scenarios::FoundBy& found);

// Whether somebody asked the work to end, as opposed to something having gone wrong.
bool is_interruption(const scenarios::Mishap& mishap);

}  // namespace fencepost::cli
