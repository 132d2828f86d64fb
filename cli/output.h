// Where results go: text to standard output, JSON to where --json says.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/options.h"

namespace fencepost::cli {

// Finds out before any work whether the files that the options name can be written, that no two of
// them are the same or standard output, and that none is a file that the command reads. --out may
// be: a failure is shrunk in its place.
void check_outputs(const Arguments& arguments, std::initializer_list<std::string_view> options);

// Takes every step, also after one that has thrown a CommandError, so that what took long to find
// out is told wherever it can be. Throws what went wrong afterwards.
void take_all(std::initializer_list<std::function<void()>> steps);

// Writes to the file of an option, or to standard output for "-".
void write_output(const std::string& file, Console& console, std::string_view text);

// The text on standard output, unless the JSON goes there; the JSON to where --json says. Throws
// when the JSON cannot be written, after the text.
void print_result(const Arguments& arguments, Console& console, std::string_view text,
                  std::string_view json);

}  // namespace fencepost::cli
