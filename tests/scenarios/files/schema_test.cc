// Goal: the JSON Schema that editors use says what the program says.
// Method: the keys and words of docs/schemas/scenario.schema.json are compared with the tables by
// which files are read. That files fit the schema is tested with a validator, in tests/formats.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "checkers/checker.h"
#include "scenarios/files/scenario_forms.h"

namespace fencepost::scenarios {
namespace {

using Names = std::set<std::string>;

const Json& schema() {
    static const Json kSchema = Json::parse(
        std::ifstream{std::string(FENCEPOST_SOURCE_DIR) + "/docs/schemas/scenario.schema.json"});
    return kSchema;
}

Names names_in(const Json& list) {
    Names names;
    for (const Json& each : list) names.insert(each.get<std::string>());
    return names;
}

Names keys_in(const Json& object) {
    Names names;
    for (const auto& [key, value] : object.at("properties").items()) names.insert(key);
    return names;
}

template <typename T>
Names keys_read() {
    const std::vector<std::string> keys = known_keys<T>();
    Names names(keys.begin(), keys.end());
    for (const std::string_view further : kFurtherKeys<T>) names.emplace(further);
    return names;
}

template <typename E>
Names words_read() {
    Names names;
    for (const auto& [word, value] : Words<E>::kAll) names.emplace(word);
    return names;
}

TEST(ScenarioSchemaTest, TheKeysAreThoseThatAreRead) {
    const Json& parts = schema().at("$defs");
    const Json& keys = schema().at("properties");
    EXPECT_EQ(keys_in(schema()), keys_read<Scenario>());
    EXPECT_EQ(keys_in(keys.at("scheduler")), keys_read<model::SchedulerOptions>());
    EXPECT_EQ(keys_in(parts.at("job")), keys_read<model::ScheduledJob>());
    EXPECT_EQ(keys_in(parts.at("due")), keys_read<DueWork>());
    EXPECT_EQ(keys_in(parts.at("effects")), keys_read<checkers::EffectTable>());
    EXPECT_EQ(keys_in(parts.at("invariant")), keys_read<SqlInvariant>());
}

TEST(ScenarioSchemaTest, RequiredKeysAreThoseThatMustBeThere) {
    const auto required = []<typename T>(const Json& object, const T*) {
        Names must;
        for_each_key<T>([&](const auto& each) {
            if (each.presence == Presence::Required) must.emplace(each.name);
        });
        EXPECT_EQ(names_in(object.at("required")), must);
    };
    const Json& parts = schema().at("$defs");
    required(schema(), static_cast<const Scenario*>(nullptr));
    required(parts.at("job"), static_cast<const model::ScheduledJob*>(nullptr));
    required(parts.at("due"), static_cast<const DueWork*>(nullptr));
    required(parts.at("effects"), static_cast<const checkers::EffectTable*>(nullptr));
    required(parts.at("invariant"), static_cast<const SqlInvariant*>(nullptr));
}

TEST(ScenarioSchemaTest, TheWordsAreThoseThatAreRead) {
    const Json& keys = schema().at("properties");
    const Json& options = keys.at("scheduler").at("properties");
    const Json& job = schema().at("$defs").at("job").at("properties");
    EXPECT_EQ(names_in(keys.at("trigger").at("enum")), words_read<Trigger>());
    EXPECT_EQ(names_in(keys.at("needs").at("items").at("enum")), words_read<Ability>());
    EXPECT_EQ(names_in(keys.at("families").at("items").at("enum")), words_read<sim::FaultFamily>());
    EXPECT_EQ(names_in(options.at("mode").at("enum")), words_read<model::SchedulerMode>());
    EXPECT_EQ(names_in(options.at("instance_ids").at("enum")), words_read<model::InstanceIds>());
    EXPECT_EQ(names_in(job.at("misfire").at("enum")), words_read<model::MisfirePolicy>());
}

TEST(ScenarioSchemaTest, CheckersAndActsAreThoseThatThereAre) {
    Names checkers;
    for (const checkers::Checker& each : checkers::all_checkers()) checkers.emplace(each.name);
    EXPECT_EQ(names_in(schema().at("properties").at("checkers").at("items").at("enum")), checkers);

    Names acts;
    for (const sim::FaultKindInfo& kind : sim::fault_kinds()) {
        if (kind.family == sim::FaultFamily::Node || kind.family == sim::FaultFamily::Operator) {
            acts.emplace(kind.name);
        }
    }
    const Json& act = schema().at("$defs").at("act").at("properties").at("do").at("enum");
    EXPECT_EQ(names_in(act), acts);
}

TEST(ScenarioSchemaTest, DefaultsAreThoseOfTheProgram) {
    const auto compare = []<typename T>(const Json& object, const T& usual, const std::string& of) {
        for_each_key<T>([&](const auto& each) {
            const Json& key = object.at("properties").at(std::string(each.name));
            if (!key.contains("default")) return;
            using Member = std::remove_cvref_t<decltype(usual.*each.member)>;
            EXPECT_EQ(key.at("default"), Form<Member>::write(usual.*each.member))
                << of << "." << each.name;
        });
    };
    const Json& parts = schema().at("$defs");
    compare(schema(), blank<Scenario>(), "scenario");
    compare(schema().at("properties").at("scheduler"), blank<model::SchedulerOptions>(),
            "scheduler");
    compare(parts.at("job"), blank<model::ScheduledJob>(), "job");
    compare(parts.at("due"), blank<DueWork>(), "due");
}

}  // namespace
}  // namespace fencepost::scenarios
