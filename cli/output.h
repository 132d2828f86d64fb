// Where results go: text to standard output, JSON to where --json says.
#pragma once

#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/options.h"

namespace fencepost::cli {

// Finds out before any work whether the files that the options name can be written, and that at
// most one of them is standard output.
void check_outputs(const Arguments& arguments, std::initializer_list<std::string_view> options);

// Writes to the file of an option, or to standard output for "-".
void write_output(const std::string& file, Console& console, std::string_view text);

// The text on standard output, unless the JSON goes there; the JSON to where --json says.
void print_result(const Arguments& arguments, Console& console, std::string_view text,
                  std::string_view json);

}  // namespace fencepost::cli
