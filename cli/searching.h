// Searches as commands run them: with the options of the command line, progress on a terminal, and
// failures that were shrunk and saved.
#pragma once

#include <functional>
#include <string>

#include "cli/console.h"
#include "cli/failure_folder.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "reports/results.h"
#include "scenarios/results/store.h"
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
    std::function<bool()> time_is_over{};  // of this search's share of the budget; null: never
};

inline constexpr const char* kResultsFile = "results.sqlite";
inline constexpr SeedRange kUsualSeeds{.first = 1, .last = 1000};
// With a budget the time decides.
inline constexpr SeedRange kManySeeds{.first = 1, .last = 100'000'000};

// --jobs, --verify, --until-failure, and progress under the name `what`.
scenarios::SearchOptions search_options(const Arguments& arguments, Progress& progress,
                                        const std::string& what);

reports::SearchReport sweep_report(const Search& search, SeedRange seeds);
// Of a sweep whose results are in the folder, as far as it is done already.
reports::SearchReport stored_sweep_report(const Search& search, scenarios::StoredSweep sweep,
                                          scenarios::IfThereAreResults if_there_are);
// --runs and --seed.
reports::SearchReport guided_report(const Search& search);
reports::SearchReport exhaust_report(const Search& search);

// --faults, --kinds and --resume of an exhaustive search. CommandError when they make no sense.
void check_exhaust_options(const Arguments& arguments);

}  // namespace fencepost::cli
