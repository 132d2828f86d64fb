// JSON for people to read and edit: short values on one line, sections with a comment.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/files/located_json.h"

namespace fencepost::scenarios {

// Of the outermost object: the comment stands before `first`, or the first key after it that is
// there.
struct Section {
    std::string_view first;
    std::string_view comment;
};

// Ends with a newline. Text that is no UTF-8 is replaced where it is not.
std::string annotated(const Json& object, std::span<const Section> sections);

}  // namespace fencepost::scenarios
