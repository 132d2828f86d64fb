// The manual page fencepost(1), made from the table of commands as the help is: it names every
// command and option that there is, and no other.
#pragma once

#include <string>
#include <string_view>

namespace fencepost::cli {

// In the macros of man(7). `version` is that of the project.
std::string man_page(std::string_view version);

}  // namespace fencepost::cli
