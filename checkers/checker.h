// The checkers: functions from a history (and what was to be expected) to a judgement.
//
// They judge by what the world saw: committed rows, keys of Redis, work that fell due, how the run
// ended; never by what a handler says of itself.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "checkers/expectations.h"
#include "checkers/judgement.h"
#include "checkers/reading.h"

namespace fencepost::checkers {

struct Checker {
    std::string_view name;       // "single-claim"
    std::string_view invariant;  // one sentence: "Every due effect lands exactly once."
    Judgement (*judge)(const Reading& reading);  // leaves Judgement::checker to judge_all
};

// All of them, in the order in which reports show them.
std::span<const Checker> all_checkers();
// Null when there is none of that name; "single claim" is "single-claim".
const Checker* find_checker(std::string_view name);

// Makes another checker known, after those that there are; before any run. Its texts outlive the
// process's last run. Throws std::invalid_argument when its name is taken or it has no judge.
void add_checker(const Checker& checker);

// One judgement for each of `checkers`, in their order. The history is read once.
std::vector<Judgement> judge_all(const sim::History& history, const Expectations& expectations,
                                 std::span<const Checker* const> checkers);
Judgement judge(const Checker& checker, const sim::History& history,
                const Expectations& expectations);

}  // namespace fencepost::checkers
