// Searches as commands run them: with the options of the command line, progress on a terminal, and
// failures that were shrunk and saved.
#pragma once

#include <string>

#include "cli/console.h"
#include "cli/failure_folder.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "reports/results.h"
#include "scenarios/search/random_plan.h"
#include "scenarios/search/sweep.h"

namespace fencepost::cli {

struct Search {
    const scenarios::Scenario& scenario;
    const scenarios::Subject& subject;
    const Arguments& arguments;
    Console& console;
    Progress& progress;
    FailureFolder& folder;
};

inline constexpr SeedRange kUsualSeeds{.first = 1, .last = 1000};

// --jobs, --verify, and progress under the name `what`.
scenarios::SearchOptions search_options(const Arguments& arguments, Progress& progress,
                                        const std::string& what);

reports::SearchReport sweep_report(const Search& search, SeedRange seeds);
reports::SearchReport exhaust_report(const Search& search);

// --faults, --kinds and --resume of an exhaustive search. CommandError when they make no sense.
void check_exhaust_options(const Arguments& arguments);

}  // namespace fencepost::cli
