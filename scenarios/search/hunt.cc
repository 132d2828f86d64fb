#include "scenarios/search/hunt.h"

#include <algorithm>
#include <array>

namespace fencepost::scenarios {
namespace {

// The kept failure with the first run that broke `checker`.
const FoundFailure* failure_of_checker(const SearchResult& search, const std::string& checker) {
    const auto found = std::ranges::find_if(search.failures, [&](const FoundFailure& failure) {
        return std::ranges::find(failure.run.failed, checker) != failure.run.failed.end();
    });
    return found == search.failures.end() ? nullptr : &*found;
}

// Whether some run broke one of these.
bool breaks(const Totals& totals, const std::vector<std::string>& checkers) {
    return std::ranges::any_of(totals.checkers, [&](const CheckerTally& tally) {
        return tally.failed > 0 && std::ranges::find(checkers, tally.checker) != checkers.end();
    });
}

class Hunter {
public:
    Hunter(const HandlerSpec& mistake, const HuntOptions& options)
        : mistake_(mistake), options_(options) {
        hunt_.mistake = mistake.name;
        for (const Scenario& scenario : all_scenarios()) {
            if (obstacle(scenario, mistake)) continue;
            scenarios_.push_back(&scenario);
            hunt_.scenarios.push_back(scenario.name);
        }
    }

    Hunt run() {
        hunt_by_seeds();
        hunt_by_one_fault();
        if (!hunt_.by_one_fault) hunt_by_two_faults();
        if (!hunt_.interrupted) make_least();
        return std::move(hunt_);
    }

private:
    // A few seeds everywhere first: most mistakes show in those.
    void hunt_by_seeds() {
        std::uint64_t first = 1;
        for (const std::uint64_t last :
             std::array{std::uint64_t{50}, std::uint64_t{1000}, options_.most_seeds}) {
            if (first > options_.most_seeds) return;
            const SeedRange seeds{first, std::min(last, options_.most_seeds)};
            for (const Scenario* scenario : scenarios_) {
                const SearchResult search =
                    sweep(*scenario, {scenario->name, mistake_.name}, seeds, options_.search);
                hunt_.interrupted = hunt_.interrupted || search.interrupted();
                if (hunt_.interrupted) return;
                auto caught = caught_in(*scenario, search);
                if (caught && (!hunt_.by_seeds || caught->first < hunt_.by_seeds->first)) {
                    hunt_.by_seeds = std::move(caught);
                }
            }
            if (hunt_.by_seeds) return;
            first = last + 1;
        }
    }

    void hunt_by_one_fault() {
        if (hunt_.interrupted) return;
        // Where seeds found it comes first.
        if (hunt_.by_seeds) {
            const auto first =
                std::ranges::find(scenarios_, hunt_.by_seeds->scenario, &Scenario::name);
            std::rotate(scenarios_.begin(), first, first + 1);
        }
        for (const Scenario* scenario : scenarios_) {
            ExhaustOptions options;
            options.search = options_.search;
            const ExhaustResult all = exhaust(*scenario, {scenario->name, mistake_.name}, options);
            hunt_.interrupted = hunt_.interrupted || all.search.interrupted();
            if (hunt_.interrupted) return;
            if (auto caught = caught_in(*scenario, all.search)) {
                ++caught->first;  // plans are counted from 0
                hunt_.by_one_fault = std::move(caught);
                return;
            }
        }
    }

    // As far as the bound allows: at the first plan that shows it there is nothing more to learn.
    void hunt_by_two_faults() {
        if (options_.most_two_fault_plans == 0) return;
        for (const Scenario* scenario : scenarios_) {
            if (hunt_.interrupted) return;
            ExhaustOptions options;
            options.faults = 2;
            options.most_plans = options_.most_two_fault_plans;
            options.enough = [this](const Totals& totals) {
                return breaks(totals, mistake_.breaks);
            };
            options.search = options_.search;
            const ExhaustResult some = exhaust(*scenario, {scenario->name, mistake_.name}, options);
            hunt_.interrupted = some.search.interrupted();
            if (auto caught = caught_in(*scenario, some.search)) {
                ++caught->first;  // plans are counted from 0
                hunt_.by_two_faults = std::move(caught);
                return;
            }
        }
    }

    // The invariant of those that the mistake is meant to break which broke first.
    [[nodiscard]] std::optional<Catch> caught_in(const Scenario& scenario,
                                                 const SearchResult& search) const {
        std::optional<Catch> caught;
        for (const CheckerTally& tally : search.totals.checkers) {
            const bool meant =
                std::ranges::find(mistake_.breaks, tally.checker) != mistake_.breaks.end();
            if (!meant || tally.failed == 0) continue;
            if (caught && caught->first <= tally.first_failed) continue;
            const FoundFailure* failure = failure_of_checker(search, tally.checker);
            if (failure == nullptr) continue;
            caught = Catch{.scenario = scenario.name,
                           .checker = tally.checker,
                           .plan = failure->plan,
                           .first = tally.first_failed,
                           .count = tally.failed,
                           .runs = search.totals.runs};
        }
        return caught;
    }

    void make_least() {
        const std::optional<Catch>& caught = hunt_.first_catch();
        if (!caught) return;
        hunt_.least = shrunk(caught->plan, caught->checker);
        if (!hunt_.least) return;
        look_for_fewer_faults(caught->checker);
        if (hunt_.interrupted) return;
        note_failing(hunt_.least->plan);
    }

    [[nodiscard]] std::optional<Shrunk> shrunk(const sim::Plan& plan, const std::string& checker) {
        ShrinkOptions options;
        options.parameters = shrinkable_parameters(*find_scenario(plan.scenario));
        auto least = shrink_in_worker(plan, options_.search.make_runner, options, checker);
        if (!least && is_interruption(least.error())) hunt_.interrupted = true;
        if (!least || !least->reproduced) return std::nullopt;
        return std::move(*least);
    }

    // Of a plan from which nothing can be taken away there may still be another with fewer faults.
    void look_for_fewer_faults(const std::string& checker) {
        const sim::Plan least = hunt_.least->plan;
        const int most = std::min(static_cast<int>(least.faults.size()) - 1, 2);
        for (int faults = 1; faults <= most && !hunt_.interrupted; ++faults) {
            ExhaustOptions options;
            options.faults = faults;
            options.seed = least.seed;
            if (faults > 1) options.most_plans = options_.most_two_fault_plans;
            options.enough = [&checker](const Totals& totals) { return breaks(totals, {checker}); };
            options.search = options_.search;
            const ExhaustResult some =
                exhaust(*find_scenario(least.scenario),
                        {least.scenario, least.handler, least.parameters}, options);
            hunt_.interrupted = some.search.interrupted();
            const FoundFailure* failure = failure_of_checker(some.search, checker);
            if (failure == nullptr) continue;
            auto fewer = shrunk(failure->plan, checker);
            if (!fewer) continue;
            hunt_.least = std::move(*fewer);
            return;
        }
    }

    // Which checkers fail on the plan.
    void note_failing(const sim::Plan& plan) {
        const auto packed = call_in_worker([&] {
            std::string names;
            for (const auto& judgement : options_.search.make_runner().run(plan, {}).judgements) {
                if (judgement.verdict == checkers::Verdict::Fail) names += judgement.checker + "\n";
            }
            return names;
        });
        if (!packed) {
            hunt_.interrupted = hunt_.interrupted || is_interruption(packed.error());
            return;
        }
        for (std::size_t from = 0, to = 0; (to = packed->find('\n', from)) != std::string::npos;
             from = to + 1) {
            hunt_.failing.push_back(packed->substr(from, to - from));
        }
    }

    const HandlerSpec& mistake_;
    const HuntOptions& options_;
    std::vector<const Scenario*> scenarios_;
    Hunt hunt_;
};

}  // namespace

Hunt hunt(const HandlerSpec& mistake, const HuntOptions& options) {
    return Hunter{mistake, options}.run();
}

}  // namespace fencepost::scenarios
