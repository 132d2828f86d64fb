// Failure files: a plan that breaks an invariant, and what broke, for anyone to replay.
//
//   { "fencepost": 1,
//     "plan": { … },                    as in sim/plan.h
//     "invariant": "once",              the checker
//     "key": "acme/daily@…/7",          what it broke on
//     "message": "…",
//     "first_violating_event": 211,     the number of a record; absent when there is none
//     "fingerprint": "0x1f2e…",         of the run
//     "version": "0.1.0+3f2a1b4c5d6e",  of the code that it was seen with; absent when not known
//     "found_by": { "how": "sweep", "seed": "0x2a", "original_faults": 3, "minimal": true } }
//
// Where a failure is expected, a bare plan is accepted as well: it says nothing of what breaks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/runner.h"
#include "scenarios/search/shrink.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct FoundBy {
    std::string how;                    // "sweep", "exhaust", "hand"
    std::optional<std::uint64_t> seed;  // of the sweep that drew it
    std::uint64_t original_faults = 0;  // before it was shrunk
    bool minimal = false;               // no single fault, node or unit can be taken away

    bool operator==(const FoundBy&) const = default;
};

struct Failure {
    sim::Plan plan;
    std::string invariant;  // empty: a bare plan
    std::string key;
    std::string message;
    sim::RecordId first_violating_event = sim::kNoRecord;
    std::uint64_t fingerprint = 0;
    std::string version;  // of the code; filled in by whoever saves it
    FoundBy found_by;

    [[nodiscard]] bool is_bare_plan() const { return invariant.empty(); }
    bool operator==(const Failure&) const = default;
};

// Of a run that failed; `how` it was found is left to the caller.
Failure failure_of(const sim::Plan& plan, const RunResult& result);
Failure failure_of(const Shrunk& shrunk);

std::string to_json(const Failure& failure);
// Throws sim::PlanError: one sentence that names the place and says what would be right.
Failure failure_from_json(std::string_view text);

// Throws sim::PlanError with the path when the file cannot be read or is not a failure or a plan.
Failure read_failure(const std::string& path);
// All of it or nothing: a reader never sees half a file. Throws sim::PlanError with the path.
void write_failure(const std::string& path, const Failure& failure);
// The name with everything that is awkward in the name of a file replaced.
std::string plain_name(std::string name);
// "same-instant-lock-only-once-0x2a.json"
std::string failure_file_name(const Failure& failure);

enum class ReplayVerdict : std::uint8_t {
    SameFailure,            // the same invariant, by the same history
    SameInvariantOtherWay,  // the same invariant by another history: the code has changed
    OtherInvariant,         // only others broke
    NoFailure,
};

constexpr std::string_view name_of(ReplayVerdict verdict) {
    switch (verdict) {
        case ReplayVerdict::SameFailure:
            return "the same failure";
        case ReplayVerdict::SameInvariantOtherWay:
            return "the same invariant by another way";
        case ReplayVerdict::OtherInvariant:
            return "another invariant";
        case ReplayVerdict::NoFailure:
            return "no failure any more";
    }
    return "?";
}

struct Replay {
    ReplayVerdict verdict = ReplayVerdict::NoFailure;
    bool same_history = false;  // bit for bit, by fingerprint
    bool same_key = false;      // the invariant broke on the key of the file

    // The invariant of the file broke, however it came to that.
    [[nodiscard]] bool reproduced() const {
        return verdict == ReplayVerdict::SameFailure ||
               verdict == ReplayVerdict::SameInvariantOtherWay;
    }
};

// What a run of the failure's plan came to. For a bare plan any failure is the same failure.
Replay compare(const Failure& failure, const RunResult& result);

}  // namespace fencepost::scenarios
