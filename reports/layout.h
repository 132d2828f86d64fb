// Plain aligned text: widths, wrapping, tables, labelled fields, and colour where it is wanted.
//
// Text that came out of a run is shown with its control characters replaced, so that no row of a
// database can move a terminal's cursor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fencepost::reports {

inline constexpr std::size_t kPageWidth = 100;

struct TextStyle {
    bool color = false;
};

enum class Ink : std::uint8_t { Plain, Good, Bad, Doubt, Dim, Strong };

// The text in that colour; as it is when the style has none.
std::string inked(std::string_view text, Ink ink, TextStyle style);

// Columns that the text takes: characters, of which UTF-8 may need several bytes each.
std::size_t width_of(std::string_view text);

// One line: control characters, line ends and runs of blanks are one blank each.
std::string on_one_line(std::string_view text);

// At most `width` columns; what is longer ends in "...".
std::string shortened(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken at blanks; a longer word stands alone, whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// Words separated by `separator`: "1 crash, 2 pauses".
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");

// "1,234,567"
std::string grouped(std::uint64_t number);

// "1 run", "2 runs"
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

// Appends "  label     text", wrapped, with later lines below the text.
void add_field(std::string& out, std::string_view label, std::string_view text,
               std::size_t label_width = 15);

// Rows of cells under headings. A column is as wide as its widest line; cells and headings may have
// several lines.
class Table {
public:
    struct Column {
        std::vector<std::string> heading;
        std::size_t most = kPageWidth;  // wraps what is wider
        bool right = false;
    };
    struct Cell {
        std::string text;
        Ink ink = Ink::Plain;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    // One cell a column.
    void add_row(std::vector<Cell> cells);
    [[nodiscard]] std::string text(TextStyle style = {}, std::size_t indent = 0) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace fencepost::reports
