#include "tests/fuzz/readers.h"

#include <string>

#include "scenarios/files/scenario_file.h"
#include "scenarios/search/failure.h"
#include "sim/require.h"

namespace fencepost::fuzz {
namespace {

// No file is opened.
std::string no_sql(const std::string& name) {
    if (name != "schema.sql") throw std::runtime_error("there is no such file");
    return "CREATE TABLE points (member BIGINT PRIMARY KEY);";
}

}  // namespace

void read_any_scenario(std::string_view bytes) {
    try {
        const scenarios::Scenario scenario = scenarios::scenario_from_json(bytes, no_sql);
        const std::string text = scenarios::to_json(scenario);
        sim::require(scenarios::scenario_from_json(text, no_sql) == scenario,
                     "a scenario reads back equal");
    } catch (const scenarios::ScenarioFileError&) {
        return;
    }
}

void read_any_plan(std::string_view bytes) {
    try {
        const sim::Plan plan = sim::plan_from_json(bytes);
        sim::require(sim::plan_from_json(sim::to_json(plan)) == plan, "a plan reads back equal");
        scenarios::validate(plan);
    } catch (const sim::PlanError&) {
        return;
    }
}

void read_any_failure(std::string_view bytes) {
    try {
        const scenarios::Failure failure = scenarios::failure_from_json(bytes);
        if (failure.is_bare_plan()) return;
        sim::require(scenarios::failure_from_json(scenarios::to_json(failure)) == failure,
                     "a failure reads back equal");
    } catch (const sim::PlanError&) {
        return;
    }
}

}  // namespace fencepost::fuzz
