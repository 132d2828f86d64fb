// fencepost explain: why a saved failure breaks its invariant.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/converting.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "kit/explaining.h"
#include "reports/page.h"
#include "reports/text.h"
#include "scenarios/search/bytes.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {
namespace {

constexpr int kBroken = 1;
constexpr int kInconclusive = 3;
constexpr int kHarnessFailed = 4;

struct Pages {
    std::string text;
    std::string json;
    std::string page;
};

// Runs in a worker. Empty texts when the failure is gone.
std::string pages_of(const scenarios::Failure& failure, const std::string& file,
                     const Console& console) {
    scenarios::Runner runner;
    auto explained = kit::explain(failure.plan, failure.invariant, failure.key, runner);
    Pages pages;
    if (explained) {
        reports::Explanation& explanation = explained->explanation;
        explanation.replay = command_line(console, {"replay", file, "--trace"});
        explanation.picture = command_line(console, {"explain", file, "--html", "page.html"});
        pages.text = reports::explanation_text(explanation, console.style);
        pages.json = reports::explanation_json(explanation);
        pages.page =
            reports::explanation_page(explanation, diagram_of(*explained, runner, "diagram"));
    }
    scenarios::ByteWriter out;
    out.put(pages.text).put(pages.json).put(pages.page);
    return out.take();
}

int print_mishap(const scenarios::Mishap& mishap, const std::string& file, Console& console) {
    if (is_interruption(mishap)) {
        console.err << "fencepost: interrupted\n";
        return kInconclusive;
    }
    const reports::BrokenRun broken =
        broken_run_of(mishap, "explaining " + file, command_line(console, {"replay", file}));
    console.out << reports::broken_run_text(broken, console.style);
    return broken.handlers_doing ? kBroken : kHarnessFailed;
}

}  // namespace

int explain_command(const Arguments& arguments, Console& console) {
    const std::string& file = arguments.operand();
    const scenarios::Failure failure = read_failure(file);
    check_outputs(arguments, {"json", "html"});
    const auto packed = scenarios::call_in_worker([&] { return pages_of(failure, file, console); });
    if (!packed) return print_mishap(packed.error(), file, console);
    Pages pages;
    scenarios::ByteReader in{*packed};
    in.get(pages.text);
    in.get(pages.json);
    in.get(pages.page);
    if (pages.text.empty()) {
        const std::string what = failure.is_bare_plan() ? "no invariant" : failure.invariant;
        console.out << fmt::format(
            "nothing to explain: {} breaks {} (any more); fencepost replay shows its run\n", file,
            failure.is_bare_plan() ? what : "not " + what);
        return 0;
    }
    const auto page = arguments.text("html");
    take_all({[&] {
                  if (page) write_output(*page, console, pages.page);
              },
              [&] {
                  if (page != std::optional<std::string>{"-"})
                      print_result(arguments, console, pages.text, pages.json);
              }});
    return kBroken;
}

}  // namespace fencepost::cli
