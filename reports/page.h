// Pages for a browser: one file each, with all that they need and nothing from a network. Light and
// dark follow the reader's system; everything stands in text as well as in pictures.
#pragma once

#include <string>

#include "reports/diagram.h"
#include "reports/explanation.h"
#include "reports/results.h"

namespace fencepost::reports {

// What broke, the story, what it takes and the cause, then the diagram.
std::string explanation_page(const Explanation& explanation, const Diagram& diagram);

// The same as a part of another page: of FailureReport::picture.
std::string explanation_part(const Explanation& explanation, const Diagram& diagram,
                             const std::string& name);

// The matrix of conditions and verdicts; each cell leads to its evidence and its failures.
std::string accept_page(const AcceptReport& report);

// Of every page.
std::string_view page_style();
std::string_view page_script();

}  // namespace fencepost::reports
