// Values of rows as text and numbers, and the identity of a row as one text.
//
// An identity is the number of its table and then each value after its length, so that no two
// identities have the same text. The number 7 and the text "7" are one value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/events.h"

namespace fencepost::checkers {

void begin_identity(std::string& out, std::size_t table);
void append_to_identity(std::string& out, std::string_view value);
void append_to_identity(std::string& out, const model::Cell& cell);
std::size_t table_of(std::string_view identity);
std::vector<std::string> list_of_values(std::string_view identity);
// "7, 2026-03-02"
std::string values_of(std::string_view identity, std::string_view separator);

// A number that a column holds as an integer or as decimal text.
std::optional<std::int64_t> integer_of(const model::Cell& cell);
// "A:7", "12", "NULL".
std::string text_of(const model::Cell& cell);
// "5", "none".
std::string text_of(const std::optional<std::int64_t>& number);

}  // namespace fencepost::checkers
