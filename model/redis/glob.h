// Redis's glob patterns: * ? [a-z] [^x] and a backslash before a character meant literally.
#pragma once

#include <string_view>

namespace fencepost::model::redis {

[[nodiscard]] bool matches_glob(std::string_view text, std::string_view pattern);

}  // namespace fencepost::model::redis
