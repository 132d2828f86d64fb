// What the acceptance checklist writes beside its text and JSON: JUnit, SARIF, GitHub annotations
// and a page; and the explanations of failures that stand in them.
#pragma once

#include "cli/console.h"
#include "cli/options.h"
#include "reports/results.h"

namespace fencepost::cli {

// Before any work; see check_outputs().
void check_accept_outputs(const Arguments& arguments);

// Where an output wants it: explains each failure, in a worker of its own, and names the source
// lines of the handlers.
void explain_failures(reports::AcceptReport& report, const Arguments& arguments, Console& console);

void write_accept_outputs(const reports::AcceptReport& report, const Arguments& arguments,
                          Console& console);

}  // namespace fencepost::cli
