// The comparisons of the models with the real systems, and what they take.
//
// A comparison that cannot begin, since the real system is not installed, says so in `skipped`; it
// throws HarnessFailure when the real system is there and cannot be worked with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/database/outcome.h"
#include "tests/fidelity/comparison.h"

namespace fencepost::fidelity {

struct Progress {
    const std::string& what;
    std::int64_t done = 0;
    std::int64_t of = 0;
    std::int64_t differences = 0;
};

struct ComparisonOptions {
    // Of Redis command sequences. What is slower is tried less often: each comparison says how
    // much.
    std::int64_t cases = 10'000;
    std::uint64_t seed = 1;
    // Of PostgreSQL, one isolation level instead of all.
    std::optional<model::IsolationLevel> level{};
    // Called now and then. What it throws ends the comparison, and whatever was started is stopped.
    std::function<void(const Progress&)> progress = [](const Progress&) {};
};

class HarnessFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

[[nodiscard]] std::vector<Comparison> compare_redis(const ComparisonOptions& options);
// At each isolation level; a fifth of the cases at READ COMMITTED, a twentieth at the others.
[[nodiscard]] std::vector<Comparison> compare_postgres(const ComparisonOptions& options);

}  // namespace fencepost::fidelity
