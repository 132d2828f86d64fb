#include "checkers/shown_progress.h"

#include <fmt/format.h>

#include "checkers/findings.h"
#include "checkers/identity.h"

namespace fencepost::checkers {
namespace {

// Everything done, as somebody sees it who looks at the claim.
bool shows_all(const Reading& reading, const ClaimState& state) {
    if (state.percent) return *state.percent >= 100;
    const bool has_percent = !reading.expectations().claims->progress->percent.empty();
    // Without a percentage, all is done when the counts are equal; while work goes on that is the
    // plain truth.
    return !has_percent && state.finished && state.total && state.current &&
           *state.current >= *state.total;
}

}  // namespace

std::string fault_of_progress(const Reading& reading, const Landed& landed,
                              const ClaimChange& change) {
    if (!change.after || !reading.expectations().claims->progress) return {};
    const ClaimState& state = *change.after;
    const Unit& unit = reading.units()[change.unit];
    const auto by = [&] { return reading.who_and_when(change.source.record); };
    const std::string key = reading.unit_name(change.unit);
    if (!state.succeeded && shows_all(reading, state)) {
        return fmt::format("Claim {} shows 100 % and says {}, set by {}.", key, state.status, by());
    }
    if (state.total && !unit.total) {
        return fmt::format("Claim {} shows a total of {}, which nobody knows, set by {}.", key,
                           *state.total, by());
    }
    if (state.total && *state.total != *unit.total) {
        return fmt::format("Claim {} shows a total of {}; it is {}, set by {}.", key, *state.total,
                           *unit.total, by());
    }
    if (!state.succeeded && state.percent && !unit.total) {
        return fmt::format("Claim {} shows {} % of a total that nobody knows, set by {}.", key,
                           *state.percent, by());
    }
    const std::int64_t there =
        static_cast<std::int64_t>(unit.expected) - landed.missing(change.unit);
    if (state.current && *state.current > there) {
        return fmt::format("Claim {} shows {} done, and there {}, set by {}.", key, *state.current,
                           there == 1 ? "is 1 effect" : fmt::format("are {} effects", there), by());
    }
    return {};
}

}  // namespace fencepost::checkers
