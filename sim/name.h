// What names of scenarios, handlers, checkers, nodes and jobs may be: they stand in keys, fault
// points, options and names of files.
#pragma once

#include <cstddef>
#include <string_view>

namespace fencepost::sim {

inline constexpr std::size_t kLongestName = 64;
inline constexpr std::string_view kNameRule =
    "a name is 1 to 64 letters, digits, \"-\", \"_\" and \".\", a letter or digit first";

constexpr bool is_name(std::string_view text) {
    const auto letter_or_digit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    if (text.empty() || text.size() > kLongestName || !letter_or_digit(text.front())) return false;
    for (const char c : text) {
        if (!letter_or_digit(c) && c != '-' && c != '_' && c != '.') return false;
    }
    return true;
}

}  // namespace fencepost::sim
