// A scenario as a file: JSON with // and /* */ comments, and SQL files beside it. Everything that a
// built-in scenario can say, a file can say (docs/scenario-files.md).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "scenarios/files/located_json.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {

// Gives the text of an SQL file that a scenario names. What it throws says why it cannot; it needs
// no place.
using ReadSqlFile = std::function<std::string(const std::string& name)>;

// The scenario that the text says, with everything filled in that it leaves out, and valid
// (validate() in scenario.h). SQL is read, and not executed. Throws ScenarioFileError.
Scenario scenario_from_json(std::string_view text, const ReadSqlFile& read_sql_file);
// SQL files are regular files of at most 1 MiB, named relative to the folder.
Scenario scenario_from_json(std::string_view text, const std::filesystem::path& folder);

// As this, once its SQL has been executed with each of its handlers: its scripts, and the queries
// of its invariants on what they leave.
Scenario checked_scenario_from_json(std::string_view text, const std::filesystem::path& folder);

// The inverse of reading: a file with short comments, which reads back as an equal scenario. SQL
// files are named, not written. A schedule that never ends is beyond what a file can say.
std::string to_json(const Scenario& scenario);

}  // namespace fencepost::scenarios
