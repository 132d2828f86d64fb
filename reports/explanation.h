// Why a run broke an invariant, as a value: filled in by whoever can run the neighbours of its
// plan, shown as text, JSON and as a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/layout.h"
#include "reports/story.h"
#include "sim/plan.h"

namespace fencepost::reports {

// A record on which the finding rests.
struct Witness {
    sim::RecordId record = sim::kNoRecord;
    sim::Time at{};
    std::string who;
    std::string what;
    std::string holding;  // "lease 1:A#1.1 ran out 12s before, token 1"; may be empty
};

// What a fault of the plan has to do with it: what happens without it.
struct FaultRole {
    std::string fault;  // as sim::describe() says
    bool took_effect = false;
    std::string outcome;      // "the run passes", "the same invariant breaks", "… breaks instead"
    std::string consequence;  // what comes of it: "B#1 does not get the lease"; may be empty
};

// The run that breaks nothing and is nearest to the failing one.
struct Twin {
    std::string change;  // "fault 1 for 9s instead of 1min"
    sim::Time parted{};
    std::string here;   // the first event of the failing run that the twin has not
    std::string there;  // and the other way round
    sim::Time there_at{};
    std::string consequence;
    sim::Plan plan;
};

enum class CauseMatch : std::uint8_t {
    Own,
    Reference,  // a reference handler breaks the same thing under the same plan
    SamePlan,
    SameInvariant
};

// What usually causes such a violation.
struct Cause {
    CauseMatch match = CauseMatch::SameInvariant;
    std::string mistake;  // the planted one that does it; empty: none is known, or of Reference
    std::string lesson;   // empty: nothing is known
    std::string reading;  // where the documentation treats it
};

struct Explanation {
    sim::Plan plan;
    std::uint64_t fingerprint = 0;
    std::string checker;
    std::string invariant;          // the sentence that does not hold
    std::vector<std::string> also;  // further checkers that fail in the same run
    std::string key;
    std::string message;             // with the actual values
    std::size_t further = 0;         // findings of the same checker beyond this one
    std::vector<Witness> witnesses;  // in the order of their records
    Story story;
    bool story_suffices = false;   // the faults that the story names, alone, break the invariant
    std::vector<FaultRole> roles;  // one a fault of the plan
    std::string without_faults;    // of a plan that has none: how it does under other seeds
    std::optional<Twin> twin;
    std::optional<Cause> cause;
    std::string replay;  // commands; empty: say nothing
    std::string picture;
};

// Fits on one screen: at most 50 lines.
std::string explanation_text(const Explanation& explanation, TextStyle style = {});
// The parts that stand beside a failure in other reports: what broke, the story and the cause.
std::string explanation_brief(const Explanation& explanation, TextStyle style = {});
std::string explanation_json(const Explanation& explanation);

// What the records on which a finding rests say, and what their writers held then.
std::vector<Witness> witnesses_of(const Narrator& narrator, const checkers::Finding& finding);

// "A#1 commits: …", "the run was over".
std::string told(const Narrator& narrator, sim::RecordId record);

// What became in `other` of what the finding blames in `failing`: the first answer that its writer
// got there and not here, or who wrote there what is missing here. Empty when nothing shows.
std::string consequence_of(const Narrator& failing, const checkers::Finding& finding,
                           const Narrator& other);

// "-58.0121 s"
std::string moment_text(sim::Time at, sim::Time moment);

}  // namespace fencepost::reports
