#include "checkers/landed.h"

namespace fencepost::checkers {

Landed::Landed(const Reading& reading)
    : reading_(reading), counts_(reading.effects().size()), missing_(reading.units().size()) {
    for (std::size_t unit = 0; unit < missing_.size(); ++unit) {
        missing_[unit] = reading.units()[unit].expected;
    }
}

void Landed::apply(const EffectChange& change) {
    // A row that leaves and never landed was there before the run.
    if (change.leaves() && counts_[change.before] > 0 && --counts_[change.before] == 0) {
        const Effect& effect = reading_.effects()[change.before];
        if (effect.unit != kNone && !effect.passing) ++missing_[effect.unit];
    }
    if (change.lands() && counts_[change.after]++ == 0) {
        const Effect& effect = reading_.effects()[change.after];
        if (effect.unit != kNone && !effect.passing) --missing_[effect.unit];
    }
}

std::uint32_t Landed::first_missing(std::uint32_t unit) const {
    for (std::uint32_t effect = 0; effect < reading_.expected_effects(); ++effect) {
        if (reading_.effects()[effect].unit == unit && counts_[effect] == 0) return effect;
    }
    return kNone;
}

}  // namespace fencepost::checkers
