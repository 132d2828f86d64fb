// What the program brings itself, as opposed to what somebody has made known.
#pragma once

#include <string_view>

namespace fencepost::scenarios {

// Whether the program brings the scenario of that name itself: nobody has put one.
bool is_built_in_scenario(std::string_view name);

}  // namespace fencepost::scenarios
