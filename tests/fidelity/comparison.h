// What one comparison of a model with the real system came to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fencepost::fidelity {

struct Comparison {
    std::string what;     // "Redis commands", "PostgreSQL interleavings, read committed"
    std::string version;  // of the real system, as it tells it: "Redis 7.0.15"
    std::uint64_t seed = 0;
    std::int64_t cases = 0;        // generated sessions or interleavings
    std::int64_t steps = 0;        // commands or statements in them
    std::int64_t differences = 0;  // cases in which model and system differ
    double seconds = 0;
    // Cases that ended at a difference which docs/fidelity.md names, by that name: what comes after
    // one was not compared.
    std::map<std::string, std::int64_t> known{};
    // The first difference, shrunk, as a short session that a person can type.
    std::string first_difference{};
    // Why nothing was compared, when the real system is not there.
    std::optional<std::string> skipped{};
};

}  // namespace fencepost::fidelity
