// Files that are there whole or not at all. Throws sim::PlanError with the path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fencepost::scenarios {

// A hash of this program's file, and of what belongs to it: what another build has counted need not
// be what this one would.
std::uint64_t hash_of_this_program();

// A plug-in or a scenario file, under its name, belongs to the program from now on, in place of
// what had that name before. The order of the names does not matter.
void belongs_to_this_program(const std::string& name, std::string_view bytes);

std::string read_whole_file(const std::string& path);

// A reader never sees half a file, and neither does who comes after a crash: it is written beside
// and put in place.
void write_whole_file(const std::string& path, std::string_view text);

}  // namespace fencepost::scenarios
