#include <fmt/format.h>

#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/converting.h"
#include "cli/names.h"
#include "cli/one_run.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "cli/subjects.h"
#include "reports/json.h"
#include "reports/text.h"
#include "reports/verdicts.h"
#include "scenarios/search/random_plan.h"
#include "scenarios/search/sweep.h"

namespace fencepost::cli {
namespace {

OneRun of_plan_file(const Arguments& arguments, const Console& console) {
    const std::string file = *arguments.text("plan");
    sim::Plan plan = read_plan(file);
    if (plan.scenario != arguments.operand()) {
        throw CommandError(fmt::format("{}: this plan is for the scenario \"{}\", not \"{}\"", file,
                                       shown(plan.scenario), arguments.operand()));
    }
    if (arguments.has("handler")) plan.handler = handler_named(*arguments.text("handler")).name;
    validate_plan(plan, file);
    return {.plan = plan,
            .called = "plan " + file,
            .replay = command_line(
                console, {"run", plan.scenario, "--handler", plan.handler, "--plan", file})};
}

OneRun of_seed(const scenarios::Subject& subject, std::uint64_t seed, const Console& console) {
    return {.plan = {},
            .called = fmt::format("seed {}", seed),
            .replay = command_line(console, {"run", subject.scenario, "--handler", subject.handler,
                                             "--seed", std::to_string(seed)}) +
                      subject_options(subject)};
}

OneRun without_faults(const scenarios::Subject& subject, const Console& console) {
    return {
        .plan = subject.plan(0),
        .called = "the run without faults",
        .replay = command_line(console, {"run", subject.scenario, "--handler", subject.handler}) +
                  subject_options(subject)};
}

// The plan that a sweep draws from the seed. Without one, what went wrong is in `problem`: plans
// are drawn from what runs come to, and not even the run without faults came to its end.
std::optional<sim::Plan> drawn_plan(const scenarios::Scenario& scenario,
                                    const scenarios::Subject& subject, std::uint64_t seed,
                                    scenarios::SearchResult& problem) {
    const auto catalogue = scenarios::catalogue_in_workers(scenario, subject, {}, problem);
    if (!catalogue) return std::nullopt;
    return scenarios::PlanSource(scenario, subject, *catalogue).draw(seed);
}

// Nothing could be drawn.
int explain(const scenarios::SearchResult& problem, const OneRun& plain, Console& console) {
    for (const scenarios::FoundMishap& found : problem.mishaps) {
        const reports::BrokenRun broken = broken_run_of(found.mishap, plain.called, plain.replay);
        console.out << reports::broken_run_text(broken, console.style);
        return broken.handlers_doing ? 1 : 4;
    }
    console.err << "fencepost: " << (problem.interrupted() ? "interrupted" : problem.problem)
                << "\n";
    return problem.interrupted() ? 3 : 4;
}

}  // namespace

int run_command(const Arguments& arguments, Console& console) {
    if (arguments.has("seed") && arguments.has("plan"))
        throw CommandError("run: give either --seed or --plan, not both");
    if (arguments.has("set") && arguments.has("plan"))
        throw CommandError("run: a plan has its own parameters; leave out --set");
    const scenarios::Scenario& scenario = scenario_named(arguments.operand());
    const auto seed = arguments.seed("seed");
    OneRun run;
    if (arguments.has("plan")) {
        run = of_plan_file(arguments, console);
    } else if (!seed) {
        run = without_faults(subject_of(arguments, scenario, handler_of(arguments, scenario)),
                             console);
    } else {
        const scenarios::Subject subject =
            subject_of(arguments, scenario, handler_of(arguments, scenario));
        check_outputs(arguments, {"json", "trace-json"});
        run = of_seed(subject, *seed, console);
        scenarios::SearchResult problem;
        const auto plan = drawn_plan(scenario, subject, *seed, problem);
        if (!plan) return explain(problem, without_faults(subject, console), console);
        run.plan = *plan;
    }
    return perform(run, arguments, console,
                   [&](const reports::RunReport& report, const scenarios::RunResult&) {
                       return Rendered{.text = reports::run_text(report, console.style),
                                       .json = reports::run_json(report),
                                       .exit_code = reports::exit_code(reports::ending_of(report))};
                   });
}

}  // namespace fencepost::cli
