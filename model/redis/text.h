// Numbers and words as Redis reads them from a command.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fencepost::model::redis {

// A signed 64-bit integer in its one canonical spelling: no blanks, no plus sign, no leading zero,
// no "-0". Anything else is "not an integer" to Redis.
[[nodiscard]] inline std::optional<std::int64_t> parse_integer(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const std::string_view digits = text.front() == '-' ? text.substr(1) : text;
    if (digits.empty() || (digits.front() == '0' && text.size() > 1)) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

[[nodiscard]] inline std::string to_text(std::int64_t value) {
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    return {digits, end};
}

// ASCII only, whatever the locale.
[[nodiscard]] constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// `word` must be lower-case.
[[nodiscard]] inline bool is_word(std::string_view text, std::string_view word) {
    if (text.size() != word.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (to_lower(text[i]) != word[i]) return false;
    }
    return true;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string lowered(text);
    for (char& c : lowered) c = to_lower(c);
    return lowered;
}

// What an error message quotes of an argument: up to a zero byte, and not without end.
[[nodiscard]] inline std::string quoted_part(std::string_view text, std::size_t limit = 128) {
    return std::string(text.substr(0, std::min(limit, text.find('\0'))));
}

// One protocol line: line ends at either end are cut off, others become blanks.
[[nodiscard]] inline std::string one_line(std::string text) {
    constexpr std::string_view kLineEnds = "\r\n";
    const std::size_t last = text.find_last_not_of(kLineEnds);
    text.resize(last == std::string::npos ? 0 : last + 1);
    text.erase(0, text.find_first_not_of(kLineEnds));
    for (char& c : text) {
        if (c == '\r' || c == '\n') c = ' ';
    }
    return text;
}

}  // namespace fencepost::model::redis
