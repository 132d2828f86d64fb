// The neighbours of a failing plan: what would have happened if one fault had been another or none,
// if another seed had drawn the delays, or if another handler had been at work.
//
// Pure but for the runs: the same plan gives the same neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/runner.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct Neighbour {
    sim::Plan plan;
    std::optional<std::size_t> fault;  // which one of the failing plan is another or gone
    std::string change;                // "without fault 1", "fault 1 for 9s instead of 1min"
    RunResult result;
    sim::History history;
};

// Whether `checker` fails, on any key; the other checkers do not matter.
bool breaks(const RunResult& result, const std::string& checker);

// One for each fault of the plan, in their order.
std::vector<Neighbour> without_each_fault(const sim::Plan& plan, Runner& runner);

// Where two runs part: in each the first record that the other has not. What a fault itself does (a
// pause, a kill) does not count: it is what is compared. A number of records where a run had ended.
struct Parting {
    sim::RecordId here = 0;
    sim::RecordId there = 0;
};
Parting parting_of(const sim::History& here, const sim::History& there);

// Of the runs that break nothing and differ by one fault (moved to another call, phase or time,
// made shorter, or taken away), the one that goes along with the failing run the longest. For a
// plan without faults, and where no such run passes, of those with another seed.
std::optional<Neighbour> nearest_passing(const sim::Plan& plan, const sim::History& failing,
                                         Runner& runner);

// Of `seeds` other seeds, with how many the plan breaks the checker as well.
std::size_t also_fails_with(const sim::Plan& plan, const std::string& checker, std::size_t seeds,
                            Runner& runner);

// The planted mistakes that break the same checker under the same plan, in their order; the plan's
// own handler is not among them.
std::vector<Neighbour> mistakes_that_break(const sim::Plan& plan, const std::string& checker,
                                           Runner& runner);

// The same of the reference handlers.
std::vector<Neighbour> references_that_break(const sim::Plan& plan, const std::string& checker,
                                             Runner& runner);

}  // namespace fencepost::scenarios
