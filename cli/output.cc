#include "cli/output.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "cli/command_error.h"
#include "cli/files.h"

namespace fencepost::cli {

namespace {

// An operand that is no name is the path of a file.
std::vector<std::string> files_read(const Arguments& arguments) {
    std::vector<std::string> files;
    for (const std::string& operand : arguments.operands()) {
        if (operand.ends_with(".json") || operand.find('/') != std::string::npos)
            files.push_back(operand);
    }
    if (const auto plan = arguments.text("plan")) files.push_back(*plan);
    return files;
}

}  // namespace

void check_outputs(const Arguments& arguments, std::initializer_list<std::string_view> options) {
    std::string_view on_standard_output;
    const std::vector<std::string> read = files_read(arguments);
    std::vector<std::pair<std::string_view, std::string>> written;
    for (const std::string_view option : options) {
        const auto file = arguments.text(option);
        if (!file) continue;
        if (*file != "-") {
            check_writable(*file);
            for (const auto& [other, path] : written) {
                if (is_same_place(*file, path)) {
                    throw CommandError(fmt::format(
                        "--{} and --{} cannot both go to {}; give one of them another file", other,
                        option, *file));
                }
            }
            for (const std::string& path : read) {
                if (option != "out" && is_same_place(*file, path)) {
                    throw CommandError(
                        fmt::format("--{}: {} is the file to read, and would be lost; name another",
                                    option, *file));
                }
            }
            written.emplace_back(option, *file);
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

void take_all(std::initializer_list<std::function<void()>> steps) {
    std::string wrong;
    for (const auto& step : steps) {
        try {
            step();
        } catch (const CommandError& error) {
            wrong += (wrong.empty() ? "" : "; ") + std::string{error.what()};
        }
    }
    if (!wrong.empty()) throw CommandError(wrong);
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
    take_all({[&] {
                  if (file) write_output(*file, console, json);
              },
              [&] {
                  if (!file || *file != "-") console.out << text;
              }});
}

}  // namespace fencepost::cli
