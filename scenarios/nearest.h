// Suggestions for mistyped names.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fencepost::scenarios {

// The number of single-character edits between two texts.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
        }
    }
    return row.back();
}

// ' (did you mean "same-instant"?)' when one of `known` is near enough, else nothing.
inline std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
    if (known.empty() || name.empty() || name.size() > 100) return {};
    const auto nearest = std::ranges::min_element(
        known, {}, [&](const std::string& candidate) { return edit_distance(name, candidate); });
    const std::size_t distance = edit_distance(name, *nearest);
    if (distance > std::max<std::size_t>(2, name.size() / 3)) return {};
    return " (did you mean \"" + *nearest + "\"?)";
}

}  // namespace fencepost::scenarios
