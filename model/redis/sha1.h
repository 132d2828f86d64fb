// SHA-1 (FIPS 180-4) in lower-case hexadecimal: how Redis names scripts, and `redis.sha1hex`.
#pragma once

#include <string>
#include <string_view>

namespace fencepost::model::redis {

[[nodiscard]] std::string sha1_hex(std::string_view data);

}  // namespace fencepost::model::redis
