#include "cli/console.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace fencepost::cli {

std::string quoted_word(std::string_view word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,#";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos &&
        word.front() != '#')
        return std::string(word);
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Console console_of(std::string_view program, std::ostream& out, std::ostream& err) {
    Console console{.out = out,
                    .err = err,
                    .in = std::cin,
                    .out_is_terminal = &out == &std::cout && isatty(STDOUT_FILENO) == 1,
                    .err_is_terminal = &err == &std::cerr && isatty(STDERR_FILENO) == 1,
                    .program = {},
                    .style = {}};
    const char* const called_as = std::getenv("FENCEPOST_PROGRAM");
    console.program = called_as != nullptr && *called_as != '\0' ? called_as : program;
    if (console.program.empty()) console.program = "fencepost";
    const char* const no_color = std::getenv("NO_COLOR");
    console.style.color = console.out_is_terminal && (no_color == nullptr || *no_color == '\0');
    return console;
}

std::string command_line(const Console& console, std::initializer_list<std::string_view> words) {
    std::string line = quoted_word(console.program);
    for (const std::string_view word : words) line += " " + quoted_word(word);
    return line + console.own;
}

}  // namespace fencepost::cli
