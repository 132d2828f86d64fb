// The files that `fencepost new` writes, from templates/: @NAME@ and its like are still to be
// replaced.
#pragma once

#include <string_view>
#include <vector>

namespace fencepost::cli {

struct Template {
    std::string_view path;  // "handler.cc", "mistakes/look-first.cc"
    std::string_view text;
};

const std::vector<Template>& all_templates();

}  // namespace fencepost::cli
