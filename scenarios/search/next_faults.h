// Which faults can strike next: what is to be tried after the faults of a plan, read from its run.
//
// A run is a function of its plan, and faults change nothing before they strike. So up to the
// moment at which a further fault strikes, a plan with it runs as the plan without it does: the
// places at which it can strike are those that the run without it comes to.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/fault_menu.h"
#include "scenarios/search/random_plan.h"
#include "sim/fault.h"
#include "sim/history.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct NextFaults {
    // By fault point in the order in which the run came to them, phase and kind; then those at a
    // time.
    std::vector<sim::Fault> faults;
    // For each fault at a point, the first record that is written after its strike; the records
    // before it are those of a run without the fault. kNoRecord for faults at a time.
    std::vector<sim::RecordId> strikes;
    // The addresses of the fault points at which some of them strike, hashed, in that order.
    std::vector<std::uint64_t> points;

    bool operator==(const NextFaults&) const = default;
};

class NextFaultFinder {
public:
    // Of the kinds that the scenario's families allow, or of those among them that are in `kinds`,
    // if there are any.
    NextFaultFinder(const Scenario& scenario, const Subject& subject,
                    std::span<const sim::FaultKind> kinds = {});

    // Every fault, with each of its essential arguments, that strikes after all those of `plan`,
    // given the history of the plan's run: at every phase of a call that the run came to from the
    // last strike on, the phase of that strike itself included; and, of kinds that have no points,
    // at the start, right before each due instant and after the last call of a job, as far as these
    // are still to come. Nothing strikes once everything is healed. None when a fault of the plan
    // never struck: the plan does what a shorter one does.
    NextFaults after(const sim::Plan& plan, const sim::History& history);

private:
    struct Strike;
    using Menus = std::map<std::pair<std::string, std::string>, std::vector<FaultOption>>;

    [[nodiscard]] std::vector<FaultOption> essential(std::vector<FaultOption> options) const;
    const std::vector<FaultOption>& menu_of(const std::vector<std::string>& keys,
                                            const std::string& node, std::string_view operation);
    void add_times(const Strike& last, sim::Time busy_until, NextFaults& next) const;

    const Scenario& scenario_;
    Subject subject_;
    std::vector<sim::FaultKind> kinds_;
    std::map<std::vector<std::string>, Menus> menus_;  // by Redis's keys, node and operation
    std::vector<std::vector<FaultOption>> timed_;      // one a node
};

}  // namespace fencepost::scenarios
