#include "kit/acceptance.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kit/reporting.h"
#include "reports/layout.h"
#include "reports/verdicts.h"
#include "scenarios/nearest.h"
#include "scenarios/scenario.h"
#include "scenarios/search/exhaust.h"
#include "scenarios/search/nearby.h"
#include "scenarios/search/sweep.h"

namespace fencepost::kit {
namespace {

using reports::counted;

const scenarios::Scenario& scenario_named(std::string_view name) {
    if (const scenarios::Scenario* found = scenarios::find_scenario(name)) return *found;
    std::vector<std::string> names;
    for (const scenarios::Scenario& scenario : scenarios::all_scenarios())
        names.push_back(scenario.name);
    throw std::invalid_argument(
        fmt::format("unknown scenario \"{}\"{}", name, scenarios::did_you_mean(name, names)));
}

// The same for every failure, whose text has its own heading.
std::string unaccepted(const std::string& handler, std::string_view why) {
    return fmt::format("Fencepost does not accept the handler {}: {}\n", handler, why);
}

// One verdict in the making.
class Trial {
public:
    explicit Trial(const Candidate& candidate)
        : candidate_(candidate), options_(candidate.options()) {}

    // Random plans, and if `enumerated` every plan with few faults.
    void search(const scenarios::Scenario& scenario, Seeds seeds, bool enumerated) {
        ++scenarios_;
        const scenarios::Subject subject{scenario.name, candidate_.name()};
        scenarios::SearchOptions searching;
        searching.pool = pool_of(options_);
        searching.stop_after_failures = 1;
        searching.stop_after_mishaps = 1;
        reports::Evidence evidence{.title = scenario.title};
        const scenarios::SearchResult random =
            scenarios::sweep(scenario, subject, {seeds.first, seeds.last}, searching);
        evidence.random = report_of(random);
        if (!note(random, "sweep")) return;
        if (enumerated && options_.faults > 0) {
            scenarios::ExhaustOptions exhausting;
            exhausting.faults = options_.faults;
            exhausting.search = searching;
            exhausting.enough = [](const scenarios::Totals& totals) {
                return totals.failed_runs > 0;
            };
            const scenarios::ExhaustResult all = scenarios::exhaust(scenario, subject, exhausting);
            evidence.one_fault = report_of(all.search);
            if (!note(all.search, "exhaust")) return;
        }
        if (enumerated) note_gaps(scenario, reports::both(evidence));
    }

    void take_no_part(const scenarios::Scenario& scenario, const std::string& why) {
        obstacles_ += fmt::format("  it cannot take part in {}, because {}\n", scenario.name, why);
    }

    void replay(const scenarios::Failure& failure) {
        scenarios::validate(failure.plan);
        const scenarios::PlanRunner runner = scenarios::fresh_runner();
        const scenarios::NearbyReplay again = scenarios::replay_nearby(failure, runner.run);
        ++verdict_.runs;
        const std::string outcome{name_of(again.replay.verdict)};
        if (again.replay.verdict == scenarios::ReplayVerdict::NoFailure) {
            verdict_.accepted = true;
            verdict_.text = fmt::format("FENCEPOST_REPLAY: {}\n", outcome);
            return;
        }
        scenarios::Failure now = scenarios::failure_of(again.plan, again.result);
        now.found_by = failure.found_by;
        verdict_.failures.push_back(save(std::move(now), 1, options_));
        verdict_.text = unaccepted(candidate_.name(), "FENCEPOST_REPLAY is " + outcome + ".") +
                        "\n" + verdict_.failures.back().text;
    }

    Verdict verdict() && {
        if (!verdict_.text.empty()) return std::move(verdict_);
        verdict_.accepted = scenarios_ > 0 && verdict_.failures.empty() && broken_.empty() &&
                            gaps_.empty() && !interrupted_;
        verdict_.text = verdict_.accepted ? accepted() : not_accepted();
        return std::move(verdict_);
    }

private:
    // Whether there is nothing to say against the handler so far.
    bool note(const scenarios::SearchResult& result, const std::string& how) {
        verdict_.runs += result.done;
        interrupted_ = interrupted_ || result.interrupted();
        if (result.end == scenarios::PoolEnd::CouldNotStart)
            broken_ += "\nThe workers could not start: " + result.problem + "\n";
        for (const scenarios::FoundMishap& found : result.mishaps) {
            const std::string run =
                fmt::format("{} {}", how == "sweep" ? "seed" : "plan", found.mishap.item);
            broken_ += "\n" + mishap_text(found.mishap, found.plan, run, options_);
        }
        if (!result.failures.empty()) note_failure(result, how);
        return result.failures.empty() && result.mishaps.empty() && broken_.empty() &&
               !interrupted_;
    }

    void note_failure(const scenarios::SearchResult& result, const std::string& how) {
        const scenarios::FoundFailure& found = result.failures.front();
        scenarios::Failure failure;
        if (auto least = least_failure(found.plan, found.run.checker, found.run.key, options_)) {
            failure = std::move(*least);
        } else {
            failure.plan = found.plan;
            failure.invariant = found.run.checker;
            failure.key = found.run.key;
            failure.message = found.run.message;
            failure.first_violating_event = found.run.record;
            failure.fingerprint = found.run.fingerprint;
        }
        failure.found_by.how = how;
        failure.found_by.original_faults = found.plan.faults.size();
        if (how == "sweep") failure.found_by.seed = found.run.item;
        verdict_.failures.push_back(save(std::move(failure), result.totals.failed_runs, options_));
    }

    void note_gaps(const scenarios::Scenario& scenario, reports::SearchReport both) {
        std::erase_if(both.probes, [&](const reports::ProbeCounts& probe) {
            const auto& fine = options_.need_not_reach;
            return std::ranges::find(fine, probe.probe) != fine.end();
        });
        for (const std::string& gap : reports::gaps_of(both))
            gaps_ += fmt::format("  {}: {}\n", scenario.name, gap);
    }

    [[nodiscard]] std::string accepted() const {
        return fmt::format("{} is accepted: {} in {}\n", candidate_.name(),
                           counted(verdict_.runs, "run", "runs"),
                           counted(scenarios_, "scenario", "scenarios"));
    }

    [[nodiscard]] std::string not_accepted() const {
        const std::string& handler = candidate_.name();
        if (scenarios_ == 0)
            return unaccepted(handler, "there is nothing in which it takes part.") + obstacles_;
        std::string out;
        if (!verdict_.failures.empty()) {
            out = unaccepted(
                handler, fmt::format("an invariant broke in {} of {}.", verdict_.failures.size(),
                                     counted(scenarios_, "scenario", "scenarios")));
        } else if (!broken_.empty()) {
            out = unaccepted(handler, "runs gave no history.");
        } else if (interrupted_) {
            return unaccepted(handler, "somebody interrupted the runs.");
        } else {
            return unaccepted(handler,
                              "what follows was never exercised; try more seeds, or say in the "
                              "options which scenarios are meant and what need not be reached.") +
                   gaps_;
        }
        out += broken_;
        for (const SavedFailure& failure : verdict_.failures) out += "\n" + failure.text;
        return out;
    }

    const Candidate& candidate_;
    const TrialOptions& options_;
    Verdict verdict_;
    std::uint64_t scenarios_ = 0;
    std::string broken_;
    std::string gaps_;
    std::string obstacles_;
    bool interrupted_ = false;
};

void check(const TrialOptions& options) {
    if (options.faults < 0 || options.faults > scenarios::kMostFaultsEnumerated) {
        throw std::invalid_argument(
            fmt::format("faults: {} are not enumerated; 0 to {} are possible", options.faults,
                        scenarios::kMostFaultsEnumerated));
    }
    if (options.seeds == 0) throw std::invalid_argument("seeds: give at least 1");
}

}  // namespace

Verdict accept(const Candidate& candidate) {
    const TrialOptions& options = candidate.options();
    check(options);
    Trial trial{candidate};
    if (const auto again = asked_for_again(candidate, {})) {
        trial.replay(*again);
        return std::move(trial).verdict();
    }
    std::vector<std::string> named = options.scenarios;
    const bool all = named.empty();
    if (all) {
        for (const scenarios::Scenario& scenario : scenarios::all_scenarios()) {
            if (scenario.condition != 0) named.push_back(scenario.name);
        }
    }
    for (const std::string& name : named) {
        const scenarios::Scenario& scenario = scenario_named(name);
        const auto why_not = scenarios::obstacle(scenario, candidate.handler());
        if (!why_not) {
            trial.search(scenario, options.seeds, true);
        } else if (all) {
            trial.take_no_part(scenario, *why_not);
        } else {
            throw std::invalid_argument(fmt::format("{} cannot take part in {}, because {}",
                                                    candidate.name(), name, *why_not));
        }
    }
    return std::move(trial).verdict();
}

Verdict hold(std::string_view scenario, const Candidate& candidate, Seeds seeds) {
    const scenarios::Scenario& where = scenario_named(scenario);
    if (const auto why_not = scenarios::obstacle(where, candidate.handler())) {
        throw std::invalid_argument(fmt::format("{} cannot take part in {}, because {}",
                                                candidate.name(), scenario, *why_not));
    }
    Trial trial{candidate};
    if (const auto again = asked_for_again(candidate, scenario)) {
        trial.replay(*again);
    } else {
        trial.search(where, seeds, false);
    }
    return std::move(trial).verdict();
}

}  // namespace fencepost::kit
