#include <fmt/format.h>

#include <charconv>

#include "sim/fault_json.h"
#include "sim/json_object.h"
#include "sim/plan.h"
#include "sim/plan_json.h"

namespace fencepost::sim {
std::string seed_to_text(std::uint64_t seed) {
    return fmt::format("{:#x}", seed);
}

std::uint64_t seed_from_text(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const std::string_view digits = hexadecimal ? text.substr(2) : text;
    std::uint64_t seed = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), seed, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        throw PlanError(fmt::format(
            "seed: \"{}\" is not a seed; write a number such as 42 or \"0x5eed\"", text));
    }
    return seed;
}

std::string to_json(const Plan& plan) {
    Json json;
    json["scenario"] = plan.scenario;
    json["handler"] = plan.handler;
    json["seed"] = seed_to_text(plan.seed);
    if (!plan.parameters.empty()) json["parameters"] = plan.parameters;
    json["faults"] = Json::array();
    for (const Fault& fault : plan.faults) json["faults"].push_back(to_json(fault));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Plan plan_from_json(std::string_view text) {
    return plan_from_json(parse_json(text));
}

Plan plan_from_json(const Json& json) {
    const JsonObject in{json, ""};
    in.allow_only({"scenario", "handler", "seed", "parameters", "faults"});
    Plan plan;
    plan.scenario = in.text("scenario");
    if (in.has("handler")) plan.handler = in.text("handler");
    if (const Json* seed = in.find("seed")) {
        if (seed->is_number_unsigned()) {
            plan.seed = seed->get<std::uint64_t>();
        } else if (seed->is_string()) {
            plan.seed = seed_from_text(seed->get<std::string>());
        } else {
            throw PlanError("seed", "a number such as 42 or \"0x5eed\" is expected here");
        }
    }
    if (const Json* parameters = in.find("parameters")) {
        if (!parameters->is_object())
            throw PlanError("parameters", "an object in braces is expected here");
        for (const auto& [name, value] : parameters->items()) {
            const auto number = whole_number(value);
            if (!number) throw PlanError("parameters." + name, "a whole number is expected here");
            plan.parameters[name] = *number;
        }
    }
    if (const Json* faults = in.find("faults")) {
        if (!faults->is_array()) throw PlanError("faults", "a list in brackets is expected here");
        for (std::size_t i = 0; i < faults->size(); ++i) {
            plan.faults.push_back(fault_from_json((*faults)[i], fmt::format("faults[{}]", i)));
        }
    }
    return plan;
}

}  // namespace fencepost::sim
