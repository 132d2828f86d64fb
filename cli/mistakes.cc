// fencepost mistakes: proves the verdicts by finding every planted mistake.
#include <algorithm>
#include <functional>
#include <set>

#include "checkers/checker.h"
#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/failure_folder.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/searching.h"
#include "kit/code_version.h"
#include "reports/json.h"
#include "reports/text.h"
#include "reports/verdicts.h"
#include "scenarios/search/hunt.h"
#include "scenarios/search/kind_proof.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

std::vector<const scenarios::HandlerSpec*> mistakes_named(const std::vector<std::string>& names) {
    std::vector<const scenarios::HandlerSpec*> mistakes;
    for (const std::string& name : names) {
        const scenarios::HandlerSpec& handler = handler_named(name);
        if (!handler.is_mistake()) {
            throw CommandError(shown(name) +
                               " is no planted mistake; fencepost list handlers shows them");
        }
        mistakes.push_back(&handler);
    }
    if (!names.empty()) return mistakes;
    for (const scenarios::HandlerSpec& handler : scenarios::all_handlers()) {
        if (handler.is_mistake()) mistakes.push_back(&handler);
    }
    return mistakes;
}

std::optional<reports::MistakeCatch> report_of(const std::optional<scenarios::Catch>& caught) {
    if (!caught) return std::nullopt;
    return reports::MistakeCatch{.scenario = caught->scenario,
                                 .condition = scenarios::find_scenario(caught->scenario)->condition,
                                 .checker = caught->checker,
                                 .first = caught->first,
                                 .count = caught->count,
                                 .runs = caught->runs};
}

reports::MistakeReport report_of(const scenarios::HandlerSpec& mistake,
                                 const scenarios::Hunt& hunt) {
    reports::MistakeReport report{.name = mistake.name,
                                  .lesson = mistake.lesson,
                                  .breaks = mistake.breaks,
                                  .by_seeds = report_of(hunt.by_seeds),
                                  .by_one_fault = report_of(hunt.by_one_fault),
                                  .by_two_faults = report_of(hunt.by_two_faults),
                                  .least = {},
                                  .failing = hunt.failing,
                                  .found = hunt.found(),
                                  .unfinished = hunt.interrupted};
    if (hunt.least) {
        report.least = hunt.least->plan;
        report.minimal = hunt.least->proven;
    }
    if (report.found) return report;
    if (hunt.scenarios.empty()) {
        report.trouble = "it can take part in no scenario";
    } else if (hunt.by_seeds && !hunt.least) {
        report.trouble = "its plan could not be run again";
    } else if (!hunt.interrupted) {
        report.trouble = "nothing that it should break broke in " + reports::joined(hunt.scenarios);
    }
    return report;
}

// The least plan as a failure. Seeds are counted from 1.
void save(const scenarios::Hunt& hunt, FailureFolder& folder) {
    if (!hunt.least) return;
    scenarios::Failure failure = scenarios::failure_of(*hunt.least);
    failure.version = code_version();
    failure.found_by.how = hunt.by_seeds ? "sweep" : "exhaust";
    if (hunt.by_seeds) failure.found_by.seed = hunt.by_seeds->first;
    folder.save(failure);
}

// What no mistake needs: checkers that fail on no least plan, kinds of fault that show none.
void note_unproven(reports::MistakesReport& report, const scenarios::SearchOptions& search) {
    std::set<std::string, std::less<>> checkers;
    std::set<sim::FaultKind> kinds;
    for (const reports::MistakeReport& mistake : report.mistakes) {
        checkers.insert(mistake.failing.begin(), mistake.failing.end());
        for (const sim::Fault& fault : mistake.least.faults) kinds.insert(fault.kind);
    }
    for (const checkers::Checker& checker : checkers::all_checkers()) {
        if (!checkers.contains(checker.name)) report.checkers_unproven.emplace_back(checker.name);
    }
    for (const sim::FaultKindInfo& kind : sim::fault_kinds()) {
        if (kinds.contains(kind.kind)) continue;
        const auto [proof, interrupted] = scenarios::proof_of(kind.kind, search);
        report.interrupted = interrupted && !proof;
        if (report.interrupted) return;
        if (proof) {
            report.fault_proofs.push_back(
                {std::string(kind.name), proof->mistake, proof->scenario, proof->checker});
        } else {
            report.faults_unproven.emplace_back(kind.name);
        }
    }
}

}  // namespace

int mistakes_command(const Arguments& arguments, Console& console) {
    const scenarios::InterruptionGuard guard;  // what was found is told, whenever it ends
    const auto mistakes = mistakes_named(arguments.operands());
    check_outputs(arguments, {"json"});
    FailureFolder folder{arguments, console};
    Progress progress{console};
    scenarios::HuntOptions options;
    options.most_seeds = arguments.number("seeds", 1, 1'000'000).value_or(options.most_seeds);
    reports::MistakesReport report{
        .mistakes = {}, .seeds = options.most_seeds, .all = arguments.operands().empty()};
    for (const scenarios::HandlerSpec* mistake : mistakes) {
        options.search = search_options(arguments, progress, mistake->name);
        const scenarios::Hunt hunt = scenarios::hunt(*mistake, options);
        report.mistakes.push_back(report_of(*mistake, hunt));
        if (arguments.has("out")) save(hunt, folder);
        report.interrupted = hunt.interrupted;
        if (report.interrupted) break;
    }
    if (report.all && !report.interrupted) {
        note_unproven(report, search_options(arguments, progress, "kinds of fault"));
    }
    progress.clear();
    const std::string json = reports::mistakes_json(report);
    take_all({[&] { folder.write_summary(json); },
              [&] {
                  print_result(arguments, console, reports::mistakes_text(report, console.style),
                               json);
              }});
    return reports::exit_code(reports::ending_of(report));
}

}  // namespace fencepost::cli
