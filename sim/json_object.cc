#include "sim/json_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace fencepost::sim {
namespace {

// A century: far beyond any use, and far from what overflows virtual time.
constexpr Duration kLongest = std::chrono::hours{24 * 365 * 100};

// What a parser tells, so that no key of an object takes another's place.
class KeysOnce {
public:
    void see(Json::parse_event_t event, const Json& parsed) {
        switch (event) {
            case Json::parse_event_t::object_start:
                open_.emplace_back();
                break;
            case Json::parse_event_t::object_end:
                open_.pop_back();
                break;
            case Json::parse_event_t::key:
                if (const auto& key = parsed.get_ref<const std::string&>();
                    !open_.back().insert(key).second) {
                    throw PlanError("the file",
                                    fmt::format("the key \"{}\" stands twice in one object", key));
                }
                break;
            default:
                break;
        }
    }

private:
    std::vector<std::set<std::string>> open_;  // the keys of the objects that have begun
};

std::string place_in(std::string_view text, std::size_t at) {
    const std::string_view read = text.substr(0, at);
    const std::size_t newline = read.rfind('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    return fmt::format("line {}, column {}", 1 + std::ranges::count(read, '\n'), at - start + 1);
}

}  // namespace

Json parse_json(std::string_view text) {
    KeysOnce keys;
    try {
        return Json::parse(text, [&keys](int, Json::parse_event_t event, Json& parsed) {
            keys.see(event, parsed);
            return true;
        });
    } catch (const Json::parse_error& error) {
        const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
        throw PlanError(place_in(text, at),
                        at == text.size() ? "the file ends too early; it may have been cut off"
                                          : "this is not JSON any more");
    } catch (const Json::exception& error) {
        throw PlanError("the file", fmt::format("it cannot be read as JSON ({})", error.what()));
    }
}

std::string listed(const std::vector<std::string_view>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

// The whole number that stands there, if one does and 64 bits hold it.
std::optional<std::int64_t> whole_number(const Json& value) {
    if (!value.is_number_integer()) return std::nullopt;
    if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))
        return std::nullopt;
    return value.get<std::int64_t>();
}

JsonObject::JsonObject(const Json& object, std::string place)
    : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) throw PlanError(subject(), "an object in braces is expected here");
}

const Json* JsonObject::find(std::string_view key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
}

std::string JsonObject::place_of(std::string_view key) const {
    return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
}

std::string JsonObject::text(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) throw PlanError(subject(), fmt::format("\"{}\" is missing", key));
    if (!value->is_string()) throw PlanError(place_of(key), "a text in quotes is expected here");
    return value->get<std::string>();
}

std::optional<Duration> JsonObject::duration(std::string_view key) const {
    if (!has(key)) return std::nullopt;
    const std::string written = text(key);
    const auto value = parse_duration(written);
    if (!value) {
        throw PlanError(place_of(key),
                        fmt::format("\"{}\" is not a duration; write for example \"5s\", \"250ms\" "
                                    "or \"1m30s\" (units: h m s ms us ns)",
                                    written));
    }
    if (std::chrono::abs(*value) > kLongest) {
        throw PlanError(place_of(key), fmt::format("a duration is at most {}", to_text(kLongest)));
    }
    return value;
}

void JsonObject::allow_only(const std::vector<std::string_view>& keys) const {
    for (const auto& [key, value] : object_.items()) {
        if (std::ranges::find(keys, std::string_view{key}) != keys.end()) continue;
        throw PlanError(place_of(key), fmt::format("unknown key; known here are {}", listed(keys)));
    }
}

}  // namespace fencepost::sim
