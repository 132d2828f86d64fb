#include "scenarios/setting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/database/schema.h"
#include "scenarios/asked_handler.h"
#include "scenarios/nearest.h"
#include "scenarios/reduced.h"
#include "scenarios/run_database.h"
#include "scenarios/validation.h"
#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

constexpr std::size_t kMostEffectTables = 200;  // an identity has one byte for its table

const Scenario& scenario_of(const sim::Plan& plan) {
    validate(plan);
    return *find_scenario(plan.scenario);
}

Parameters with_overrides(const Scenario& scenario, const sim::Plan& plan) {
    auto values = scenario.parameters.all();
    for (const auto& [name, value] : plan.parameters) values[name] = value;
    return Parameters{std::move(values)};
}

[[noreturn]] void fail(const std::string& place, const std::string& sentence) {
    if (place.empty()) throw sim::PlanError("effects: " + sentence);
    throw sim::PlanError(place, sentence);
}

// A table may be named by the handler and by the scenario, if they do not contradict each other.
template <typename PlaceOf>
void add_learnt(checkers::Expectations& all, const std::vector<checkers::EffectTable>& named,
                const PlaceOf& place_of) {
    for (std::size_t i = 0; i < named.size(); ++i) {
        const auto known =
            std::ranges::find(all.effects, named[i].table, &checkers::EffectTable::table);
        if (known == all.effects.end()) {
            all.effects.push_back(named[i]);
            all.effects.back().learnt = true;
        } else if (!named[i].identity.empty() && named[i].identity != known->identity) {
            fail(place_of(i),
                 fmt::format("the table \"{}\" is named twice, with the identity ({}) and with "
                             "({}); leave one of them out",
                             named[i].table, fmt::join(known->identity, ", "),
                             fmt::join(named[i].identity, ", ")));
        }
        if (all.effects.size() > kMostEffectTables) {
            fail(place_of(i),
                 fmt::format("there are at most {} tables of effects", kMostEffectTables));
        }
    }
}

checkers::Expectations expectations_of(const Scenario& scenario, const HandlerSpec& handler,
                                       const Parameters& parameters) {
    checkers::Expectations all;
    if (handler.expectations) {
        all = asked(handler, "expectations",
                    [&] { return handler.expectations(parameters, scenario.due); });
    }
    add_learnt(all, handler.effects, [](std::size_t) { return std::string{}; });
    add_learnt(all, scenario.effects, [](std::size_t i) { return fmt::format("effects[{}]", i); });
    for (const auto* stated : {&scenario.always, &scenario.finally}) {
        for (const SqlInvariant& each : *stated) {
            all.invariants.push_back({each.name, each.message});
        }
    }
    return all;
}

// A handler whose act is the day, say, cannot be judged where a day has two acts.
void require_distinct_effects(const checkers::Expectations& all, const HandlerSpec& handler) {
    for (const checkers::EffectTable& effects : all.effects) {
        std::map<std::vector<std::string>, std::string> units;  // by what they must leave
        for (const checkers::ExpectedEffect& effect : effects.expected) {
            const auto [known, added] = units.emplace(effect.identity, effect.unit);
            if (added) continue;
            throw sim::PlanError(
                "due",
                fmt::format("{} expects {} ({}) of {} and of {}: to it they are one act; let "
                            "one of them be due, or take a handler that tells them apart",
                            handler.name, effects.table, fmt::join(effect.identity, ", "),
                            known->second, effect.unit));
        }
    }
}

// Of the first unique key that is not the primary key, else of that.
std::vector<std::string> unique_columns_of(const model::TableInfo& table) {
    const auto plain = [](const model::UniqueIndex& index) { return !index.columns.empty(); };
    auto found = std::find_if(table.uniques.begin() + 1, table.uniques.end(), plain);
    if (found == table.uniques.end()) found = table.uniques.begin();
    std::vector<std::string> names;
    for (const std::uint16_t column : found->columns) names.push_back(table.columns[column].name);
    return names;
}

// Where the scenario's own file names the table; empty: the handler does.
std::string place_of(const Scenario& scenario, const checkers::EffectTable& effects) {
    const auto named =
        std::ranges::find(scenario.effects, effects.table, &checkers::EffectTable::table);
    if (named == scenario.effects.end()) return {};
    return fmt::format("effects[{}]", named - scenario.effects.begin());
}

// Fills in the identity of learnt effects where nobody has, and looks up every name.
void identify(checkers::EffectTable& effects, const model::Schema& schema,
              const std::string& place) {
    const model::TableInfo* const table = schema.find(effects.table);
    if (table == nullptr) {
        fail(place, fmt::format("there is no table \"{}\" in the schema{}", effects.table,
                                did_you_mean(effects.table, names_of(schema.tables))));
    }
    if (effects.identity.empty()) effects.identity = unique_columns_of(*table);
    std::vector<std::string> named = effects.identity;
    for (const std::string* column : {&effects.key, &effects.tenant}) {
        if (!column->empty()) named.push_back(*column);
    }
    for (const std::string& column : named) {
        if (table->column(column)) continue;
        fail(place, fmt::format("the table \"{}\" has no column \"{}\"{}", effects.table, column,
                                did_you_mean(column, names_of(table->columns))));
    }
}

}  // namespace

Setting::Setting(const sim::Plan& plan)
    : Setting(scenario_of(plan), *find_handler(plan.handler),
              with_overrides(*find_scenario(plan.scenario), plan)) {}

Setting::Setting(const Scenario& of, const HandlerSpec& with, Parameters values)
    : scenario(std::make_shared<const Scenario>(reduced(of, values))),
      handler(with),
      parameters(std::move(values)),
      scripts(scripts_of(*scenario, handler, parameters)),
      image(database_of(*scenario, handler, parameters)),
      cluster(scenario->scheduler, scenario->jobs),
      expectations(expectations_of(*scenario, handler, parameters)),
      open_work(!handler.open_work ? std::string{} : asked(handler, "query for open work", [&] {
          return handler.open_work(scenario->due);
      })) {
    require_distinct_effects(expectations, handler);
    for (checkers::EffectTable& effects : expectations.effects) {
        if (effects.learnt) identify(effects, image.schema(), place_of(of, effects));
    }
    for (const std::string& name : scenario->checkers) {
        checkers.push_back(checkers::find_checker(name));
        sim::require(checkers.back() != nullptr, "a scenario names checkers that there are");
    }
    for (const DueWork& work : scenario->due) {
        last_due = std::max(last_due, sim::Time{work.scheduled});
    }
}

std::span<const std::string> Setting::nodes() const {
    const auto all = static_cast<std::int64_t>(scenario->nodes.size());
    return std::span{scenario->nodes}.first(
        static_cast<std::size_t>(parameters.value_or(kNodes, all)));
}

bool Setting::runs_on(std::string_view node) const {
    return std::ranges::find(nodes(), node) != nodes().end();
}

bool Setting::has_to_learn_start_up() const {
    return scenario->trigger == Trigger::StartUp && !expectations.start_up;
}

bool Setting::has_to_learn() const {
    return std::ranges::any_of(expectations.effects, &checkers::EffectTable::learnt);
}

}  // namespace fencepost::scenarios
