// What is fuzzed: the readers of files that people write. Each takes any bytes: it refuses them
// with the error that its header promises, or what it reads is written down and read back equal.
// Anything else ends the process.
#pragma once

#include <string_view>

namespace fencepost::fuzz {

void read_any_scenario(std::string_view bytes);
void read_any_plan(std::string_view bytes);
void read_any_failure(std::string_view bytes);

}  // namespace fencepost::fuzz
