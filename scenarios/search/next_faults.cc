#include "scenarios/search/next_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/events.h"
#include "scenarios/search/points.h"
#include "sim/random.h"

namespace fencepost::scenarios {

using namespace std::chrono_literals;

// The last strike of a plan's faults.
struct NextFaultFinder::Strike {
    sim::Time at{};
    bool at_point = false;
    sim::RecordId record = sim::kNoRecord;  // none: the plan has no faults
    bool all_struck = false;

    Strike(const Scenario& scenario, const sim::Plan& plan, const sim::History& history)
        : at(scenario.start), all_struck(plan.faults.empty()) {
        std::size_t struck = 0;
        for (sim::RecordId id = 0; id < history.size() && !all_struck; ++id) {
            if (history.kind_of(id) != sim::FaultStruck::kKind) continue;
            const sim::Record strike = history[id];
            at = strike.at();
            at_point = !plan.faults.at(strike.as<sim::FaultStruck>()->index).at_time;
            record = id;
            all_struck = ++struck == plan.faults.size();
        }
    }

    // Whether a phase that the run came to lies before the strike. A fault point notes its phase
    // right before what is planned there strikes.
    [[nodiscard]] std::size_t first_phase(const std::vector<sim::PhaseReached>& phases) const {
        if (record == sim::kNoRecord) return 0;
        const auto later =
            std::ranges::upper_bound(phases, record, {}, &sim::PhaseReached::next) - phases.begin();
        return static_cast<std::size_t>(later) - (at_point ? 1 : 0);
    }
};

NextFaultFinder::NextFaultFinder(const Scenario& scenario, const Subject& subject,
                                 std::span<const sim::FaultKind> kinds)
    : scenario_(scenario), subject_(subject), kinds_(kinds.begin(), kinds.end()) {
    const FaultMenu menu{scenario, subject_.parameters, {}};
    for (const std::string& node : scenario.nodes) {
        auto& options = timed_.emplace_back(essential(menu.at_time(node)));
        std::erase_if(options, [](const FaultOption& option) {
            return sim::info_of(option.fault.kind).at_point;
        });
    }
}

std::vector<FaultOption> NextFaultFinder::essential(std::vector<FaultOption> options) const {
    std::erase_if(options, [this](const FaultOption& option) {
        return !option.essential ||
               (!kinds_.empty() && std::ranges::find(kinds_, option.fault.kind) == kinds_.end());
    });
    return options;
}

const std::vector<FaultOption>& NextFaultFinder::menu_of(const std::vector<std::string>& keys,
                                                         const std::string& node,
                                                         std::string_view operation) {
    const auto [menu, is_new] = menus_[keys].try_emplace(std::pair{node, std::string(operation)});
    if (is_new) {
        menu->second =
            essential(FaultMenu{scenario_, subject_.parameters, keys}.at_point(node, operation));
    }
    return menu->second;
}

NextFaults NextFaultFinder::after(const sim::Plan& plan, const sim::History& history) {
    NextFaults next;
    const Strike last{scenario_, plan, history};
    if (!last.all_struck) return next;
    const Reached run = reached(history);
    sim::Time busy_until = scenario_.start;
    sim::RecordId healed = sim::kNoRecord;
    for (sim::RecordId id = 0; id < history.size() && healed == sim::kNoRecord; ++id) {
        if (history.kind_of(id) != sim::PhaseBegan::kKind) continue;
        if (history[id].as<sim::PhaseBegan>()->name == "heal") healed = id;
    }

    // For each call, in order, the records before which it comes to its phases.
    std::map<sim::RecordId, std::map<sim::Phase, sim::RecordId>> points;
    const std::vector<sim::PhaseReached>& phases = history.phases();
    for (std::size_t i = last.first_phase(phases); i < phases.size(); ++i) {
        if (phases[i].next > healed) break;
        points[phases[i].call].emplace(phases[i].phase, phases[i].next);
    }
    for (const auto& [id, reached_phases] : points) {
        const sim::Record record = history[id];
        const auto call = record.as<sim::CallStarted>();
        const std::string& node = history.party_name(history.task(record.task()).party);
        if (node == kOperatorNode) continue;
        const std::string address =
            fmt::format("{}/{}/{}", history.actor(record.task()), call->operation, call->ordinal);
        const std::size_t before = next.faults.size();
        for (const auto& [phase, strike] : reached_phases) {
            for (const FaultOption& option : menu_of(run.keys, node, call->operation)) {
                if (!option.at(phase)) continue;
                sim::Fault& fault = next.faults.emplace_back(option.fault);
                fault.at = address;
                fault.phase = phase;
                next.strikes.push_back(strike);
            }
        }
        if (next.faults.size() > before) next.points.push_back(sim::hash_of(address));
    }
    for (const ReachedPoint& point : run.points) {
        if (point.of_job) busy_until = std::max(busy_until, point.at);
    }
    add_times(last, busy_until, next);
    return next;
}

void NextFaultFinder::add_times(const Strike& last, sim::Time busy_until, NextFaults& next) const {
    std::set<sim::Time> times{scenario_.start};
    for (const DueWork& due : scenario_.due) {
        times.insert(std::max(scenario_.start, sim::Time{due.scheduled} - 1ms));
    }
    times.insert(std::chrono::ceil<std::chrono::milliseconds>(busy_until) + 100ms);
    for (const sim::Time time : times) {
        // At one instant, what is planned at a time strikes before what is planned at a point, and
        // in the order of the plan.
        const bool strikes_before = last.at_point ? time <= last.at : time < last.at;
        if (last.record != sim::kNoRecord && strikes_before) continue;
        if (time >= scenario_.start + scenario_.healed_after) continue;
        for (const auto& options : timed_) {
            for (const FaultOption& option : options) {
                next.faults.push_back(option.fault);
                next.faults.back().at_time = time;
                next.strikes.push_back(sim::kNoRecord);
            }
        }
    }
}

}  // namespace fencepost::scenarios
