#include "cli/one_run.h"

#include <fmt/format.h>

#include <array>

#include "cli/converting.h"
#include "cli/output.h"
#include "reports/text.h"
#include "reports/trace.h"
#include "reports/verdicts.h"
#include "scenarios/search/plan_runner.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

constexpr int kInconclusive = 3;
constexpr int kHarnessFailed = 4;

// What the other process sends: the code, and texts of which any may be empty.
struct Answer {
    std::string code;
    std::string text;
    std::string json;
    std::string trace;
    std::string trace_json;

    auto parts() { return std::array{&code, &text, &json, &trace, &trace_json}; }

    std::string packed() {
        std::string out;
        for (const std::string* part : parts()) out += fmt::format("{}:", part->size()) + *part;
        return out;
    }
    static Answer unpacked(std::string_view text) {
        Answer answer;
        for (std::string* part : answer.parts()) {
            const std::size_t colon = text.find(':');
            sim::require(colon != std::string_view::npos, "a worker's answer is whole");
            const std::size_t size = std::stoull(std::string(text.substr(0, colon)));
            *part = text.substr(colon + 1, size);
            text.remove_prefix(colon + 1 + size);
        }
        return answer;
    }
};

reports::TraceOptions trace_options(const scenarios::RunResult& result, reports::TextStyle style) {
    reports::TraceOptions options;
    options.style = style;
    for (auto& [record, text] : remarks_of(result))
        options.marks.push_back({.record = record, .text = std::move(text)});
    return options;
}

Answer answer_for(const OneRun& run, const Arguments& arguments, reports::TextStyle style,
                  const Render& render) {
    scenarios::Runner runner;
    const scenarios::RunResult result = runner.run(run.plan);
    reports::RunReport report = report_of(run.plan, result);
    report.replay = run.replay;
    Answer answer;
    if (arguments.has("verify")) {
        const auto difference = scenarios::first_difference(run.plan, scenarios::fresh_runner());
        if (difference) {
            answer.code = std::to_string(kHarnessFailed);
            answer.text =
                reports::difference_text(difference->record, difference->first, difference->second);
            return answer;
        }
        report.verified = true;
    }
    const Rendered rendered = render(report, result);
    answer.code = std::to_string(rendered.exit_code);
    answer.text = rendered.text;
    answer.json = rendered.json;
    if (arguments.has("trace"))
        answer.trace = reports::trace_text(runner.history(), trace_options(result, style));
    if (arguments.has("trace-json")) answer.trace_json = reports::trace_json(runner.history());
    return answer;
}

int print_broken(const scenarios::Mishap& mishap, const OneRun& run, Console& console) {
    if (is_interruption(mishap)) {
        console.err << "fencepost: interrupted\n";
        return kInconclusive;
    }
    const reports::BrokenRun broken = broken_run_of(mishap, run.called, run.replay);
    console.out << reports::broken_run_text(broken, console.style);
    return broken.handlers_doing ? 1 : kHarnessFailed;
}

}  // namespace

int perform(const OneRun& run, const Arguments& arguments, Console& console, const Render& render) {
    check_outputs(arguments, {"json", "trace-json"});
    const auto packed = scenarios::call_in_worker(
        [&] { return answer_for(run, arguments, console.style, render).packed(); });
    if (!packed) return print_broken(packed.error(), run, console);
    const Answer answer = Answer::unpacked(*packed);
    const auto to_standard_output = [&](std::string_view option) {
        return arguments.text(option) == std::optional<std::string>{"-"};
    };
    if (answer.json.empty()) {  // it was not the same twice
        console.err << "fencepost: " << answer.text << "\n";
    } else {
        if (!to_standard_output("json") && !to_standard_output("trace-json")) {
            console.out << answer.trace << (answer.trace.empty() ? "" : "\n") << answer.text;
        }
        const auto write = [&](std::string_view option, std::string_view text) {
            if (const auto file = arguments.text(option)) write_output(*file, console, text);
        };
        take_all(
            {[&] { write("json", answer.json); }, [&] { write("trace-json", answer.trace_json); }});
    }
    return std::stoi(answer.code);
}

}  // namespace fencepost::cli
