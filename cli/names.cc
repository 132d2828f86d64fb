#include "cli/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_error.h"
#include "reports/layout.h"
#include "scenarios/nearest.h"
#include "scenarios/validation.h"

namespace fencepost::cli {

const scenarios::Scenario& scenario_named(std::string_view name) {
    if (const scenarios::Scenario* found = scenarios::find_scenario(name)) return *found;
    throw CommandError(scenarios::unknown_scenario(shown(name)));
}

const scenarios::HandlerSpec& handler_named(std::string_view name) {
    if (const scenarios::HandlerSpec* found = scenarios::find_handler(name)) return *found;
    throw CommandError(scenarios::unknown_handler(shown(name)));
}

const scenarios::HandlerSpec& handler_of(const Arguments& arguments,
                                         const scenarios::Scenario& scenario) {
    const auto asked = arguments.text("handler");
    const scenarios::HandlerSpec& handler = handler_named(asked ? *asked : scenario.handlers.at(0));
    if (const auto reason = scenarios::obstacle(scenario, handler)) {
        throw CommandError(fmt::format("{} cannot take part in {}, because {}", handler.name,
                                       scenario.name, *reason));
    }
    return handler;
}

std::string unknown_name(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known) {
    return fmt::format("unknown {} \"{}\"{}; known are {}", what, shown(name),
                       scenarios::did_you_mean(name, known), fmt::join(known, ", "));
}

std::string shown(std::string_view text) {
    return reports::shortened(reports::on_one_line(text), 60);
}

}  // namespace fencepost::cli
