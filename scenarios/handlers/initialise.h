// The reference handler initialise: what a node does before it takes up work. It makes a table of
// regions with a column, an index and three rows; upgrades to a price list, first in yuan, then in
// fen; and caches the prices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jobs/startup.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

namespace initialise {

inline constexpr const char* kRegionTable =
    "CREATE TABLE IF NOT EXISTS region (id TEXT PRIMARY KEY, name TEXT NOT NULL)";
inline constexpr const char* kTimeZoneColumn =
    "ALTER TABLE region ADD COLUMN IF NOT EXISTS time_zone TEXT NOT NULL DEFAULT 'Asia/Shanghai'";
inline constexpr const char* kNameIndex =
    "CREATE INDEX IF NOT EXISTS region_name_idx ON region (name)";

jobs::StartUpPlan plan();
// The same without upgrades and cache.
jobs::StartUpPlan first_release();

// "cache:price:basic" and the like, with the amounts in fen or whatever they are now.
std::vector<jobs::CachedValue> prices(jobs::sql::Session& session);

}  // namespace initialise

// Runs `body` as the start-up of a node, which expects no fires.
using StartUpBody = std::function<void(const jobs::Ports&)>;
HandlerSpec start_up_handler(std::string name, std::string lesson, StartUpBody body);

HandlerSpec initialise_handler();

}  // namespace fencepost::scenarios
