#include "kit/saving.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "kit/code_version.h"
#include "kit/explaining.h"
#include "kit/reporting.h"
#include "reports/text.h"
#include "scenarios/built_in.h"
#include "scenarios/files/scenario_file.h"
#include "scenarios/search/shrink.h"
#include "scenarios/search/whole_file.h"

namespace fencepost::kit {
namespace {

std::string from_environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

bool has_threads() {
    std::error_code error;
    std::size_t threads = 0;
    for (std::filesystem::directory_iterator task{"/proc/self/task", error}, end;
         !error && task != end; task.increment(error)) {
        ++threads;
    }
    return threads > 1;
}

std::string program() {
    const std::string called = from_environment("FENCEPOST_PROGRAM");
    return called.empty() ? "fencepost" : called;
}

// Writes to the folder, which is made. The path, or why there is no such file.
struct Written {
    std::string file;
    std::string problem;
};

Written write(const std::string& name, const std::string& text, const TrialOptions& options) {
    const std::filesystem::path folder = failures_folder(options);
    try {
        std::filesystem::create_directories(folder);
        const std::string file = (folder / name).string();
        scenarios::write_whole_file(file, text);
        return {.file = file, .problem = {}};
    } catch (const std::exception& error) {
        return {.file = {}, .problem = fmt::format("It could not be saved: {}.\n", error.what())};
    }
}

// " --handlers ./libinvoices.so", or nothing where the program knows the handler by itself.
// Nothing at all when it cannot know it.
std::optional<std::string> handlers_option(const std::string& handler,
                                           const TrialOptions& options) {
    if (scenarios::is_built_in(handler)) return "";
    const std::string library = options.handlers_library.empty()
                                    ? from_environment("FENCEPOST_HANDLERS")
                                    : options.handlers_library;
    if (library.empty()) return std::nullopt;
    return " --handlers " + library;
}

// " --scenarios fencepost-failures/same-instant-1f.scenario.json", or nothing where the program
// knows the scenario by itself. Nothing at all when it cannot be written.
std::optional<std::string> scenarios_option(const std::string& name, const TrialOptions& options) {
    if (scenarios::is_built_in_scenario(name)) return "";
    try {
        const Written written = write(scenarios::plain_name(name + ".scenario.json"),
                                      scenarios::to_json(*scenarios::find_scenario(name)), options);
        if (written.file.empty()) return std::nullopt;
        return " --scenarios " + written.file;
    } catch (const std::exception&) {
        return std::nullopt;  // it says what no file can say
    }
}

// What the program needs besides, to know the plan's scenario and handler; nothing at all when it
// cannot know them.
std::optional<std::string> own_options(const sim::Plan& plan, const TrialOptions& options) {
    const auto handlers = handlers_option(plan.handler, options);
    const auto scenarios = handlers ? scenarios_option(plan.scenario, options) : std::nullopt;
    if (!scenarios) return std::nullopt;
    return *handlers + *scenarios;
}

// Why it breaks, in the words of `fencepost explain`; empty when that cannot be told.
std::string explanation(const SavedFailure& saved, const TrialOptions& options) {
    const scenarios::Failure& failure = saved.failure;
    const auto text = scenarios::call_in_worker(
        [&] {
            scenarios::Runner runner;
            auto explained = explain(failure.plan, failure.invariant, failure.key, runner);
            if (!explained) return std::string{};
            reports::Explanation& of = explained->explanation;
            if (const auto own = own_options(failure.plan, options); own && !saved.file.empty()) {
                of.replay = fmt::format("{} replay {}{} --trace", program(), saved.file, *own);
                of.picture =
                    fmt::format("{} explain {}{} --html page.html", program(), saved.file, *own);
            }
            return reports::explanation_text(of);
        },
        pool_of(options));
    return text ? *text : std::string{};
}

}  // namespace

scenarios::PoolOptions pool_of(const TrialOptions& options) {
    scenarios::PoolOptions pool;
    pool.jobs = options.jobs;
    pool.in_process = options.in_process || has_threads();
    return pool;
}

std::string failures_folder(const TrialOptions& options) {
    if (!options.failures_folder.empty()) return options.failures_folder;
    const std::string folder = from_environment("FENCEPOST_FAILURES");
    return folder.empty() ? "fencepost-failures" : folder;
}

std::string replay_command(const std::string& file, const sim::Plan& plan,
                           const TrialOptions& options) {
    if (const auto own = own_options(plan, options))
        return fmt::format("{} replay {}{}", program(), file, *own);
    if (!options.test_command.empty())
        return fmt::format("FENCEPOST_REPLAY={} {}", file, options.test_command);
    return fmt::format("FENCEPOST_REPLAY={} (in the environment of this test)", file);
}

std::optional<scenarios::Failure> least_failure(const sim::Plan& failing,
                                                const std::string& checker, const std::string& key,
                                                const TrialOptions& options) {
    scenarios::ShrinkOptions shrinking;
    shrinking.parameters =
        scenarios::shrinkable_parameters(*scenarios::find_scenario(failing.scenario));
    scenarios::Shrunk shrunk;
    if (pool_of(options).in_process) {
        const scenarios::PlanRunner runner = scenarios::fresh_runner();
        shrunk = scenarios::shrink(failing, runner.run, shrinking, checker, key);
    } else {
        auto made =
            scenarios::shrink_in_worker(failing, scenarios::fresh_runner, shrinking, checker, key);
        if (!made) return std::nullopt;
        shrunk = std::move(*made);
    }
    if (!shrunk.reproduced) return std::nullopt;
    return scenarios::failure_of(shrunk);
}

SavedFailure save(scenarios::Failure failure, std::uint64_t seen, const TrialOptions& options) {
    failure.version = code_version();
    SavedFailure saved{.failure = std::move(failure), .file = {}, .text = {}};
    const Written written = write(scenarios::failure_file_name(saved.failure),
                                  scenarios::to_json(saved.failure), options);
    saved.file = written.file;
    reports::FailureReport report = report_of(saved.failure);
    report.seen = seen;
    const scenarios::FoundBy& found = saved.failure.found_by;
    report.first_seen = found.seed ? fmt::format("seed {}", *found.seed) : found.how;
    report.file = written.file;
    if (!written.file.empty())
        report.replay = replay_command(written.file, saved.failure.plan, options);
    saved.text = reports::failure_text(report) + written.problem;
    const std::string why = explanation(saved, options);
    if (!why.empty()) saved.text += "\n" + why;
    return saved;
}

std::string mishap_text(const scenarios::Mishap& mishap, const sim::Plan& plan,
                        const std::string& run, const TrialOptions& options) {
    const Written written =
        write(scenarios::plain_name(fmt::format("{}-{}-mishap-{}.json", plan.scenario, plan.handler,
                                                sim::seed_to_text(plan.seed))),
              sim::to_json(plan), options);
    const std::string replay =
        written.file.empty() ? "" : replay_command(written.file, plan, options);
    return reports::broken_run_text(broken_run_of(mishap, run, replay)) + written.problem;
}

std::optional<scenarios::Failure> asked_for_again(const Candidate& candidate,
                                                  std::string_view scenario) {
    const std::string file = from_environment("FENCEPOST_REPLAY");
    if (file.empty()) return std::nullopt;
    scenarios::Failure failure = scenarios::read_failure(file);
    const bool is_meant = failure.plan.handler == candidate.name() &&
                          (scenario.empty() || failure.plan.scenario == scenario);
    if (!is_meant) return std::nullopt;
    return failure;
}

}  // namespace fencepost::kit
