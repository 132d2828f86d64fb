// The world of a run as a person looks at it between two steps: tasks, waits, tables, keys. Nothing
// is changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/world.h"
#include "reports/layout.h"

namespace fencepost::cli {

std::vector<std::string> node_names(model::World& world);
std::vector<std::string> table_names(model::World& world);
std::vector<std::string> key_names(model::World& world);

// The nodes with their clocks, and what each task waits for; of one node, or of all.
std::string tasks_text(model::World& world, std::string_view node, reports::TextStyle style);
// Who waits for whom: at locks of the database, for other tasks, for answers.
std::string waits_text(model::World& world);
// The committed rows of a table.
std::string table_text(model::World& world, const std::string& table, reports::TextStyle style);
// All tables, with how many rows they have.
std::string tables_text(model::World& world, reports::TextStyle style);
// A key of Redis with its value and how long it has to live.
std::string key_text(model::World& world, const std::string& key);
// All keys.
std::string keys_text(model::World& world);

}  // namespace fencepost::cli
