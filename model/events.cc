#include "model/events.h"

#include <fmt/format.h>

#include <algorithm>

namespace fencepost::sim {

using model::Cell;
using model::Cells;

void Codec<Cells>::write(PayloadWriter& out, const Cells& cells) {
    out.scalar(static_cast<std::uint16_t>(cells.size()));
    for (const Cell& cell : cells) {
        out.scalar(static_cast<std::uint8_t>(cell.index()));
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
            out.scalar(*integer);
        } else if (const auto* real = std::get_if<double>(&cell)) {
            out.scalar(*real);
        } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
            Codec<std::string_view>::write(out, *text);
        }
    }
}

void Codec<Cells>::read(PayloadReader& in, Cells& cells) {
    cells.resize(in.scalar<std::uint16_t>());
    for (Cell& cell : cells) {
        switch (in.scalar<std::uint8_t>()) {
            case 0:
                cell = std::monostate{};
                break;
            case 1:
                cell = in.scalar<std::int64_t>();
                break;
            case 2:
                cell = in.scalar<double>();
                break;
            case 3: {
                std::string_view text;
                Codec<std::string_view>::read(in, text);
                cell = text;
                break;
            }
            default:
                require(false, "a cell of a type that no row has");
        }
    }
}

void Codec<Cells>::print(std::string& out, const Cells& cells) {
    out += '(';
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) out += ", ";
        if (const auto* integer = std::get_if<std::int64_t>(&cells[i])) {
            out += std::to_string(*integer);
        } else if (const auto* real = std::get_if<double>(&cells[i])) {
            out += fmt::format("{}", *real);
        } else if (const auto* text = std::get_if<std::string_view>(&cells[i])) {
            out += fmt::format("'{}'", *text);
        } else {
            out += "NULL";
        }
    }
    out += ')';
}

}  // namespace fencepost::sim

namespace fencepost::model {
namespace {

// Records of two event types with one kind could not be told apart.
constexpr bool kinds_are_unique() {
    for (std::size_t i = 0; i < kWorldPrinters.size(); ++i) {
        for (std::size_t j = i + 1; j < kWorldPrinters.size(); ++j) {
            if (kWorldPrinters[i].kind == kWorldPrinters[j].kind) return false;
        }
    }
    return true;
}
static_assert(kinds_are_unique());

const sim::EventPrinter* find_printer(sim::EventKind kind) {
    const auto in = [kind](const auto& printers) -> const sim::EventPrinter* {
        const auto found = std::ranges::find(printers, kind, &sim::EventPrinter::kind);
        return found == printers.end() ? nullptr : &*found;
    };
    const sim::EventPrinter* engine = in(sim::kEnginePrinters);
    return engine != nullptr ? engine : in(kWorldPrinters);
}

}  // namespace

std::string_view event_name(const sim::Record& record) {
    const sim::EventPrinter* printer = find_printer(record.kind());
    return printer == nullptr ? "unknown" : printer->name;
}

std::string event_text(const sim::Record& record) {
    const sim::EventPrinter* printer = find_printer(record.kind());
    return printer == nullptr ? std::string{} : printer->text(record.payload());
}

}  // namespace fencepost::model
