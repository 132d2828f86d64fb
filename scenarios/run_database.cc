#include "scenarios/run_database.h"

#include <fmt/format.h>

#include "model/database/engine.h"
#include "model/scheduler/jdbc_schema.h"
#include "scenarios/asked_handler.h"

namespace fencepost::scenarios {
namespace {

// Of a script of the scenario: its place and name, for messages.
struct NamedScript {
    std::string place;
    const SqlScript* script;
};

std::vector<NamedScript> own_scripts(const Scenario& scenario) {
    std::vector<NamedScript> own;
    for (const auto& [list, scripts] :
         {std::pair{"schema", &scenario.schema}, std::pair{"seed", &scenario.seed}}) {
        for (std::size_t i = 0; i < scripts->size(); ++i) {
            own.push_back({fmt::format("{}[{}]", list, i), &(*scripts)[i]});
        }
    }
    return own;
}

void require_answers(const Scenario& scenario, const model::DatabaseImage& image) {
    model::DatabaseEngine engine;
    engine.set_clock([](void*) -> std::int64_t { return 0; }, nullptr);
    engine.reset(image);
    for (const auto& [list, invariants] :
         {std::pair{"always", &scenario.always}, std::pair{"finally", &scenario.finally}}) {
        for (std::size_t i = 0; i < invariants->size(); ++i) {
            const SqlInvariant& invariant = (*invariants)[i];
            const model::Outcome outcome = engine.peek(invariant.query);
            const auto* failure = std::get_if<model::SqlFailure>(&outcome);
            if (failure == nullptr) continue;
            throw sim::PlanError(fmt::format("{}[{}].query", list, i),
                                 fmt::format("the query of \"{}\" fails: {} ({})", invariant.name,
                                             failure->message, failure->sqlstate));
        }
    }
}

}  // namespace

std::vector<std::string> scripts_of(const Scenario& scenario, const HandlerSpec& handler,
                                    const Parameters& parameters) {
    std::vector<std::string> scripts;
    if (handler.schema) {
        scripts = asked(handler, "schema", [&] { return handler.schema(parameters); });
    }
    if (scenario.scheduler.mode == model::SchedulerMode::Clustered) {
        scripts.emplace_back(model::scheduler_schema(scenario.scheduler));
        scripts.push_back(model::scheduler_rows(scenario.jobs, scenario.scheduler));
    }
    for (const NamedScript& own : own_scripts(scenario)) scripts.push_back(own.script->text);
    return scripts;
}

model::DatabaseImage database_of(const Scenario& scenario, const HandlerSpec& handler,
                                 const Parameters& parameters) {
    const std::vector<std::string> scripts = scripts_of(scenario, handler, parameters);
    const std::vector<NamedScript> own = own_scripts(scenario);
    const std::size_t before = scripts.size() - own.size();
    try {
        model::DatabaseImage image = model::DatabaseImage::build(scripts);
        require_answers(scenario, image);
        return image;
    } catch (const model::ImageError& error) {
        if (error.script() <= before) {
            throw sim::PlanError(fmt::format("the schema of {}: {}", handler.name, error.what()));
        }
        const NamedScript& wrong = own.at(error.script() - before - 1);
        throw sim::PlanError(wrong.place, fmt::format("{}, line {}: {}", wrong.script->name,
                                                      error.line(), error.sentence()));
    }
}

}  // namespace fencepost::scenarios
