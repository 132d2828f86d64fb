#include "cli/searching.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/checker.h"
#include "cli/command_error.h"
#include "cli/converting.h"
#include "cli/search_totals.h"
#include "reports/layout.h"
#include "reports/text.h"
#include "scenarios/search/exhaust.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/shrink.h"

namespace fencepost::cli {
namespace {

using reports::counted;

enum class Kind : std::uint8_t { Sweep, Exhaust };

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
        return fmt::format("{} {}", kind_ == Kind::Sweep ? "seed" : "plan", item);
    }

    [[nodiscard]] std::string seed_command(std::uint64_t seed) const {
        return command_line(search_.console,
                            {"run", search_.scenario.name, "--handler", search_.handler.name,
                             "--seed", std::to_string(seed)});
    }

    std::string replay_of_mishap(const scenarios::FoundMishap& found) {
        const std::uint64_t item = found.mishap.item;
        if (kind_ == Kind::Sweep) return seed_command(item);
        const std::string file = search_.folder.save_plan(
            fmt::format("{}-{}-plan-{}.json", search_.scenario.name, search_.handler.name, item),
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
        failure.found_by.original_faults = found.plan.faults.size();
        failure.found_by.how = kind_ == Kind::Sweep ? "sweep" : "exhaust";
        if (kind_ == Kind::Sweep) failure.found_by.seed = found.run.item;
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
    report.handler = search.handler.name;
    report.verified = search.arguments.has("verify");
    Findings findings{search, kind, result};
    report.broken_runs = findings.broken_runs();
    report.failures = findings.failures();
    report.interrupted = report.interrupted || findings.interrupted();
    search.progress.clear();
    return report;
}

}  // namespace

void check_faults(const Arguments& arguments) {
    if (arguments.number("faults", 1, 9).value_or(1) == 1) return;
    throw CommandError("--faults: only 1 is built so far; sweeps draw plans with several faults");
}

scenarios::SearchOptions search_options(const Arguments& arguments, Progress& progress,
                                        const std::string& what) {
    scenarios::SearchOptions options;
    options.pool.jobs = static_cast<int>(arguments.number("jobs", 1, 256).value_or(0));
    options.verify = arguments.has("verify");
    options.progress = [&progress, what](const scenarios::SearchProgress& now) {
        progress.show(what, now.done, now.planned);
    };
    return options;
}

reports::SearchReport sweep_report(const Search& search, SeedRange seeds) {
    const std::string& scenario = search.scenario.name;
    const scenarios::SearchResult result = scenarios::sweep(
        search.scenario, {scenario, search.handler.name}, {seeds.first, seeds.last},
        search_options(search.arguments, search.progress, scenario + ", random plans"));
    reports::SearchReport report = full_report(search, Kind::Sweep, result);
    report.what =
        fmt::format("{} (seeds {}..{})", counted(report.runs, "random run", "random runs"),
                    seeds.first, seeds.last);
    return report;
}

reports::SearchReport exhaust_report(const Search& search) {
    const std::string& scenario = search.scenario.name;
    scenarios::ExhaustOptions options;
    options.search =
        search_options(search.arguments, search.progress, scenario + ", one-fault plans");
    const scenarios::ExhaustResult result =
        scenarios::exhaust(search.scenario, {scenario, search.handler.name}, options);
    reports::SearchReport report = full_report(search, Kind::Exhaust, result.search);
    // One of the plans is the one without faults.
    report.what = fmt::format(
        "{} at {}",
        counted(report.runs > 0 ? report.runs - 1 : 0, "one-fault plan", "one-fault plans"),
        counted(result.certificate.points, "fault point", "fault points"));
    return report;
}

}  // namespace fencepost::cli
