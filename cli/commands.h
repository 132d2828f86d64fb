// The commands. Each returns an exit code; what is wrong with its arguments or files is thrown.
#pragma once

#include "cli/console.h"
#include "cli/options.h"

namespace fencepost::cli {

int accept_command(const Arguments& arguments, Console& console);
int mistakes_command(const Arguments& arguments, Console& console);
int run_command(const Arguments& arguments, Console& console);
int sweep_command(const Arguments& arguments, Console& console);
int merge_command(const Arguments& arguments, Console& console);
int search_command(const Arguments& arguments, Console& console);
int exhaust_command(const Arguments& arguments, Console& console);
int replay_command(const Arguments& arguments, Console& console);
int explain_command(const Arguments& arguments, Console& console);
int shrink_command(const Arguments& arguments, Console& console);
int new_command(const Arguments& arguments, Console& console);
int corpus_command(const Arguments& arguments, Console& console);
int check_command(const Arguments& arguments, Console& console);
int show_command(const Arguments& arguments, Console& console);
int list_command(const Arguments& arguments, Console& console);
int help_command(const Arguments& arguments, Console& console);
int version_command(const Arguments& arguments, Console& console);

}  // namespace fencepost::cli
