// Text as it stands in XML and HTML, between tags and in the values of attributes.
#pragma once

#include <string>
#include <string_view>

namespace fencepost::reports {

// Control characters become `instead`, but for those in `kept`.
std::string markup(std::string_view text, char instead, std::string_view kept = {});

// For HTML and SVG; control characters become blanks.
inline std::string html(std::string_view text) {
    return markup(text, ' ');
}

}  // namespace fencepost::reports
