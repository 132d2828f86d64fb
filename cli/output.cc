#include "cli/output.h"

#include <fmt/format.h>

#include "cli/command_error.h"
#include "cli/files.h"

namespace fencepost::cli {

void check_outputs(const Arguments& arguments, std::initializer_list<std::string_view> options) {
    std::string_view on_standard_output;
    for (const std::string_view option : options) {
        const auto file = arguments.text(option);
        if (!file) continue;
        if (*file != "-") {
            check_writable(*file);
        } else if (on_standard_output.empty()) {
            on_standard_output = option;
        } else {
            throw CommandError(
                fmt::format("--{} and --{} cannot both go to standard output; give "
                            "one of them a file",
                            on_standard_output, option));
        }
    }
}

void write_output(const std::string& file, Console& console, std::string_view text) {
    if (file == "-") {
        console.out << text;
    } else {
        write_file(file, text);
    }
}

void print_result(const Arguments& arguments, Console& console, std::string_view text,
                  std::string_view json) {
    const auto file = arguments.text("json");
    if (file) write_output(*file, console, json);
    if (!file || *file != "-") console.out << text;
}

}  // namespace fencepost::cli
