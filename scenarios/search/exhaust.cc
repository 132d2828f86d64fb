#include "scenarios/search/exhaust.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "scenarios/search/fault_menu.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;

class Enumerator {
public:
    Enumerator(const Scenario& scenario, const Subject& subject, std::vector<std::string> keys,
               std::uint64_t seed)
        : menu_(scenario, subject.parameters, std::move(keys)), base_(subject.plan(seed)) {
        plans_.push_back(base_);
    }

    void add_point(const ReachedPoint& point) {
        for (const sim::Phase phase : sim::kPhases) {
            if (!point.reaches(phase)) continue;
            for (const FaultOption& option : menu_of(point)) {
                if (!option.essential || !option.at(phase)) continue;
                sim::Fault fault = option.fault;
                fault.at = point.address;
                fault.phase = phase;
                add(std::move(fault));
            }
        }
    }

    // Kinds that have no points.
    void add_times(const std::vector<std::string>& nodes, const std::set<sim::Time>& times) {
        for (const sim::Time time : times) {
            for (const std::string& node : nodes) {
                for (const FaultOption& option : menu_.at_time(node)) {
                    if (!option.essential || sim::info_of(option.fault.kind).at_point) continue;
                    sim::Fault fault = option.fault;
                    fault.at_time = time;
                    add(std::move(fault));
                }
            }
        }
    }

    Enumeration take(std::vector<ReachedPoint> points) && {
        Enumeration all;
        all.points = std::move(points);
        all.plans = std::move(plans_);
        for (const auto& [kind, plans] : counts_) all.kinds.push_back({kind, plans, 0, 0});
        return all;
    }

private:
    const std::vector<FaultOption>& menu_of(const ReachedPoint& point) {
        const auto [known, is_new] = menus_.try_emplace({point.node, point.operation});
        if (is_new) known->second = menu_.at_point(point.node, point.operation);
        return known->second;
    }
    void add(sim::Fault fault) {
        ++counts_[fault.kind];
        plans_.push_back(base_);
        plans_.back().faults.push_back(std::move(fault));
    }

    const FaultMenu menu_;
    const sim::Plan base_;
    std::map<std::pair<std::string, std::string>, std::vector<FaultOption>> menus_;
    std::vector<sim::Plan> plans_;
    std::map<sim::FaultKind, std::uint64_t> counts_;
};

void require_one(int faults) {
    if (faults == 1) return;
    throw sim::PlanError(fmt::format(
        "faults: {} a plan cannot be enumerated; only every plan with 1 fault can (a sweep draws "
        "plans with several)",
        faults));
}

}  // namespace

Enumeration enumerate(const Scenario& scenario, const Subject& subject, Reached reached, int faults,
                      std::uint64_t seed) {
    require_one(faults);
    Enumerator all{scenario, subject, reached.keys, seed};
    std::set<sim::Time> times{scenario.start};
    for (const DueWork& due : scenario.due) {
        times.insert(std::max(scenario.start, sim::Time{due.scheduled} - 1ms));
    }
    sim::Time last{scenario.start};
    for (const ReachedPoint& point : reached.points) {
        all.add_point(point);
        if (point.of_job) last = std::max(last, point.at);
    }
    times.insert(std::chrono::ceil<std::chrono::milliseconds>(last) + 100ms);
    all.add_times(scenario.nodes, times);
    return std::move(all).take(std::move(reached.points));
}

ExhaustResult exhaust(const Scenario& scenario, const Subject& subject,
                      const ExhaustOptions& options) {
    require_one(options.faults);
    validate(subject.plan(options.seed));
    ExhaustResult result;
    Certificate& certificate = result.certificate;
    certificate.scenario = subject.scenario;
    certificate.handler = subject.handler;
    certificate.seed = options.seed;
    certificate.faults = options.faults;
    auto reached = reached_in_worker(subject.plan(options.seed), options.search, result.search);
    if (!reached) return result;

    const Enumeration all =
        enumerate(scenario, subject, std::move(*reached), options.faults, options.seed);
    result.search = run_plans(scenario, all.plans, options.search);
    const Totals& totals = result.search.totals;
    certificate.points = all.points.size();
    certificate.planned = all.plans.size();
    certificate.run = totals.runs;
    certificate.skipped = certificate.planned - certificate.run;
    certificate.inert = totals.runs_with_inert_faults;
    certificate.without_effect = totals.runs_without_effect;
    certificate.violating = totals.failed_runs;
    for (const KindCount& count : all.kinds) {
        const FaultTally& tally = totals.of(count.kind);
        certificate.kinds.push_back({count.kind, count.plans, tally.struck, tally.took_effect});
    }
    return result;
}

}  // namespace fencepost::scenarios
