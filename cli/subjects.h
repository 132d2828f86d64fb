// What a command is about: a scenario, a handler and the parameters that --set changes.
#pragma once

#include <string>

#include "cli/console.h"
#include "cli/options.h"
#include "scenarios/scenario.h"
#include "scenarios/search/random_plan.h"

namespace fencepost::cli {

// The subject of the options; --set's value is "NAME=NUMBER,NAME=NUMBER", --profile's a name or a
// file. CommandError when a name is no parameter of the scenario, when a number is none that it can
// be, or when the profile is none.
scenarios::Subject subject_of(const Arguments& arguments, const scenarios::Scenario& scenario,
                              const scenarios::HandlerSpec& handler);

// Of --profile; the default without it.
scenarios::Profile profile_of(const Arguments& arguments);

// "accounts=2, batch=1": what is not as usual; empty when all is.
std::string parameters_text(const scenarios::Subject& subject);

// The end of a command that is about the same subject: " --set accounts=2 --profile harsh", or
// nothing.
std::string subject_options(const scenarios::Subject& subject);

}  // namespace fencepost::cli
