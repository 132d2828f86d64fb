// The five verdicts of the acceptance checklist, each decided by a group of checkers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reports/results.h"

namespace fencepost::reports {

struct VerdictColumn {
    std::string_view name;
    std::span<const std::string_view> checkers;
};

inline constexpr std::size_t kVerdictColumns = 5;
std::span<const VerdictColumn, kVerdictColumns> verdict_columns();

enum class CellVerdict : std::uint8_t { Pass, Fail, Unknown, NotApplicable };

constexpr std::string_view name_of(CellVerdict verdict) {
    switch (verdict) {
        case CellVerdict::Pass:
            return "pass";
        case CellVerdict::Fail:
            return "FAIL";
        case CellVerdict::Unknown:
            return "unknown";
        case CellVerdict::NotApplicable:
            return "n/a";
    }
    return "?";
}

// Over any number of runs: one failure fails; a checker that judged no run at all is unknown; one
// that does not apply in any run says nothing.
CellVerdict verdict_of(const VerdictCounts& counts);

// Over the checkers of a column and both searches of a piece of evidence.
CellVerdict cell_of(const VerdictColumn& column, const Evidence& evidence);
// Over all evidence for a condition. A condition without any says nothing.
CellVerdict cell_of(const VerdictColumn& column, const ConditionReport& condition);

// What is missing for a sound answer, one sentence each; empty when nothing is.
std::vector<std::string> gaps_of(const SearchReport& report);
// The same for both searches together: what one did not reach, the other may have.
std::vector<std::string> gaps_of(const Evidence& evidence);

Ending ending_of(const RunReport& report);
Ending ending_of(const SearchReport& report);
Ending ending_of(const AcceptReport& report);
// A replay is over when the failure is gone; what the run left unknown does not matter.
Ending ending_of(const ReplayReport& report);

Ending ending_of(const MistakesReport& report);

// The counts of both, kind by kind, in the order in which they first appear.
SearchReport both(const Evidence& evidence);

}  // namespace fencepost::reports
