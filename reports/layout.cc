#include "reports/layout.h"

#include <algorithm>

#include "sim/require.h"

namespace fencepost::reports {
namespace {

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
bool starts_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
}

std::string_view code_of(Ink ink) {
    switch (ink) {
        case Ink::Plain:
            return "";
        case Ink::Good:
            return "\x1b[32m";
        case Ink::Bad:
            return "\x1b[1;31m";
        case Ink::Doubt:
            return "\x1b[33m";
        case Ink::Dim:
            return "\x1b[2m";
        case Ink::Strong:
            return "\x1b[1m";
    }
    return "";
}

// Colours the text and fills up with blanks: an escape sequence takes no room.
std::string filled(std::string_view text, std::size_t width, bool right, Ink ink, TextStyle style) {
    const std::size_t taken = width_of(text);
    const std::string blanks(width > taken ? width - taken : 0, ' ');
    return right ? blanks + inked(text, ink, style) : inked(text, ink, style) + blanks;
}

std::string_view without_trailing_blanks(std::string_view text) {
    const std::size_t last = text.find_last_not_of(' ');
    return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

}  // namespace

std::string inked(std::string_view text, Ink ink, TextStyle style) {
    if (!style.color || ink == Ink::Plain || text.empty()) return std::string(text);
    return std::string(code_of(ink)) + std::string(text) + "\x1b[0m";
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string on_one_line(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (!is_control(c) && c != ' ') {
            out += c;
        } else if (!out.empty() && out.back() != ' ') {
            out += ' ';
        }
    }
    if (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

std::string shortened(std::string_view text, std::size_t width) {
    if (width_of(text) <= width) return std::string(text);
    const std::size_t kept = width > 3 ? width - 3 : 0;
    std::size_t seen = 0;
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        if (starts_character(text[end]) && seen++ == kept) break;
    }
    return std::string(text.substr(0, end)) + "...";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    const std::string line = on_one_line(text);
    std::vector<std::string> lines(1);
    std::size_t at = 0;
    while (at < line.size()) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        const std::string_view word = std::string_view{line}.substr(at, end - at);
        if (lines.back().empty()) {
            lines.back() = word;
        } else if (width_of(lines.back()) + 1 + width_of(word) <= width) {
            lines.back().append(" ").append(word);
        } else {
            lines.emplace_back(word);
        }
        at = end + 1;
    }
    return lines;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    std::string out;
    for (const std::string& word : words) {
        if (!out.empty()) out += separator;
        out += word;
    }
    return out;
}

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
    return grouped(number) + " " + std::string(number == 1 ? one : many);
}

void add_field(std::string& out, std::string_view label, std::string_view text,
               std::size_t label_width) {
    std::string lead = "  " + filled(label, label_width, false, Ink::Plain, {});
    for (const std::string& line : wrapped(text, kPageWidth - lead.size())) {
        out += without_trailing_blanks(lead + line);
        out += '\n';
        lead.assign(lead.size(), ' ');
    }
}

void Table::add_row(std::vector<Cell> cells) {
    sim::require(cells.size() == columns_.size(), "a row has one cell a column");
    rows_.push_back(std::move(cells));
}

std::string Table::text(TextStyle style, std::size_t indent) const {
    using Lines = std::vector<std::string>;
    std::vector<std::size_t> widths(columns_.size(), 0);
    std::vector<std::vector<Lines>> rows;
    const auto widen = [&](std::size_t column, const Lines& lines) {
        for (const std::string& line : lines)
            widths[column] = std::max(widths[column], width_of(line));
    };
    for (const std::vector<Cell>& cells : rows_) {
        std::vector<Lines>& row = rows.emplace_back();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            row.push_back(wrapped(cells[i].text, columns_[i].most));
            widen(i, row.back());
        }
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) widen(i, columns_[i].heading);

    std::string out;
    const auto add = [&](std::size_t height, const auto& line_of, const auto& ink_of) {
        for (std::size_t level = 0; level < height; ++level) {
            std::string line(indent, ' ');
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                if (i > 0) line += "  ";
                const Lines& lines = line_of(i);
                const std::string_view text =
                    level < lines.size() ? std::string_view{lines[level]} : std::string_view{};
                line += filled(text, widths[i], columns_[i].right, ink_of(i), style);
            }
            out += without_trailing_blanks(line);
            out += '\n';
        }
    };
    std::size_t heading_height = 0;
    for (const Column& column : columns_)
        heading_height = std::max(heading_height, column.heading.size());
    add(
        heading_height, [&](std::size_t i) -> const Lines& { return columns_[i].heading; },
        [](std::size_t) { return Ink::Dim; });
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::size_t height = 1;
        for (const Lines& lines : rows[r]) height = std::max(height, lines.size());
        add(
            height, [&](std::size_t i) -> const Lines& { return rows[r][i]; },
            [&](std::size_t i) { return rows_[r][i].ink; });
    }
    return out;
}

}  // namespace fencepost::reports
