#include "cli/man_page.h"

#include <fmt/format.h>

#include "cli/options.h"
#include "reports/layout.h"

namespace fencepost::cli {
namespace {

// When the prose of this file was last looked over; the rest comes with the table.
constexpr std::string_view kDate = "2026-11-30";

// Text as roff takes it literally: no hyphen turns into a dash, and no line into a request.
std::string literal(std::string_view text) {
    std::string out;
    if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\e";
                break;
            case '-':
                out += "\\-";
                break;
            case '\'':
                out += "\\(aq";
                break;
            default:
                out += c;
        }
    }
    return out;
}

// UTF-8 as roff has it: the ellipsis is the only such character of the table.
std::string in_ascii(std::string text) {
    constexpr std::string_view kEllipsis = "\u2026";
    for (std::size_t at = 0; (at = text.find(kEllipsis, at)) != std::string::npos;)
        text.replace(at, kEllipsis.size(), "...");
    return text;
}

// With a capital at the beginning and a full stop at the end; in short lines, since the text may be
// broken anywhere.
std::string sentence(std::string_view text) {
    std::string whole = in_ascii(std::string(text));
    if (!whole.empty() && whole.front() >= 'a' && whole.front() <= 'z')
        whole.front() = static_cast<char>(whole.front() - 'a' + 'A');
    if (!whole.ends_with('.')) whole += '.';
    constexpr std::size_t kWidth = 70;
    std::string out;
    for (const std::string& line : reports::wrapped(whole, kWidth)) out += literal(line) + "\n";
    return out;
}

std::string option_heading(const OptionSpec& option) {
    std::string out = fmt::format("\\fB\\-\\-{}\\fR", literal(option.name));
    if (!option.value.empty())
        out += fmt::format(" \\fI{}\\fR", literal(in_ascii(std::string(option.value))));
    return out;
}

void add_synopsis(std::string& out) {
    out += ".SH SYNOPSIS\n";
    bool first = true;
    for (const CommandSpec& command : all_commands()) {
        if (!first) out += ".br\n";
        first = false;
        out += fmt::format("\\fBfencepost {}\\fR", literal(command.name));
        if (!command.operand.empty()) {
            const std::string operand = fmt::format("\\fI{}\\fR", literal(command.operand));
            out += command.operand_required ? " " + operand : " [" + operand + "]";
        }
        out += command.options.empty() ? "\n" : " [\\fIoptions\\fR]\n";
    }
}

void add_commands(std::string& out) {
    out += ".SH COMMANDS\n";
    for (const CommandSpec& command : all_commands()) {
        out += fmt::format(".SS {}{}{}\n", literal(command.name),
                           command.operand.empty() ? "" : " ", literal(command.operand));
        out += sentence(command.summary);
        for (const OptionSpec& option : command.options)
            out += fmt::format(".TP\n{}\n{}", option_heading(option), sentence(option.help));
    }
}

constexpr std::string_view kExitStatus = R"(.SH "EXIT STATUS"
.TP
.B 0
Everything held.
.TP
.B 1
An invariant broke.
.TP
.B 2
The command or a file is wrong.
.TP
.B 3
Inconclusive: something was never exercised.
.TP
.B 4
The harness itself failed.
)";

constexpr std::string_view kRest = R"(.SH ENVIRONMENT
.TP
.B FENCEPOST_CORPUS
The folder of saved failures, where \fB\-\-corpus\fR names none.
.TP
.B NO_COLOR
When it is set and not empty, there is no colour on terminals.
.SH FILES
.TP
.I fencepost\-failures/
Where failures are written, in the current folder, unless \fB\-\-out\fR says
otherwise.
.SH EXAMPLES
The acceptance checklist with a handler of one's own:
.PP
.nf
.RS
fencepost accept \-\-handlers ./libinvoices.so \-\-handler invoices
.RE
.fi
.PP
A failure that was found, event by event:
.PP
.nf
.RS
fencepost replay fencepost\-failures/holder\-leaves\-lock\-only\-once\-0x3a.json \-\-trace
.RE
.fi
)";

}  // namespace

std::string man_page(std::string_view version) {
    std::string out =
        fmt::format(".TH FENCEPOST 1 {} \"fencepost {}\" \"User Commands\"\n", kDate, version);
    out +=
        ".SH NAME\n"
        "fencepost \\- takes clustered jobs through every failure of their cluster\n";
    add_synopsis(out);
    out +=
        ".SH DESCRIPTION\n"
        "Fencepost runs the claim, lease, fencing and checkpoint code of a clustered\n"
        "job in a deterministic simulation of its cluster, makes every failure\n"
        "happen, and judges whether each side effect landed exactly once.\n"
        "A run that fails becomes a small file that anyone can replay.\n";
    add_commands(out);
    out += kExitStatus;
    out += kRest;
    return out;
}

}  // namespace fencepost::cli
