// What searches found, in the words of reports.
#pragma once

#include <string>

#include "reports/results.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/sweep.h"
#include "scenarios/search/workers.h"

namespace fencepost::kit {

// All but what names, files and commands are needed for.
reports::SearchReport report_of(const scenarios::SearchResult& result);
reports::FailureReport report_of(const scenarios::Failure& failure);

// A run that took its process down. `run` as in "seed 12".
reports::BrokenRun broken_run_of(const scenarios::Mishap& mishap, std::string run,
                                 std::string replay);

}  // namespace fencepost::kit
