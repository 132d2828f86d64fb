// Which version of the code this program is built from. It is written into failure files and
// printed by `fencepost version`; no run ever sees it.
#pragma once

#include <string_view>

namespace fencepost {

// "0.1.0+3f2a1b4c5d6e": the project's version and, where the program was built in a git checkout,
// the last commit that changed what a run depends on; ".dirty" at the end when something of that
// was not committed.
std::string_view code_version();

}  // namespace fencepost
