// What users bring: handlers in shared libraries, scenarios in files.
#pragma once

#include "cli/console.h"
#include "cli/options.h"

namespace fencepost::cli {

// Makes known what --handlers names, before the command looks at any name, and
// notes in the console what commands that are printed must repeat. Libraries stay loaded.
// CommandError when a library cannot be loaded, is no plug-in, was built for another version, or
// brings a handler whose name is taken.
void load_own(const Arguments& arguments, Console& console);

}  // namespace fencepost::cli
