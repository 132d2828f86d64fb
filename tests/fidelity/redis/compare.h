// The comparisons of the Redis model with redis-server, one by one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/fidelity/comparisons.h"
#include "tests/fidelity/redis/differ.h"

namespace fencepost::fidelity {

struct RedisComparison {
    std::string what;
    rc::Gen<Session> sessions;
    model::RedisOptions model{};
    std::function<std::unique_ptr<RealSide>()> start;
    // One case for so many of ComparisonOptions::cases: starting a server takes its time.
    std::int64_t one_in = 1;
};

// Commands and scripts; restarts with each persistence; a replica cut off and promoted.
[[nodiscard]] std::vector<RedisComparison> redis_comparisons();

// Needs redis-server, as all below.
[[nodiscard]] Comparison run(const RedisComparison& comparison, const ComparisonOptions& options);

struct Found {
    std::int64_t cases = 0;  // up to the one that differs, with it
    Difference difference;   // shrunk
};
// The first difference in that many cases.
[[nodiscard]] std::optional<Found> find_difference(const RedisComparison& comparison,
                                                   std::int64_t cases, std::uint64_t seed);

}  // namespace fencepost::fidelity
