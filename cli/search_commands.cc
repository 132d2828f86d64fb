// The commands that make many runs of one scenario: sweep and exhaust.
#include <fmt/format.h>

#include <algorithm>

#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/converting.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/search_totals.h"
#include "cli/searching.h"
#include "cli/subjects.h"
#include "reports/json.h"
#include "reports/text.h"
#include "reports/verdicts.h"

namespace fencepost::cli {
namespace {

int finish(const reports::SearchReport& report, const Arguments& arguments, Console& console,
           const FailureFolder& folder) {
    const std::string json = reports::search_json(report);
    folder.write_summary(json);
    print_result(arguments, console, reports::search_text(report, console.style), json);
    return reports::exit_code(reports::ending_of(report));
}

// "seed fingerprint" for each run and nothing else; what there is to say besides goes to standard
// error.
int print_fingerprints(const Arguments& arguments, Console& console, SeedRange seeds) {
    if (arguments.has("json") || arguments.has("out"))
        throw CommandError("sweep: --fingerprints prints nothing else; leave out --json and --out");
    const scenarios::Scenario& scenario = scenario_named(arguments.operand());
    Progress progress{console};
    scenarios::SearchOptions options = search_options(arguments, progress, scenario.name);
    options.totals.keep_fingerprints = true;
    const scenarios::SearchResult result =
        scenarios::sweep(scenario, subject_of(arguments, scenario, handler_of(arguments, scenario)),
                         {seeds.first, seeds.last}, options);
    progress.clear();
    std::uint64_t seed = seeds.first;
    auto mishap = result.mishaps.begin();
    for (const std::uint64_t fingerprint : result.totals.fingerprints) {
        for (; mishap != result.mishaps.end() && mishap->mishap.item == seed; ++mishap) ++seed;
        console.out << reports::fingerprint_line(seed++, fingerprint);
    }
    reports::SearchReport report = report_of(result);
    for (const scenarios::FoundMishap& found : result.mishaps) {
        report.broken_runs.push_back(
            broken_run_of(found.mishap, fmt::format("seed {}", found.mishap.item), {}));
    }
    for (const scenarios::NondeterministicRun& run : result.totals.nondeterministic) {
        report.broken_runs.push_back({.run = fmt::format("seed {}", run.item),
                                      .what = "not deterministic",
                                      .handlers_doing = false});
    }
    for (const reports::BrokenRun& run : report.broken_runs)
        console.err << reports::broken_run_text(run);
    if (report.interrupted) console.err << "fencepost: interrupted\n";
    return reports::exit_code(reports::ending_of(report));
}

}  // namespace

int sweep_command(const Arguments& arguments, Console& console) {
    const SeedRange seeds = arguments.seeds("seeds").value_or(kUsualSeeds);
    const scenarios::Scenario& scenario = scenario_named(arguments.operand());
    const scenarios::Subject subject =
        subject_of(arguments, scenario, handler_of(arguments, scenario));
    if (arguments.has("fingerprints")) return print_fingerprints(arguments, console, seeds);
    check_outputs(arguments, {"json"});
    FailureFolder folder{arguments, console};
    Progress progress{console};
    const Search search{scenario, subject, arguments, console, progress, folder};
    return finish(sweep_report(search, seeds), arguments, console, folder);
}

int exhaust_command(const Arguments& arguments, Console& console) {
    check_exhaust_options(arguments);
    const scenarios::Scenario& scenario = scenario_named(arguments.operand());
    const scenarios::Subject subject =
        subject_of(arguments, scenario, handler_of(arguments, scenario));
    check_outputs(arguments, {"json"});
    FailureFolder folder{arguments, console};
    Progress progress{console};
    const Search search{scenario, subject, arguments, console, progress, folder};
    return finish(exhaust_report(search), arguments, console, folder);
}

}  // namespace fencepost::cli
