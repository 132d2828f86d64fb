// The acceptance checklist: every condition, by its scenarios and the handlers that take part.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/accept_outputs.h"
#include "cli/budget.h"
#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/corpus.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/searching.h"
#include "cli/subjects.h"
#include "reports/json.h"
#include "reports/text.h"
#include "reports/verdicts.h"
#include "scenarios/runner.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

// One acceptance under way.
class Acceptance {
    static constexpr int kConditions = 10;

public:
    Acceptance(const Arguments& arguments, Console& console, FailureFolder& folder)
        : arguments_(arguments),
          console_(console),
          folder_(folder),
          progress_(console),
          budget_(arguments),
          profile_(profile_of(arguments)),
          seeds_(arguments.seeds("seeds").value_or(budget_.is_set() ? kManySeeds : kUsualSeeds)),
          report_{.handler = arguments.text("handler").value_or("")} {}

    reports::AcceptReport run() {
        replay_saved();
        if (report_.interrupted) return std::move(report_);
        searches_left_ = 2 * pairs();
        for (const scenarios::Scenario& scenario : scenarios::all_scenarios()) {
            reports::ConditionReport& condition = condition_of(scenario);
            if (auto reason = obstacle_in(scenario)) condition.obstacles.push_back(*reason);
            for (const scenarios::HandlerSpec* handler : handlers_of(scenario)) {
                condition.evidence.push_back(evidence_of(scenario, *handler));
                if (report_.interrupted) return std::move(report_);
            }
        }
        progress_.clear();
        return std::move(report_);
    }

private:
    // What was once found comes first: it takes no search to see that it is back.
    void replay_saved() {
        const auto folder = corpus_folder(arguments_);
        if (!folder || (!arguments_.has("corpus") && !std::filesystem::exists(*folder))) return;
        const std::vector<SavedFailure> corpus = read_corpus(*folder);
        for (std::size_t i = 0; i < corpus.size(); ++i) {
            if (!judges(corpus[i])) continue;
            progress_.show("saved failures", i, corpus.size());
            report_.saved.push_back(replay_of(corpus[i], console_));
            report_.interrupted = report_.interrupted || report_.saved.back().interrupted;
            if (report_.interrupted) return;
        }
    }

    // Whether the failure is of the handler that was asked for, or of a reference handler that
    // takes part. Throws CommandError for a file that cannot be read: it may be.
    [[nodiscard]] bool judges(const SavedFailure& saved) const {
        const std::string& handler = saved.failure.plan.handler;
        if (!saved.problem.empty()) {
            throw CommandError(saved.path.string() + ": " + saved.problem);
        }
        if (!report_.handler.empty()) return handler == report_.handler;
        return std::ranges::any_of(
            scenarios::all_scenarios(), [&](const scenarios::Scenario& scenario) {
                return std::ranges::find(scenario.handlers, handler) != scenario.handlers.end();
            });
    }

    // Why the handler that was asked for cannot take part.
    [[nodiscard]] std::optional<std::string> obstacle_in(
        const scenarios::Scenario& scenario) const {
        if (report_.handler.empty()) return std::nullopt;
        return scenarios::obstacle(scenario, handler_named(report_.handler));
    }

    // The handler that was asked for, if it can take part; else the scenario's own.
    [[nodiscard]] std::vector<const scenarios::HandlerSpec*> handlers_of(
        const scenarios::Scenario& scenario) const {
        if (obstacle_in(scenario)) return {};
        if (!report_.handler.empty()) return {&handler_named(report_.handler)};
        std::vector<const scenarios::HandlerSpec*> handlers;
        for (const std::string& name : scenario.handlers) handlers.push_back(&handler_named(name));
        return handlers;
    }

    // Of scenarios and handlers: each is searched twice.
    [[nodiscard]] std::size_t pairs() const {
        std::size_t count = 0;
        for (const scenarios::Scenario& scenario : scenarios::all_scenarios()) {
            count += handlers_of(scenario).size();
        }
        return count;
    }

    // A scenario of one's own that is about none of the checklist's is a row of its own below them.
    reports::ConditionReport& condition_of(const scenarios::Scenario& scenario) {
        if (scenario.condition == 0) {
            return report_.conditions.emplace_back(
                reports::ConditionReport{.condition = kConditions + ++own_conditions_,
                                         .title = scenario.title,
                                         .evidence = {}});
        }
        const auto known = std::ranges::find(report_.conditions, scenario.condition,
                                             &reports::ConditionReport::condition);
        if (known != report_.conditions.end()) return *known;
        return report_.conditions.emplace_back(reports::ConditionReport{
            .condition = scenario.condition,
            .title = std::string(scenarios::condition_title(scenario.condition)),
            .evidence = {}});
    }

    reports::Evidence evidence_of(const scenarios::Scenario& scenario,
                                  const scenarios::HandlerSpec& handler) {
        scenarios::Subject subject{scenario.name, handler.name};
        subject.profile = profile_;
        scenarios::check_setting(subject.plan(0));
        Search search{scenario, subject, arguments_, console_, progress_, folder_};
        search.time_is_over = budget_.share(searches_left_--);
        reports::Evidence evidence{
            .title = scenario.title, .random = sweep_report(search, seeds_), .one_fault = {}};
        search.time_is_over = budget_.share(searches_left_--);
        if (!evidence.random.interrupted) evidence.one_fault = exhaust_report(search);
        report_.interrupted = evidence.random.interrupted || evidence.one_fault.interrupted;
        return evidence;
    }

    const Arguments& arguments_;
    Console& console_;
    FailureFolder& folder_;
    Progress progress_;
    Budget budget_;
    const scenarios::Profile profile_;
    SeedRange seeds_;
    std::size_t searches_left_ = 0;
    int own_conditions_ = 0;
    reports::AcceptReport report_;
};

}  // namespace

int accept_command(const Arguments& arguments, Console& console) {
    const scenarios::InterruptionGuard guard;  // what was found is told, whenever it ends
    check_exhaust_options(arguments);
    if (const auto handler = arguments.text("handler")) handler_named(*handler);
    check_accept_outputs(arguments);
    FailureFolder folder{arguments, console};
    reports::AcceptReport report = Acceptance{arguments, console, folder}.run();
    explain_failures(report, arguments, console);
    const std::string json = reports::accept_json(report);
    take_all({[&] { folder.write_summary(json); },
              [&] {
                  print_result(arguments, console, reports::accept_text(report, console.style),
                               json);
              },
              [&] { write_accept_outputs(report, arguments, console); }});
    return reports::exit_code(reports::ending_of(report));
}

}  // namespace fencepost::cli
