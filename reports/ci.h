// The acceptance checklist in the forms that CI systems read.
//
//   JUnit     a suite for each condition, a case for each of its five verdicts and one for its
//             evidence, after one for the saved failures. A broken invariant is a failure, with its
//             explanation and the command that replays it; what was never judged or reached is an
//             error; what does not apply is skipped. No times: they would differ from run to run.
//   SARIF     2.1.0, a result for each way in which an invariant broke, at the line where the
//             handler is made; a rule for each checker.
//   GitHub    workflow commands, one a line: an error for each result, a warning for what stays
//             open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/results.h"

namespace fencepost::reports {

struct Rule {
    std::string name;       // of the checker
    std::string invariant;  // its sentence
};

std::string junit_xml(const AcceptReport& report);
std::string sarif_json(const AcceptReport& report, const std::vector<Rule>& rules,
                       std::string_view version);
std::string github_annotations(const AcceptReport& report);

}  // namespace fencepost::reports
