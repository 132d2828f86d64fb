// The business key: names one business act, the same on every rerun of it.
//
// It is made of the tenant, the job and the *scheduled* instant in UTC, all given by the scheduler:
// two nodes, two fire instance ids and two time-zone notations of one instant give one key. It is
// never made of the fire instance id, of a random number or of the present time.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "jobs/fire.h"

namespace fencepost::jobs {

class BusinessKey {
public:
    // "acme/daily-reconcile@2026-03-02T18:00:00Z". Sub-second parts are kept where there are any.
    static BusinessKey of(const Fire& fire);

    [[nodiscard]] const std::string& text() const { return text_; }

    // The key of one effect of the act: "acme/daily-reconcile@2026-03-02T18:00:00Z/7".
    [[nodiscard]] std::string effect(std::string_view name) const {
        return text_ + "/" + std::string(name);
    }
    [[nodiscard]] std::string effect(std::int64_t number) const {
        return effect(std::to_string(number));
    }

    auto operator<=>(const BusinessKey&) const = default;

private:
    explicit BusinessKey(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

// "2026-03-02T18:00:00Z": an instant in UTC, as in business keys and in the claim table's texts.
std::string utc_text(WallTime instant);
// "2026-03-02": the UTC calendar day of an instant.
std::string utc_day(WallTime instant);

}  // namespace fencepost::jobs
