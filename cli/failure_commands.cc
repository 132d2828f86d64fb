// The commands for saved failures: replay and shrink.
#include <fmt/format.h>

#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/converting.h"
#include "cli/failure_replay.h"
#include "cli/files.h"
#include "cli/names.h"
#include "cli/one_run.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "cli/search_totals.h"
#include "kit/code_version.h"
#include "reports/json.h"
#include "reports/text.h"
#include "reports/verdicts.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/nearby.h"
#include "scenarios/search/plan_runner.h"
#include "scenarios/search/shrink.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

constexpr int kBroken = 1;
constexpr int kInconclusive = 3;
constexpr int kHarnessFailed = 4;

// Nothing when the plan gives the same history twice, and when nobody asked.
std::optional<reports::BrokenRun> difference_in(const sim::Plan& plan, const Arguments& arguments,
                                                const std::string& file) {
    if (!arguments.has("verify")) return std::nullopt;
    const auto found = scenarios::call_in_worker([&plan] {
        const auto difference = scenarios::first_difference(plan, scenarios::fresh_runner());
        return difference ? reports::difference_text(difference->record, difference->first,
                                                     difference->second)
                          : std::string{};
    });
    if (found && found->empty()) return std::nullopt;
    return reports::BrokenRun{.run = "the smaller plan of " + file,
                              .what = found ? *found : found.error().text};
}

void print_shrunk(const Arguments& arguments, Console& console, const scenarios::Failure& failure,
                  int runs) {
    const auto file = arguments.text("out");
    reports::FailureReport report = report_of(failure);
    std::string trouble;
    if (file && *file != "-") {
        try {
            write_file(*file, scenarios::to_json(failure));
            report.file = *file;
            report.replay = command_line(console, {"replay", *file});
        } catch (const CommandError& error) {
            trouble = error.what();
        }
    }
    const std::string taken = fmt::format(
        "{} of {} left after {}\n", reports::counted(failure.plan.faults.size(), "fault", "faults"),
        failure.found_by.original_faults,
        reports::counted(static_cast<std::uint64_t>(runs), "run", "runs"));
    std::string text = reports::failure_text(report, console.style) + taken;
    if (!file || !trouble.empty()) text += "\n" + scenarios::to_json(failure);
    if (file == std::optional<std::string>{"-"}) text = scenarios::to_json(failure);
    print_result(arguments, console, text,
                 reports::shrink_json(report, static_cast<std::uint64_t>(runs)));
    if (!trouble.empty()) throw CommandError(trouble);
}

}  // namespace

reports::ReplayReport replay_report(const scenarios::Failure& failure, const std::string& file,
                                    reports::RunReport run, const scenarios::RunResult& result) {
    const scenarios::Replay compared = scenarios::compare(failure, result);
    auto moved = scenarios::moves_between(failure.plan, run.plan);
    return {.file = file,
            .outcome = outcome_of(compared.verdict),
            .expected_checker = failure.invariant,
            .expected_key = failure.key,
            .same_history = compared.same_history,
            .same_key = compared.same_key,
            .moved = std::move(moved),
            .found_by = found_by_text(failure.found_by),
            .saved_version = failure.version,
            .version = std::string(code_version()),
            .run = std::move(run)};
}

namespace {

// The failure's own plan, unless only one nearby breaks its invariant. What takes its process down
// is for the replay to say. Nothing when somebody interrupted.
std::optional<sim::Plan> plan_to_replay(const scenarios::Failure& failure) {
    const auto moved = scenarios::call_in_worker([&failure] {
        const scenarios::NearbyReplay nearby =
            scenarios::replay_nearby(failure, scenarios::fresh_runner().run);
        return nearby.moved ? sim::to_json(nearby.plan) : std::string{};
    });
    if (!moved && is_interruption(moved.error())) return std::nullopt;
    return moved && !moved->empty() ? sim::plan_from_json(*moved) : failure.plan;
}

}  // namespace

int replay_command(const Arguments& arguments, Console& console) {
    if (arguments.has("step")) {
        for (const std::string_view option : {"trace", "trace-json", "verify", "json"}) {
            if (arguments.has(option))
                throw CommandError(
                    fmt::format("replay: --step and --{} do not go together", option));
        }
    }
    const std::string& file = arguments.operand();
    const scenarios::Failure failure = read_failure(file);
    const auto plan = plan_to_replay(failure);
    if (!plan) {
        console.err << "fencepost: interrupted\n";
        return kInconclusive;
    }
    if (arguments.has("step")) return step_through(failure, *plan, file, console);
    const OneRun run{.plan = *plan, .called = "replay of " + file, .replay = {}};
    return perform(run, arguments, console,
                   [&](const reports::RunReport& report, const scenarios::RunResult& result) {
                       const reports::ReplayReport replay =
                           replay_report(failure, file, report, result);
                       return Rendered{.text = reports::replay_text(replay, console.style),
                                       .json = reports::replay_json(replay),
                                       .exit_code = reports::exit_code(reports::ending_of(replay))};
                   });
}

int shrink_command(const Arguments& arguments, Console& console) {
    const std::string& file = arguments.operand();
    const scenarios::Failure failure = read_failure(file);
    check_outputs(arguments, {"json", "out"});
    scenarios::ShrinkOptions options;
    options.parameters = scenarios::shrinkable_parameters(scenario_named(failure.plan.scenario));
    const auto shrunk = scenarios::shrink_in_worker(failure.plan, scenarios::fresh_runner, options,
                                                    failure.invariant, failure.key);
    if (!shrunk && is_interruption(shrunk.error())) {
        console.err << "fencepost: interrupted; " << file << " is as it was\n";
        return kInconclusive;
    }
    if (!shrunk) {
        const reports::BrokenRun broken = broken_run_of(shrunk.error(), "shrinking " + file,
                                                        command_line(console, {"replay", file}));
        console.out << reports::broken_run_text(broken, console.style);
        return broken.handlers_doing ? kBroken : kHarnessFailed;
    }
    if (!shrunk->reproduced) {
        print_result(
            arguments, console, "no failure any more: there is nothing to shrink\n",
            reports::shrink_json(report_of(failure), static_cast<std::uint64_t>(shrunk->runs)));
        return 0;
    }
    scenarios::Failure small = scenarios::failure_of(*shrunk);
    small.found_by.how = failure.found_by.how.empty() ? "hand" : failure.found_by.how;
    small.found_by.seed = failure.found_by.seed;
    if (failure.found_by.original_faults > small.found_by.original_faults)
        small.found_by.original_faults = failure.found_by.original_faults;
    small.version = code_version();
    if (const auto broken = difference_in(small.plan, arguments, file)) {
        console.out << reports::broken_run_text(*broken, console.style);
        return kHarnessFailed;
    }
    print_shrunk(arguments, console, small, shrunk->runs);
    return kBroken;
}

}  // namespace fencepost::cli
