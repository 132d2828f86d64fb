// A plan decides a run: scenario, handler, seed, parameters and a list of faults.
//
// Written by hand, drawn from a seed, enumerated or shrunk, it always has this shape, and one JSON
// form.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/fault.h"

namespace fencepost::sim {

struct Plan {
    std::string scenario;
    std::string handler;
    std::uint64_t seed = 0;
    // Overrides of the scenario's parameters, by name.
    std::map<std::string, std::int64_t, std::less<>> parameters;
    std::vector<Fault> faults;

    bool operator==(const Plan&) const = default;
};

// One sentence that names the place in the file and says what would be right.
class PlanError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    // "script[0].at: …"
    PlanError(std::string place, const std::string& sentence)
        : std::runtime_error(place + ": " + sentence), place_(std::move(place)) {}

    // Where in the file, when it was told apart from the sentence: "faults[0].at". Else empty.
    [[nodiscard]] const std::string& place() const { return place_; }
    [[nodiscard]] std::string sentence() const {
        return place_.empty() ? what() : std::string(what()).substr(place_.size() + 2);
    }

private:
    std::string place_;
};

// The JSON text of a plan, two spaces a level, and its inverse, which throws PlanError.
// Both handle the plan's shape alone; whether its names exist is the scenario's to say.
std::string to_json(const Plan& plan);
Plan plan_from_json(std::string_view text);

// "0x5eed" and its inverse, which also takes decimal digits; throws PlanError.
std::string seed_to_text(std::uint64_t seed);
std::uint64_t seed_from_text(std::string_view text);

}  // namespace fencepost::sim
