// How hard random plans are: how many faults, of which families, how long they last, whether clocks
// and latencies are off from the start, and how much work there is. Each seed draws within it.
//
//   { "profile": "nightly",                            a name for reports
//     "faults": { "without": 10, "least": 1, "most": 5 },
//     "families": { "node": 80, "clock": 0 },
//     "durations": { "least": "1s", "most": "1min" },
//     "clock_offsets": { "percent": 50, "most": "200ms" },
//     "latencies": { "percent": 30, "most": "50ms" },
//     "parameters": { "accounts": [1, 10], "batch": [1, 4] } }
//
// Every key may be left out, which is as the default has it. What is drawn stands in the plan, as
// faults and parameters: a failure needs no profile to be replayed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/fault.h"
#include "sim/time.h"

namespace fencepost::scenarios {

// Both ends included.
struct ValueRange {
    std::int64_t least = 1;
    std::int64_t most = 1;

    bool operator==(const ValueRange&) const = default;
};

struct Profile {
    // Part of the nodes, in percent, and how far off at most.
    struct Skew {
        std::uint64_t percent = 0;
        sim::Duration most{};

        bool operator==(const Skew&) const = default;
    };

    std::string name = "default";
    std::string path{};                        // of its file; empty for one of the program
    std::uint64_t without_faults = 15;         // percent of the plans
    std::uint64_t least_faults = 1;            // of the others
    std::optional<std::uint64_t> most_faults;  // the scenario's own when it is not given
    // Percent of the plans in which the family is on, where the scenario has it: 50 where nothing
    // is said.
    std::map<sim::FaultFamily, std::uint64_t> families;
    // Faults with durations outside are not drawn.
    sim::Duration shortest{};
    std::optional<sim::Duration> longest;
    // The clock of a node is off, either way, from the start on, where the scenario has faults of
    // clocks.
    Skew clock_offsets;
    // All that a node does takes longer by as much, for as long as there are faults, where the
    // scenario has faults of nodes.
    Skew latencies;
    // Drawn where the scenario has the parameter and the command does not set it.
    std::map<std::string, ValueRange, std::less<>> parameters;

    [[nodiscard]] std::uint64_t percent_of(sim::FaultFamily family) const;
    // Whether the fault lasts, delays and stays away within the bounds.
    [[nodiscard]] bool allows(const sim::Fault& fault) const;
    [[nodiscard]] bool is_default() const { return *this == Profile{}; }
    bool operator==(const Profile&) const = default;
};

// "gentle", "default" or "harsh"; null for another name.
const Profile* find_profile(std::string_view name);

std::string to_json(const Profile& profile);
// Throws sim::PlanError: one sentence that names the place and says what would be right.
Profile profile_from_json(std::string_view text);
// Of one of the names, or of a file. Throws sim::PlanError with the path.
Profile read_profile(const std::string& name_or_path);

}  // namespace fencepost::scenarios
