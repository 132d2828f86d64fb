// Which effects are there, as commits are gone through in order.
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/reading.h"

namespace fencepost::checkers {

class Landed {
public:
    explicit Landed(const Reading& reading);

    void apply(const EffectChange& change);
    [[nodiscard]] std::uint32_t count(std::uint32_t effect) const { return counts_[effect]; }
    [[nodiscard]] bool complete(std::uint32_t unit) const {
        return missing_[unit] == 0 && reading_.units()[unit].expected > 0;
    }
    [[nodiscard]] std::uint32_t missing(std::uint32_t unit) const { return missing_[unit]; }
    // The first effect of the unit that is not there; kNone when it is complete.
    [[nodiscard]] std::uint32_t first_missing(std::uint32_t unit) const;

private:
    const Reading& reading_;
    std::vector<std::uint32_t> counts_;   // of each effect
    std::vector<std::uint32_t> missing_;  // effects of each unit that are not there
};

}  // namespace fencepost::checkers
