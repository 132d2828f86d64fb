// How many runs it takes until a handler breaks an invariant: with one random plan a seed, and with
// a guided search. One line of JSON for each scenario and handler that is asked for; a number of
// runs one above the cap means that nothing broke.
//
//   fencepost-guided-bench SEARCHES CAP [SCENARIO/HANDLER...]
//
// Without pairs: every planted mistake in every scenario in which it can take part.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/search/guided.h"
#include "scenarios/search/sweep.h"

namespace {

using namespace fencepost::scenarios;

struct Bounds {
    std::uint64_t searches = 10;  // of each kind, with seeds of their own
    std::uint64_t cap = 5000;     // runs a search
};

std::uint64_t first_failure(const SearchResult& result, std::uint64_t first_item,
                            std::uint64_t cap) {
    if (result.interrupted()) throw std::runtime_error("interrupted");
    std::uint64_t first = cap + 1;
    for (const CheckerTally& tally : result.totals.checkers) {
        if (tally.failed > 0) first = std::min(first, tally.first_failed - first_item + 1);
    }
    return first;
}

std::string measured(const Scenario& scenario, const HandlerSpec& handler, const Bounds& bounds) {
    const Subject subject{scenario.name, handler.name};
    SearchOptions options;
    options.stop_after_failures = 1;
    SearchResult made;
    const auto catalogue = catalogue_in_workers(scenario, subject, options, made);
    if (!catalogue) throw std::runtime_error(subject.handler + " takes its process down");
    const PlanSource source{scenario, subject, *catalogue};
    std::vector<std::uint64_t> random;
    std::vector<std::uint64_t> guided;
    for (std::uint64_t search = 0; search < bounds.searches; ++search) {
        const std::uint64_t first_seed = 1 + search * bounds.cap;
        PlanList plans;
        plans.count = bounds.cap;
        plans.plan = [&](std::uint64_t index) { return source.draw(first_seed + index); };
        random.push_back(first_failure(run_plans(scenario, plans, options), 0, bounds.cap));
        GuidedOptions own;
        own.seed = 1 + search;
        own.runs = bounds.cap;
        own.search = options;
        const GuidedResult result = guided_search(scenario, subject, *catalogue, own);
        guided.push_back(first_failure(result.search, 1, bounds.cap));
    }
    return fmt::format(
        R"({{"scenario": "{}", "handler": "{}", "cap": {}, "random": [{}], "guided": [{}]}})",
        scenario.name, handler.name, bounds.cap, fmt::join(random, ", "), fmt::join(guided, ", "));
}

void measure(const std::string& scenario, const std::string& handler, const Bounds& bounds) {
    const Scenario* where = find_scenario(scenario);
    const HandlerSpec* whose = find_handler(handler);
    if (where == nullptr || whose == nullptr) {
        throw std::runtime_error(
            fmt::format("there is no scenario {} or no handler {}", scenario, handler));
    }
    fmt::print("{}\n", measured(*where, *whose, bounds));
    std::fflush(stdout);
}

int run(std::span<const char* const> words) {
    if (words.size() < 2) throw std::runtime_error("SEARCHES CAP [SCENARIO/HANDLER...]");
    const Bounds bounds{.searches = std::strtoull(words[0], nullptr, 10),
                        .cap = std::strtoull(words[1], nullptr, 10)};
    for (const std::string pair : words.subspan(2)) {
        const std::size_t slash = std::min(pair.find('/'), pair.size() - 1);
        measure(pair.substr(0, slash), pair.substr(slash + 1), bounds);
    }
    if (words.size() > 2) return 0;
    for (const HandlerSpec& handler : all_handlers()) {
        for (const Scenario& scenario : all_scenarios()) {
            if (handler.is_mistake() && !obstacle(scenario, handler))
                measure(scenario.name, handler.name, bounds);
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, static_cast<std::size_t>(argc - 1)});
    } catch (const std::exception& error) {
        fmt::print(stderr, "fencepost-guided-bench: {}\n", error.what());
        return 2;
    }
}
