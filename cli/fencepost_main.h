// The program: parses the command line, runs the command, prints, and gives the exit code.
//
//   0  everything held
//   1  an invariant broke, or a handler crashed, hung or asked for too much memory
//   2  the command or a file is wrong: one sentence on `err`, nothing half-written
//   3  inconclusive: something was never exercised, or somebody interrupted
//   4  the harness itself failed
#pragma once

#include <ostream>
#include <span>

namespace fencepost::cli {

// `arguments` are those of main, with the program's name first.
int fencepost_main(std::span<const char* const> arguments, std::ostream& out, std::ostream& err);

}  // namespace fencepost::cli
