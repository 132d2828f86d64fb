// Names that the user wrote, looked up; one that is unknown is a CommandError with a suggestion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "scenarios/scenario.h"

namespace fencepost::cli {

// Of a bare plan that names none.
inline constexpr std::string_view kUsualHandler = "reconcile";

const scenarios::Scenario& scenario_named(std::string_view name);
const scenarios::HandlerSpec& handler_named(std::string_view name);
// The handler of --handler, or the first reference handler of the scenario. CommandError when it
// cannot take part.
const scenarios::HandlerSpec& handler_of(const Arguments& arguments,
                                         const scenarios::Scenario& scenario);

// `unknown scenario "same-instnat" (did you mean "same-instant"?)`, with all that are known.
std::string unknown_name(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known);

// A name as it can be shown in a message: one line, not too long.
std::string shown(std::string_view text);

}  // namespace fencepost::cli
