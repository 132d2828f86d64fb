// Where a command prints, and whether somebody watches.
#pragma once

#include <initializer_list>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

#include "reports/layout.h"

namespace fencepost::cli {

struct Console {
    std::ostream& out;
    std::ostream& err;
    std::istream& in;
    bool out_is_terminal = false;
    bool err_is_terminal = false;

    // How this program was called, for commands that users are to copy.
    std::string program = "fencepost";

    // What every such command needs besides, to know one's own handlers and scenarios: "--handlers
    // ./libmyjobs.so"; already quoted, empty or with a space in front.
    std::string own;

    // Colour is for terminals, and not for those who set NO_COLOR (https://no-color.org).
    reports::TextStyle style;
};

// Input is standard input. Terminals are only looked for behind std::cout and std::cerr. The
// environment's FENCEPOST_PROGRAM names a script that was called in place of `program`.
Console console_of(std::string_view program, std::ostream& out, std::ostream& err);

// A word as a shell takes it.
std::string quoted_word(std::string_view word);
// A command of this program, quoted for a shell.
std::string command_line(const Console& console, std::initializer_list<std::string_view> words);

}  // namespace fencepost::cli
