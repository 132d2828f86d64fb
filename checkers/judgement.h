// What a checker says of one history.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/history.h"

namespace fencepost::checkers {

// Pass and Fail need evidence. Unknown: the history held nothing to judge by. NotApplicable: the
// scenario or handler has no such thing (no claim table, no lease), and says so in advance.
enum class Verdict : std::uint8_t { Pass, Fail, Unknown, NotApplicable };

constexpr std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::Pass:
            return "pass";
        case Verdict::Fail:
            return "fail";
        case Verdict::Unknown:
            return "unknown";
        case Verdict::NotApplicable:
            return "not applicable";
    }
    return "?";
}

// One violation: of what, on which business key, shown by which record, in a sentence.
struct Finding {
    std::string key;      // what the invariant broke on: "acme/daily-reconcile@…/7"
    std::string message;  // a sentence with the actual values
    sim::RecordId record = sim::kNoRecord;  // the first record that shows it

    bool operator==(const Finding&) const = default;
};

struct Judgement {
    std::string checker;
    Verdict verdict = Verdict::Unknown;
    // Why it passed, is unknown or not applicable: "12 effects, each there once"; of a Fail, how
    // many violations there are.
    std::string reason;
    std::vector<Finding> findings;  // of a Fail, in the order of their records

    bool operator==(const Judgement&) const = default;
};

// The first finding; where there is none, the reason stands for it.
inline Finding first_finding(const Judgement& judgement) {
    if (!judgement.findings.empty()) return judgement.findings.front();
    return {.key = {}, .message = judgement.reason};
}

}  // namespace fencepost::checkers
