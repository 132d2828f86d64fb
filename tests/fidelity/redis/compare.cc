#include "tests/fidelity/redis/compare.h"

#include <algorithm>
#include <chrono>

namespace fencepost::fidelity {
namespace {

using model::Persistence;

constexpr std::int64_t kOneInRestart = 400;
constexpr std::int64_t kOneInFailover = 200;
constexpr std::int64_t kCasesBetweenProgress = 64;
// Shrinking one is enough to begin with; all are counted.
constexpr std::int64_t kMostDifferences = 1000;

RedisComparison restarts(std::string what, Persistence persistence) {
    const model::RedisOptions model{
        .persistence = persistence,
        .snapshot_period = std::chrono::hours(1000),  // a snapshot is a step of its own
    };
    return {.what = "Redis restarts, " + what,
            .sessions = sessions_with_restarts(persistence == Persistence::Rdb,
                                               persistence != Persistence::Rdb),
            .model = model,
            .start = [=] { return single_server(persistence); },
            .one_in = kOneInRestart};
}

// What fails names the session that it failed in.
std::optional<Difference> compare(Differ& differ, const Session& session) {
    try {
        auto difference = differ.compare(session);
        if (differ.refused()) throw HarnessFailure("the model refuses a command of the session");
        return difference;
    } catch (const HarnessFailure& failure) {
        std::string text = failure.what();
        for (const Step& step : session) text += '\n' + show(step);
        throw HarnessFailure(text);
    }
}

}  // namespace

std::vector<RedisComparison> redis_comparisons() {
    return {
        {.what = "Redis commands and scripts",
         .sessions = sessions(),
         .start = [] { return single_server(Persistence::None); }},
        restarts("no persistence", Persistence::None),
        restarts("AOF every second", Persistence::AofEverySecond),
        restarts("AOF always", Persistence::AofAlways),
        restarts("RDB", Persistence::Rdb),
        {.what = "Redis replica cut off and promoted",
         .sessions = sessions_with_failover(),
         .model = {.replica_lag = std::chrono::nanoseconds{0}},
         .start = replicated_servers,
         .one_in = kOneInFailover},
    };
}

Comparison run(const RedisComparison& comparison, const ComparisonOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t cases = std::max<std::int64_t>(1, options.cases / comparison.one_in);
    Comparison result{
        .what = comparison.what, .version = redis_server_version(), .seed = options.seed};
    Differ differ(comparison.model, comparison.start());
    rc::Random seeds(options.seed);
    for (; result.cases < cases && result.differences < kMostDifferences; ++result.cases) {
        const auto session = comparison.sessions(seeds.split());
        const std::int64_t steps_before = differ.steps();
        const auto difference = compare(differ, session.value());
        result.steps += differ.steps() - steps_before;
        if (difference && result.differences++ == 0) {
            result.first_difference = show(shrink(differ, session));
        }
        if (result.cases % kCasesBetweenProgress == 0) {
            options.progress({result.what, result.cases, cases, result.differences});
        }
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

std::optional<Found> find_difference(const RedisComparison& comparison, std::int64_t cases,
                                     std::uint64_t seed) {
    Differ differ(comparison.model, comparison.start());
    rc::Random seeds(seed);
    for (std::int64_t done = 1; done <= cases; ++done) {
        const auto session = comparison.sessions(seeds.split());
        if (compare(differ, session.value())) return Found{done, shrink(differ, session)};
    }
    return std::nullopt;
}

std::vector<Comparison> compare_redis(const ComparisonOptions& options) {
    std::vector<Comparison> results;
    const auto missing = redis_server_is_missing();
    for (const RedisComparison& comparison : redis_comparisons()) {
        if (missing) {
            results.push_back({.what = comparison.what, .seed = options.seed, .skipped = missing});
        } else {
            results.push_back(run(comparison, options));
        }
    }
    return results;
}

}  // namespace fencepost::fidelity
