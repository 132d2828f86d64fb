// replay --step: the run of a failure, event by event, in this process: a debugger follows it.
#include <fmt/format.h>

#include "cli/command_error.h"
#include "cli/converting.h"
#include "cli/failure_replay.h"
#include "cli/stepper.h"
#include "reports/text.h"
#include "reports/verdicts.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

constexpr int kInconclusive = 3;

Rehearsal rehearse(const sim::Plan& plan, reports::TextStyle style) {
    scenarios::Runner runner;
    const scenarios::RunResult result = runner.run(plan);
    reports::TraceOptions options;
    options.style = style;
    for (auto& [record, text] : remarks_of(result))
        options.marks.push_back({.record = record, .text = std::move(text)});
    return {.trace = reports::trace_lines(runner.history(), options), .steps = result.steps};
}

}  // namespace

int step_through(const scenarios::Failure& failure, const sim::Plan& plan, const std::string& file,
                 Console& console) {
    const auto packed =
        scenarios::call_in_worker([&] { return rehearse(plan, console.style).packed(); });
    std::optional<Rehearsal> rehearsal;
    if (packed) {
        rehearsal = Rehearsal::unpacked(*packed);
    } else if (is_interruption(packed.error())) {
        console.err << "fencepost: interrupted\n";
        return kInconclusive;
    } else {
        console.out << reports::broken_run_text(
            broken_run_of(packed.error(), "the run, tried beforehand", ""), console.style);
    }
    Stepper stepper{plan, std::move(rehearsal), console.in, console};
    scenarios::Runner runner;
    scenarios::RunOptions options;
    options.watch = [&](model::World& world) { stepper.after_step(world); };
    try {
        const scenarios::RunResult result = runner.run(plan, options);
        stepper.finish(runner.history());
        const reports::ReplayReport report =
            replay_report(failure, file, report_of(plan, result), result);
        console.out << "\n" << reports::replay_text(report, console.style);
        return reports::exit_code(reports::ending_of(report));
    } catch (const Stepper::Quit&) {
        return kInconclusive;
    }
}

}  // namespace fencepost::cli
