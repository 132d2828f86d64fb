#include "checkers/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstring>

namespace fencepost::checkers {

void begin_identity(std::string& out, std::size_t table) {
    out.clear();
    out += static_cast<char>(table);
}

void append_to_identity(std::string& out, std::string_view value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    char bytes[sizeof size];
    std::memcpy(bytes, &size, sizeof size);
    out.append(bytes, sizeof size);
    out += value;
}

void append_to_identity(std::string& out, const model::Cell& cell) {
    if (const auto* text = std::get_if<std::string_view>(&cell)) {
        append_to_identity(out, *text);
    } else if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
        char digits[24];
        const char* end = std::to_chars(digits, digits + sizeof digits, *integer).ptr;
        append_to_identity(out, std::string_view{digits, end});
    } else {
        append_to_identity(out, std::string_view{text_of(cell)});
    }
}

std::vector<std::string> list_of_values(std::string_view identity) {
    std::vector<std::string> values;
    identity.remove_prefix(1);
    while (!identity.empty()) {
        std::uint32_t size = 0;
        std::memcpy(&size, identity.data(), sizeof size);
        values.emplace_back(identity.substr(sizeof size, size));
        identity.remove_prefix(sizeof size + size);
    }
    return values;
}

std::string values_of(std::string_view identity, std::string_view separator) {
    return fmt::format("{}", fmt::join(list_of_values(identity), separator));
}

std::size_t table_of(std::string_view identity) {
    return static_cast<unsigned char>(identity.front());
}

std::optional<std::int64_t> integer_of(const model::Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
    const auto* text = std::get_if<std::string_view>(&cell);
    if (text == nullptr) return std::nullopt;
    std::int64_t value = 0;
    const char* const end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, value);
    return error == std::errc{} && rest == end ? std::optional{value} : std::nullopt;
}

std::string text_of(const model::Cell& cell) {
    if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string{*text};
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
    return "NULL";
}

std::string text_of(const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : "none";
}

}  // namespace fencepost::checkers
