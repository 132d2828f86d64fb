// The comparison with PostgreSQL at each isolation level, as `./fencepost fidelity` runs it.
#include <algorithm>
#include <array>

#include "tests/fidelity/comparisons.h"
#include "tests/fidelity/postgres/compare.h"

namespace fencepost::fidelity {

std::vector<Comparison> compare_postgres(const ComparisonOptions& options) {
    using model::IsolationLevel;
    constexpr std::array kLevels{std::pair{IsolationLevel::ReadCommitted, 5},
                                 std::pair{IsolationLevel::RepeatableRead, 20},
                                 std::pair{IsolationLevel::Serializable, 20}};
    std::vector<Comparison> all;
    for (const auto& [level, part] : kLevels) {
        if (options.level && *options.level != level) continue;
        PostgresOptions one;
        one.cases = std::max<std::int64_t>(1, options.cases / part);
        one.seed = options.seed;
        one.level = level;
        one.progress = options.progress;
        all.push_back(compare_postgres(one));
        if (all.back().skipped) break;
    }
    return all;
}

}  // namespace fencepost::fidelity
