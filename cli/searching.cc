#include "cli/searching.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "checkers/checker.h"
#include "cli/command_error.h"
#include "cli/converting.h"
#include "cli/names.h"
#include "cli/search_totals.h"
#include "cli/subjects.h"
#include "kit/code_version.h"
#include "reports/layout.h"
#include "reports/text.h"
#include "scenarios/search/exhaust.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/guided.h"
#include "scenarios/search/shrink.h"

namespace fencepost::cli {
namespace {

using reports::counted;

enum class Kind : std::uint8_t { Sweep, Guided, Exhaust };

// How failure files say that they were found.
std::string_view how(Kind kind) {
    switch (kind) {
        case Kind::Sweep:
            return "sweep";
        case Kind::Guided:
            return "search";
        case Kind::Exhaust:
            return "exhaust";
    }
    return "?";
}

// What the items of a search are called.
std::string_view item_word(Kind kind) {
    switch (kind) {
        case Kind::Sweep:
            return "seed";
        case Kind::Guided:
            return "run";
        case Kind::Exhaust:
            return "plan";
    }
    return "?";
}

// Of a guided search.
std::uint64_t seed_of(const Search& search) {
    return search.arguments.seed("seed").value_or(1);
}

// One search's failures and broken runs, with names, files and commands.
class Findings {
public:
    Findings(const Search& search, Kind kind, const scenarios::SearchResult& result)
        : search_(search), kind_(kind), result_(result) {}

    // One for each checker that fails. Checkers that fail by the same plan share one.
    std::vector<reports::FailureReport> failures() {
        std::vector<reports::FailureReport> all;
        for (const scenarios::CheckerTally& tally : result_.totals.checkers) {
            const auto found =
                std::ranges::find_if(result_.failures, [&](const scenarios::FoundFailure& failure) {
                    return std::ranges::find(failure.run.failed, tally.checker) !=
                           failure.run.failed.end();
                });
            if (tally.failed == 0 || found == result_.failures.end()) continue;
            if (interrupted_) break;
            const scenarios::Failure small = shrunk(*found, tally.checker);
            const auto same = std::ranges::find(all, small.plan, &reports::FailureReport::plan);
            if (same != all.end()) {
                same->also.push_back(tally.checker);
            } else {
                all.push_back(report_of(small, tally, found->run));
            }
        }
        return all;
    }

    [[nodiscard]] bool interrupted() const { return interrupted_; }

    std::vector<reports::BrokenRun> broken_runs() {
        std::vector<reports::BrokenRun> broken;
        for (const scenarios::FoundMishap& found : result_.mishaps) {
            broken.push_back(broken_run_of(found.mishap, name_of_item(found.mishap.item),
                                           replay_of_mishap(found)));
        }
        for (const scenarios::NondeterministicRun& run : result_.totals.nondeterministic)
            broken.push_back(report_of(run));
        const std::uint64_t more =
            result_.totals.nondeterministic_runs - result_.totals.nondeterministic.size();
        if (more > 0) {
            broken.push_back({.run = counted(more, "further run", "further runs"),
                              .what = "not deterministic either"});
        }
        if (result_.end == scenarios::PoolEnd::CouldNotStart) {
            broken.push_back(
                {.run = "all runs", .what = "the workers could not start: " + result_.problem});
        }
        return broken;
    }

private:
    [[nodiscard]] std::string name_of_item(std::uint64_t item) const {
        return fmt::format("{} {}", item_word(kind_), item);
    }

    [[nodiscard]] std::string seed_command(std::uint64_t seed) const {
        return command_line(search_.console,
                            {"run", search_.scenario.name, "--handler", search_.subject.handler,
                             "--seed", std::to_string(seed)}) +
               subject_options(search_.subject);
    }

    std::string replay_of_mishap(const scenarios::FoundMishap& found) {
        const std::uint64_t item = found.mishap.item;
        if (kind_ == Kind::Sweep) return seed_command(item);
        const std::string file =
            search_.folder.save_plan(fmt::format("{}-{}-{}-{}.json", search_.scenario.name,
                                                 search_.subject.handler, item_word(kind_), item),
                                     found.plan);
        if (file.empty()) return {};
        return command_line(search_.console, {"run", search_.scenario.name, "--plan", file});
    }

    [[nodiscard]] reports::BrokenRun report_of(const scenarios::NondeterministicRun& run) const {
        const scenarios::Difference& difference = run.difference;
        return {.run = name_of_item(run.item),
                .what = reports::difference_text(difference.record, difference.first,
                                                 difference.second),
                .replay = kind_ == Kind::Sweep ? seed_command(run.item) + " --verify" : ""};
    }

    // The failure of the run as it was found, when it cannot be made smaller.
    scenarios::Failure shrunk(const scenarios::FoundFailure& found, const std::string& checker) {
        search_.progress.show(
            fmt::format("{}: shrinking a failure of {}", search_.scenario.name, checker), 0, 1);
        const bool first = found.run.checker == checker;
        scenarios::ShrinkOptions options;
        options.parameters = scenarios::shrinkable_parameters(search_.scenario);
        const auto shrunk =
            scenarios::shrink_in_worker(found.plan, scenarios::fresh_runner, options, checker,
                                        first ? found.run.key : std::string{});
        scenarios::Failure failure{
            .plan = found.plan, .invariant = checker, .fingerprint = found.run.fingerprint};
        interrupted_ = !shrunk && is_interruption(shrunk.error());
        if (shrunk && shrunk->reproduced) {
            failure = scenarios::failure_of(*shrunk);
        } else if (first) {
            failure.key = found.run.key;
            failure.message = found.run.message;
            failure.first_violating_event = found.run.record;
        } else {
            failure.message = "This could not be made smaller; its replay shows what broke.";
        }
        failure.version = code_version();
        failure.found_by.original_faults = found.plan.faults.size();
        failure.found_by.how = how(kind_);
        if (kind_ == Kind::Sweep) failure.found_by.seed = found.run.item;
        if (kind_ == Kind::Guided) failure.found_by.seed = seed_of(search_);
        return failure;
    }

    reports::FailureReport report_of(const scenarios::Failure& failure,
                                     const scenarios::CheckerTally& tally,
                                     const scenarios::FailingRun& run) {
        reports::FailureReport report = cli::report_of(failure);
        report.seen = tally.failed;
        report.first_seen = name_of_item(run.item);
        report.file = search_.folder.save(failure);
        if (!report.file.empty()) {
            report.replay = command_line(search_.console, {"replay", report.file});
        } else if (kind_ == Kind::Sweep) {
            report.replay = seed_command(run.item);
        }
        return report;
    }

    const Search& search_;
    Kind kind_;
    const scenarios::SearchResult& result_;
    bool interrupted_ = false;
};

reports::SearchReport full_report(const Search& search, Kind kind,
                                  const scenarios::SearchResult& result) {
    reports::SearchReport report = report_of(result);
    report.scenario = search.scenario.name;
    report.handler = search.subject.handler;
    report.verified = search.arguments.has("verify");
    if (kind != Kind::Exhaust)
        report.drawn = drawn_report_of(result.totals, search.subject.profile);
    Findings findings{search, kind, result};
    report.broken_runs = findings.broken_runs();
    report.failures = findings.failures();
    report.interrupted = report.interrupted || findings.interrupted();
    search.progress.clear();
    return report;
}

std::string random_runs(const reports::SearchReport& report, scenarios::SeedRange seeds) {
    return fmt::format("{} (seeds {}..{})", counted(report.runs, "random run", "random runs"),
                       seeds.first, seeds.last);
}

// The kinds of --kinds, in the order of the table; none: all.
std::vector<sim::FaultKind> kinds_of(const Arguments& arguments) {
    std::vector<sim::FaultKind> kinds;
    std::string written = arguments.text("kinds").value_or("");
    std::vector<std::string> known;
    for (const sim::FaultKindInfo& info : sim::fault_kinds()) known.emplace_back(info.name);
    while (!written.empty()) {
        const std::size_t comma = std::min(written.find(','), written.size());
        const std::string name = written.substr(0, comma);
        const sim::FaultKindInfo* info = sim::find_fault_kind(name);
        if (info == nullptr)
            throw CommandError("--kinds: " + unknown_name("kind of fault", name, known));
        kinds.push_back(info->kind);
        written.erase(0, comma + 1);
    }
    std::ranges::sort(kinds);
    const auto repeated = std::ranges::unique(kinds);
    kinds.erase(repeated.begin(), repeated.end());
    return kinds;
}

// Where an exhaustive search notes how far it is: in the folder that was asked for, if one was.
std::string state_file(const Search& search, int faults) {
    const auto folder = search.arguments.text("out");
    if (!folder) return {};
    return (std::filesystem::path(*folder) / fmt::format("exhaust-{}-{}-{}.state",
                                                         search.scenario.name,
                                                         search.subject.handler, faults))
        .string();
}

}  // namespace

void check_exhaust_options(const Arguments& arguments) {
    (void)arguments.number("faults", 1, scenarios::kMostFaultsEnumerated);
    (void)kinds_of(arguments);
    if (arguments.has("resume") && !arguments.has("out")) {
        throw CommandError(
            "--resume: a search goes on from what it has noted in a folder; name it by --out");
    }
}

scenarios::SearchOptions search_options(const Arguments& arguments, Progress& progress,
                                        const std::string& what) {
    scenarios::SearchOptions options;
    options.pool.jobs = static_cast<int>(arguments.number("jobs", 1, 256).value_or(0));
    options.verify = arguments.has("verify");
    if (arguments.has("until-failure")) options.stop_after_failures = 1;
    options.progress = [&progress, what](const scenarios::SearchProgress& now) {
        if (now.planned >= kManySeeds.size()) {
            progress.show_count(what, now.done, now.failed_runs);
        } else if (now.planned > 0) {
            progress.show(what, now.done, now.planned, now.failed_runs);
        } else {
            progress.show_part(what, now.done, now.part);
        }
    };
    return options;
}

// Of those that were run: a budget may end a sweep early.
std::uint64_t last_seed(const scenarios::SearchResult& result, SeedRange seeds) {
    if (result.end != scenarios::PoolEnd::Stopped || result.done == 0) return seeds.last;
    return seeds.first + result.done - 1;
}

reports::SearchReport sweep_report(const Search& search, SeedRange seeds) {
    scenarios::SearchOptions options =
        search_options(search.arguments, search.progress, search.scenario.name + ", random plans");
    options.time_is_over = search.time_is_over;
    if (options.time_is_over) options.pool.range_size = 32;  // so that it is asked often
    const scenarios::SearchResult result =
        scenarios::sweep(search.scenario, search.subject, {seeds.first, seeds.last}, options);
    reports::SearchReport report = full_report(search, Kind::Sweep, result);
    report.what = random_runs(report, {seeds.first, last_seed(result, seeds)});
    return report;
}

reports::SearchReport stored_sweep_report(const Search& search, scenarios::StoredSweep sweep,
                                          scenarios::IfThereAreResults if_there_are) {
    const auto started = std::chrono::steady_clock::now();
    scenarios::ResultsStore store{
        (search.folder.path() / kResultsFile).string(), sweep, if_there_are, [started] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - started)
                .count();
        }};
    scenarios::SearchOptions options =
        search_options(search.arguments, search.progress, search.scenario.name + ", random plans");
    options.verify = sweep.verified;
    options.time_is_over = search.time_is_over;
    if (options.time_is_over) options.pool.range_size = 32;
    const scenarios::SearchResult result = scenarios::sweep_into(store, options);
    reports::SearchReport report = full_report(search, Kind::Sweep, result);
    report.verified = sweep.verified;
    const scenarios::SeedRange own = sweep.own_seeds();
    report.what = random_runs(report, {own.first, last_seed(result, {own.first, own.last})});
    return report;
}

reports::SearchReport guided_report(const Search& search) {
    scenarios::GuidedOptions options;
    options.seed = seed_of(search);
    options.runs = search.arguments.number("runs", 1, kManySeeds.last)
                       .value_or(search.time_is_over ? kManySeeds.last : kUsualSeeds.last);
    options.search =
        search_options(search.arguments, search.progress, search.scenario.name + ", guided");
    options.search.time_is_over = search.time_is_over;
    const scenarios::GuidedResult result =
        scenarios::guided_search(search.scenario, search.subject, options);
    reports::SearchReport report = full_report(search, Kind::Guided, result.search);
    report.guided = reports::GuidedReport{
        .seed = options.seed, .changed = result.children, .kept = result.kept, .features = {}};
    for (std::size_t i = 0; i < scenarios::kFeatureKinds; ++i) {
        const auto kind = static_cast<scenarios::FeatureKind>(i);
        report.guided->features.emplace_back(scenarios::name_of(kind), result.features.at(i));
    }
    report.what =
        fmt::format("{} (guided, seed {})", counted(report.runs, "run", "runs"), options.seed);
    return report;
}

reports::SearchReport exhaust_report(const Search& search) {
    scenarios::ExhaustOptions options;
    options.faults = static_cast<int>(
        search.arguments.number("faults", 1, scenarios::kMostFaultsEnumerated).value_or(1));
    options.kinds = kinds_of(search.arguments);
    options.seed = search.arguments.seed("seed").value_or(0);
    options.search = search_options(
        search.arguments, search.progress,
        fmt::format("{}, plans with {}", search.scenario.name,
                    counted(static_cast<std::uint64_t>(options.faults), "fault", "faults")));
    options.state_file = state_file(search, options.faults);
    options.resume = search.arguments.has("resume");
    options.not_noted = [&search](const std::string& why) {
        search.progress.clear();
        search.console.err << "fencepost: " << why
                           << "; the search goes on, and --resume will not know of the rest\n";
    };
    options.version = code_version();
    if (search.time_is_over) {
        options.enough = [&search](const scenarios::Totals&) { return search.time_is_over(); };
    }
    const auto started = std::chrono::steady_clock::now();
    options.seconds = [started] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    };
    const scenarios::ExhaustResult result =
        scenarios::exhaust(search.scenario, search.subject, options);
    reports::SearchReport report = full_report(search, Kind::Exhaust, result.search);
    report.certificate = report_of(result.certificate, options);
    report.what = fmt::format(
        "{} at {}",
        options.faults == 1
            // One of the plans is the one without faults.
            ? counted(report.runs > 0 ? report.runs - 1 : 0, "one-fault plan", "one-fault plans")
            : counted(report.runs, "plan", "plans") +
                  fmt::format(" with at most {} faults", options.faults),
        counted(result.certificate.points + result.certificate.further_points, "fault point",
                "fault points"));
    return report;
}

}  // namespace fencepost::cli
