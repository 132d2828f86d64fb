// How much real time a command may take: --budget 5m. When it is over, a search ends with what it
// has found; that is no interruption.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "cli/options.h"

namespace fencepost::cli {

class Budget {
public:
    // Of --budget: a number and s, m or h. CommandError when it is anything else.
    explicit Budget(const Arguments& arguments);

    [[nodiscard]] bool is_set() const { return end_.has_value(); }

    // Gives the next search its share of what is left, where so many searches are still to come,
    // itself included. The function says whether the share is used up; null without a budget.
    [[nodiscard]] std::function<bool()> share(std::size_t searches) const;

private:
    std::optional<std::chrono::steady_clock::time_point> end_;
};

// "5m", "90s", "1h"; nothing when the text is something else.
std::optional<std::chrono::seconds> parse_budget(std::string_view text);

}  // namespace fencepost::cli
