// What users bring: handlers in shared libraries, scenarios in files.
#pragma once

#include "cli/console.h"
#include "cli/options.h"

namespace fencepost::cli {

// Makes known what --handlers and --scenarios name, before the command looks at any name, and
// notes in the console what commands that are printed must repeat. Libraries stay loaded. Where the
// command is about a scenario, its operand may be the path of a file, with a '/' in it: the
// scenario's name takes its place.
// CommandError when a library cannot be loaded, is no plug-in, was built for another version, or
// brings a handler whose name is taken; and when a file is no sound scenario.
void load_own(Arguments& arguments, Console& console);

}  // namespace fencepost::cli
