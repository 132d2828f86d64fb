#include "cli/subjects.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/command_error.h"
#include "cli/names.h"
#include "scenarios/runner.h"

namespace fencepost::cli {
namespace {

std::string joined_parameters(const scenarios::Subject& subject, std::string_view separator) {
    std::string text;
    for (const auto& [name, value] : subject.parameters)
        text += fmt::format("{}{}={}", text.empty() ? "" : separator, name, value);
    return text;
}

void add_parameter(std::string_view written, scenarios::Subject& subject) {
    const std::size_t equals = written.find('=');
    std::int64_t value = 0;
    bool is_number = false;
    if (equals != std::string_view::npos) {
        const std::string_view number = written.substr(equals + 1);
        const char* const end = number.data() + number.size();
        const auto [stop, error] = std::from_chars(number.data(), end, value);
        is_number = error == std::errc{} && stop == end;
    }
    if (!is_number) {
        throw CommandError(fmt::format(
            "--set: \"{}\" sets nothing; write NAME=NUMBER, several with commas between them",
            shown(written)));
    }
    const std::string name{written.substr(0, equals)};
    if (!subject.parameters.try_emplace(name, value).second)
        throw CommandError(fmt::format("--set: {} is set twice; once is enough", shown(name)));
}

}  // namespace

scenarios::Profile profile_of(const Arguments& arguments) {
    const auto written = arguments.text("profile");
    if (!written) return {};
    try {
        return scenarios::read_profile(*written);
    } catch (const sim::PlanError& error) {
        throw CommandError(fmt::format("--profile: {}", error.what()));
    }
}

scenarios::Subject subject_of(const Arguments& arguments, const scenarios::Scenario& scenario,
                              const scenarios::HandlerSpec& handler) {
    scenarios::Subject subject{scenario.name, handler.name};
    subject.profile = profile_of(arguments);
    const auto written = arguments.text("set");
    if (!written) {
        scenarios::check_setting(subject.plan(0));
        return subject;
    }
    std::string_view rest = *written;
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        add_parameter(rest.substr(0, comma), subject);
        more = comma != std::string_view::npos;
        if (more) rest.remove_prefix(comma + 1);
    }
    try {
        scenarios::check_setting(subject.plan(0));
    } catch (const sim::PlanError& error) {
        throw CommandError(fmt::format("--set: {}", error.what()));
    }
    return subject;
}

std::string parameters_text(const scenarios::Subject& subject) {
    return joined_parameters(subject, ", ");
}

std::string subject_options(const scenarios::Subject& subject) {
    std::string options =
        subject.parameters.empty() ? "" : " --set " + joined_parameters(subject, ",");
    const scenarios::Profile& profile = subject.profile;
    if (!profile.is_default())
        options += " --profile " + (profile.path.empty() ? profile.name : profile.path);
    return options;
}

}  // namespace fencepost::cli
