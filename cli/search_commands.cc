// The commands that make many runs of one scenario: sweep, with the merging of its parts,
// search and exhaust.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/budget.h"
#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/converting.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/search_totals.h"
#include "cli/searching.h"
#include "cli/shards.h"
#include "cli/subjects.h"
#include "kit/code_version.h"
#include "reports/json.h"
#include "reports/text.h"
#include "reports/verdicts.h"
#include "scenarios/search/whole_file.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

int finish(const reports::SearchReport& report, const Arguments& arguments, Console& console,
           const FailureFolder& folder) {
    const std::string json = reports::search_json(report);
    take_all({[&] { folder.write_summary(json); },
              [&] {
                  print_result(arguments, console, reports::search_text(report, console.style),
                               json);
              }});
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

// The seeds of the part, for a sweep without a store.
SeedRange own_seeds(const scenarios::StoredSweep& sweep) {
    const scenarios::SeedRange own = sweep.own_seeds();
    if (own.last + 1 == own.first) {
        throw CommandError(fmt::format("part {} of {} has no seed: there are more parts than seeds",
                                       sweep.shard.number, sweep.shard.of));
    }
    return {.first = own.first, .last = own.last};
}

}  // namespace

int sweep_command(const Arguments& arguments, Console& console) {
    const scenarios::InterruptionGuard guard;  // what was found is told, whenever it ends
    const Budget budget{arguments};
    const SeedRange seeds =
        arguments.seeds("seeds").value_or(budget.is_set() ? kManySeeds : kUsualSeeds);
    const scenarios::Scenario& scenario = scenario_named(arguments.operand());
    const ShardChoice part = shard_of(arguments);
    const scenarios::StoredSweep sweep{
        .subject = subject_of(arguments, scenario, handler_of(arguments, scenario)),
        .seeds = {seeds.first, seeds.last},
        .shard = part.shard,
        .verified = arguments.has("verify"),
        .version = std::string(code_version()),
        // Of no use, and not to be had everywhere, without a store.
        .program = arguments.has("out") ? scenarios::hash_of_this_program() : 0};
    if (arguments.has("fingerprints"))
        return print_fingerprints(arguments, console, own_seeds(sweep));
    check_outputs(arguments, {"json"});
    const bool resume = arguments.has("resume");
    if (resume && !arguments.has("out"))
        throw CommandError(
            "--resume: a sweep goes on with the results in a folder; name it by --out");
    FailureFolder folder{arguments, console, folder_of(part.shard)};
    Progress progress{console};
    const Search search{scenario, sweep.subject, arguments,      console,
                        progress, folder,        budget.share(1)};
    reports::SearchReport report =
        arguments.has("out") ? stored_sweep_report(search, sweep,
                                                   resume ? scenarios::IfThereAreResults::GoOn
                                                          : scenarios::IfThereAreResults::Refuse)
                             : sweep_report(search, own_seeds(sweep));
    if (part.shard.of > 1) {
        report.what +=
            fmt::format(", part {} of {}: {}", part.shard.number, part.shard.of, part.because);
    }
    return finish(report, arguments, console, folder);
}

int search_command(const Arguments& arguments, Console& console) {
    const scenarios::InterruptionGuard guard;  // what was found is told, whenever it ends
    const Budget budget{arguments};
    const scenarios::Scenario& scenario = scenario_named(arguments.operand());
    const scenarios::Subject subject =
        subject_of(arguments, scenario, handler_of(arguments, scenario));
    check_outputs(arguments, {"json"});
    FailureFolder folder{arguments, console};
    Progress progress{console};
    const Search search{scenario, subject, arguments, console, progress, folder, budget.share(1)};
    return finish(guided_report(search), arguments, console, folder);
}

int merge_command(const Arguments& arguments, Console& console) {
    if (arguments.operands().empty())
        throw CommandError("merge needs DIR...; see fencepost help merge");
    if (!arguments.has("out")) throw CommandError("merge: where to? name a folder by --out");
    check_outputs(arguments, {"json"});
    const std::vector<std::string> parts = stores_in(arguments.operands());
    FailureFolder folder{arguments, console};
    const std::string file = (folder.path() / kResultsFile).string();
    if (std::filesystem::exists(file))
        throw CommandError(fmt::format("{}: there are results already; name another folder", file));
    if (scenarios::ResultsStore::open(parts.front()).sweep().program !=
        scenarios::hash_of_this_program()) {
        throw CommandError(parts.front() +
                           ": another build of the program has made these results; merge them by "
                           "that one");
    }
    scenarios::merge_stores(parts, file);
    const scenarios::InterruptionGuard guard;  // what was found is told, whenever it ends
    const scenarios::StoredSweep whole = scenarios::ResultsStore::open(file).sweep();
    const scenarios::Scenario& scenario = scenario_named(whole.subject.scenario);
    Progress progress{console};
    const Search search{scenario, whole.subject, arguments, console, progress, folder};
    return finish(stored_sweep_report(search, whole, scenarios::IfThereAreResults::GoOn), arguments,
                  console, folder);
}

int exhaust_command(const Arguments& arguments, Console& console) {
    const scenarios::InterruptionGuard guard;  // what was found is told, whenever it ends
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
