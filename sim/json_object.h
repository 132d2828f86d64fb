// Reads JSON objects of plans: what is wrong is a PlanError with its place.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan.h"

namespace fencepost::sim {

using Json = nlohmann::ordered_json;

// Throws PlanError with the place of what is no JSON, and for a key that stands twice in an object.
Json parse_json(std::string_view text);

// "a, b, c"
std::string listed(const std::vector<std::string_view>& names);

// The whole number that stands there, if one does and 64 bits hold it.
std::optional<std::int64_t> whole_number(const Json& value);

// An object of a file, with its place for messages; every key must be asked for or it is unknown.
// The object must outlive its reader.
class JsonObject {
public:
    // Throws where no object stands.
    JsonObject(const Json& object, std::string place);

    [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }
    // Null where the key is not there.
    [[nodiscard]] const Json* find(std::string_view key) const;
    [[nodiscard]] std::string place_of(std::string_view key) const;

    // Throws where the key is missing or holds no text.
    [[nodiscard]] std::string text(std::string_view key) const;
    // Nothing where the key is not there; throws for what is no duration, or one of a century.
    [[nodiscard]] std::optional<Duration> duration(std::string_view key) const;

    void allow_only(const std::vector<std::string_view>& keys) const;

private:
    [[nodiscard]] std::string subject() const { return place_.empty() ? "the plan" : place_; }

    const Json& object_;
    std::string place_;  // empty: the plan itself
};

}  // namespace fencepost::sim
