#include "scenarios/files/scenario_file.h"

#include <fmt/format.h>

#include <fstream>

#include "scenarios/files/annotated.h"
#include "scenarios/files/fill_in.h"
#include "scenarios/files/scenario_forms.h"
#include "scenarios/setting.h"

namespace fencepost::scenarios {
namespace {

constexpr std::array kSections{
    Section{"name", "What it is about."},
    Section{"handlers",
            "Who takes part: the handlers that are tested when none is named, and "
            "what they need."},
    Section{"nodes", "The cluster."},
    Section{"schema", "SQL that runs after the handler's own."},
    Section{"parameters", "Numbers for the handler; --set changes them."},
    Section{"start", "When the run begins, what is scheduled in it, and what must happen once."},
    Section{"script", "What operators do in every run."},
    Section{"families", "What may go wrong, how often in a run, and until when."},
    Section{"probes", "States that a sweep must reach, and the checkers that judge a run."},
    Section{"effects", "What must land exactly once, and queries that must find no rows."},
};

void read_scripts(const FileValue& file, std::string_view key, const ReadSqlFile& read_sql_file,
                  std::vector<SqlScript>& scripts) {
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        try {
            scripts[i].text = read_sql_file(scripts[i].name);
        } catch (const std::exception& error) {
            file.fail_at_place(fmt::format("{}[{}]", key, i), error.what());
        }
    }
}

std::string read_regular_file(const std::filesystem::path& path, const std::string& name) {
    const auto fail = [&](std::string_view why) -> void {
        throw std::runtime_error(fmt::format("the SQL file \"{}\" {}", name, why));
    };
    std::error_code error;
    if (name.empty() || name.find('\0') != std::string::npos) fail("has no name");
    if (!std::filesystem::is_regular_file(path, error)) {
        fail("is no file; its name is relative to the folder of the scenario");
    }
    if (std::filesystem::file_size(path, error) > LocatedJson::kMostBytes || error) {
        fail(fmt::format("is larger than {} bytes", LocatedJson::kMostBytes));
    }
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) fail("cannot be read");
    return text;
}

ReadSqlFile reader_of(const std::filesystem::path& folder) {
    return [folder](const std::string& name) { return read_regular_file(folder / name, name); };
}

Scenario read_scenario(const FileValue& file, const ReadSqlFile& read_sql_file) {
    auto scenario = Form<Scenario>::read(file);
    fill_in(file, scenario);
    read_scripts(file, "schema", read_sql_file, scenario.schema);
    read_scripts(file, "seed", read_sql_file, scenario.seed);
    try {
        validate(scenario);
    } catch (const sim::PlanError& error) {
        file.fail_at_place(error.place(), error.sentence());
    }
    return scenario;
}

void execute_sql(const FileValue& file, const Scenario& scenario, std::size_t handler) {
    try {
        const Setting setting{scenario, *find_handler(scenario.handlers[handler]),
                              scenario.parameters};
    } catch (const sim::PlanError& error) {
        const bool of_handler = error.place().empty();
        file.fail_at_place(of_handler ? fmt::format("handlers[{}]", handler) : error.place(),
                           error.sentence());
    }
}

}  // namespace

Scenario scenario_from_json(std::string_view text, const ReadSqlFile& read_sql_file) {
    const LocatedJson located = parse_located(text);
    return read_scenario(FileValue{located}, read_sql_file);
}

Scenario scenario_from_json(std::string_view text, const std::filesystem::path& folder) {
    return scenario_from_json(text, reader_of(folder));
}

Scenario checked_scenario_from_json(std::string_view text, const std::filesystem::path& folder) {
    const LocatedJson located = parse_located(text);
    const FileValue file{located};
    Scenario scenario = read_scenario(file, reader_of(folder));
    for (std::size_t i = 0; i < scenario.handlers.size(); ++i) {
        execute_sql(file, scenario, i);
    }
    return scenario;
}

std::string to_json(const Scenario& scenario) {
    return annotated(Form<Scenario>::write(scenario), kSections);
}

}  // namespace fencepost::scenarios
