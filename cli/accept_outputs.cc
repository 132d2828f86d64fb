#include "cli/accept_outputs.h"

#include <algorithm>
#include <array>
#include <functional>

#include "checkers/checker.h"
#include "cli/command_error.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "kit/code_version.h"
#include "kit/explaining.h"
#include "reports/ci.h"
#include "reports/page.h"
#include "scenarios/handler.h"
#include "scenarios/search/bytes.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

// Of all diagrams of a page together, so that it stays under half a megabyte; the failures beyond
// stand there in text.
constexpr std::size_t kMostPictures = 400'000;

// Builds call the compiler from a folder within the tree: what is above it is left out.
std::string path_in_tree(std::string_view file) {
    while (file.starts_with("../")) file.remove_prefix(3);
    return std::string(file);
}

void name_source(reports::AcceptReport& report, const std::string& handler) {
    const scenarios::HandlerSpec* const spec = scenarios::find_handler(handler);
    if (spec == nullptr) return;
    report.sources[handler] = {.file = path_in_tree(spec->source.file_name()),
                               .line = spec->source.line()};
}

// What cannot be explained, since its run takes its process down, stays as it is. False when
// somebody interrupted it.
bool explain_one(reports::FailureReport& failure, const std::string& name) {
    const auto packed = scenarios::call_in_worker([&] {
        scenarios::Runner runner;
        const auto run = kit::explain(failure.plan, failure.checker, failure.key, runner);
        scenarios::ByteWriter out;
        out.put(run ? reports::explanation_brief(run->explanation) : std::string{});
        out.put(
            run ? reports::explanation_part(run->explanation, diagram_of(*run, runner, name), name)
                : std::string{});
        return out.take();
    });
    if (!packed) return !scenarios::is_interruption(packed.error());
    scenarios::ByteReader in{*packed};
    in.get(failure.explanation);
    in.get(failure.picture);
    return true;
}

std::vector<reports::Rule> rules() {
    std::vector<reports::Rule> rules;
    for (const checkers::Checker& checker : checkers::all_checkers()) {
        rules.push_back(
            {.name = std::string(checker.name), .invariant = std::string(checker.invariant)});
    }
    return rules;
}

}  // namespace

void check_accept_outputs(const Arguments& arguments) {
    check_outputs(arguments, {"json", "junit", "sarif", "html"});
    const auto on_standard_output = [&](std::string_view option) {
        return arguments.text(option) == std::optional<std::string>{"-"};
    };
    for (const std::string option : {"json", "junit", "sarif", "html"}) {
        if (arguments.has("github") && on_standard_output(option)) {
            throw CommandError("--github prints on standard output; give --" + option + " a file");
        }
    }
}

void explain_failures(reports::AcceptReport& report, const Arguments& arguments, Console& console) {
    const bool wanted =
        std::ranges::any_of(std::array{"junit", "sarif", "github", "html"},
                            [&](std::string_view option) { return arguments.has(option); });
    if (!wanted) return;
    int number = 0;
    std::size_t pictures = 0;
    Progress progress{console};
    for (reports::ConditionReport& condition : report.conditions) {
        for (reports::Evidence& evidence : condition.evidence) {
            name_source(report, evidence.random.handler);
            for (reports::SearchReport* search : {&evidence.random, &evidence.one_fault}) {
                for (reports::FailureReport& failure : search->failures) {
                    progress.show("explaining " + failure.checker + " in " + failure.scenario, 0,
                                  1);
                    if (!explain_one(failure, "diagram-" + std::to_string(++number))) return;
                    const std::size_t with_it = pictures + failure.picture.size();
                    if (with_it > kMostPictures) failure.picture.clear();
                    pictures += failure.picture.size();
                }
            }
        }
    }
}

void write_accept_outputs(const reports::AcceptReport& report, const Arguments& arguments,
                          Console& console) {
    const auto write = [&](std::string_view option, const std::function<std::string()>& text) {
        if (const auto file = arguments.text(option)) write_output(*file, console, text());
    };
    take_all({[&] { write("junit", [&] { return reports::junit_xml(report); }); },
              [&] {
                  write("sarif",
                        [&] { return reports::sarif_json(report, rules(), code_version()); });
              },
              [&] { write("html", [&] { return reports::accept_page(report); }); },
              [&] {
                  if (arguments.has("github")) console.out << reports::github_annotations(report);
              }});
}

}  // namespace fencepost::cli
