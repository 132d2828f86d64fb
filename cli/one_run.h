// One run of one plan, in a process of its own: what the handler does to it cannot hurt us.
#pragma once

#include <functional>
#include <string>

#include "cli/console.h"
#include "cli/options.h"
#include "reports/results.h"
#include "scenarios/runner.h"
#include "sim/plan.h"

namespace fencepost::cli {

// What a command makes of its run.
struct Rendered {
    std::string text;
    std::string json;
    int exit_code = 0;
};
using Render =
    std::function<Rendered(const reports::RunReport& report, const scenarios::RunResult& result)>;

struct OneRun {
    sim::Plan plan;      // valid
    std::string called;  // "seed 12", for the message when it breaks its process
    std::string replay;  // the command that runs it again
};

// Runs the plan, honours --trace, --trace-json, --json and --verify, and prints. `render` is called
// in the other process.
int perform(const OneRun& run, const Arguments& arguments, Console& console, const Render& render);

}  // namespace fencepost::cli
