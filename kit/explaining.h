// Makes explanations: runs a failing plan and its neighbours and puts into words what they show.
//
// In this process: whoever cannot trust the handler calls it in a worker.
#pragma once

#include <optional>
#include <string>

#include "reports/diagram.h"
#include "reports/explanation.h"
#include "scenarios/runner.h"
#include "sim/plan.h"

namespace fencepost::kit {

struct ExplainedRun {
    reports::Explanation explanation;
    scenarios::RunResult result;
    checkers::Finding finding;
};

// Of the first checker that fails and its first finding, or of those that are named. Nothing when
// the run does not break that invariant. The runner's last run is the failing one.
std::optional<ExplainedRun> explain(const sim::Plan& plan, const std::string& checker,
                                    const std::string& key, scenarios::Runner& runner);

// The picture of the run, of which the runner must still hold the history; `name` is unique in a
// page.
reports::Diagram diagram_of(const ExplainedRun& run, const scenarios::Runner& runner,
                            const std::string& name);

// Where the documentation treats what a checker says.
std::string reading_for(std::string_view checker);

}  // namespace fencepost::kit
