#include <fmt/format.h>

#include <filesystem>

#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/names.h"
#include "reports/layout.h"
#include "scenarios/files/scenario_file.h"

namespace fencepost::cli {
namespace {

constexpr int kWrong = 2;
constexpr std::size_t kMostShown = 2'000;  // of an error, in characters: SQL may stand in it

// Whether the file is a sound scenario; says so, or where it is not.
bool check(const std::string& file, Console& console) {
    try {
        const scenarios::Scenario scenario = scenarios::checked_scenario_from_json(
            read_file(file), std::filesystem::path(file).parent_path());
        console.out << fmt::format("{}: ok, scenario {}\n", file, scenario.name);
        return true;
    } catch (const scenarios::ScenarioFileError& error) {
        const scenarios::FilePosition at = error.position();
        console.err << fmt::format(
            "{}:{}:{}: {}\n", file, at.line, at.column,
            reports::shortened(reports::on_one_line(error.unplaced()), kMostShown));
    } catch (const CommandError& error) {
        console.err << error.what() << "\n";
    }
    return false;
}

}  // namespace

int check_command(const Arguments& arguments, Console& console) {
    bool sound = true;
    for (const std::string& file : arguments.operands()) {
        if (!check(file, console)) sound = false;
    }
    return sound ? 0 : kWrong;
}

int show_command(const Arguments& arguments, Console& console) {
    console.out << scenarios::to_json(scenario_named(arguments.operand()));
    return 0;
}

}  // namespace fencepost::cli
