// What happened to a key, and by whom: the model's contribution to the history.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

namespace fencepost::model {

// Which of the processes that a client may take for "the Redis" was meant.
enum class RedisInstance : std::uint8_t { Primary, FormerPrimary, Replica };

// The change came from no client: an eviction, a restart, a failover.
inline constexpr std::uint32_t kNoClient = std::numeric_limits<std::uint32_t>::max();

// One change of one key, or of one field of a hash. The views live as long as the callback.
struct KeyChange {
    enum class Kind : std::uint8_t {
        Set,        // a string or a field was written, whether or not its value differs from before
        ExpirySet,  // only the deadline changed, or went away (PERSIST)
        Deleted,    // by a command, also EXPIRE with a deadline that is past
        Expired,    // its deadline was found to have passed; it had been gone since
        Evicted,    // for want of memory
        Lost,  // a restart or failover went back to an earlier state, `after`; may bring keys back
    };
    Kind kind = Kind::Set;
    RedisInstance instance = RedisInstance::Primary;
    std::uint32_t client = kNoClient;  // for Expired: who came upon it
    std::string_view key{};
    std::optional<std::string_view> field{};   // set when a field of a hash changed
    std::optional<std::string_view> before{};  // of the string or field; of a whole hash, nothing
    std::optional<std::string_view> after{};
    std::optional<std::int64_t> expiry_before_ms{};  // absolute, on Redis's wall clock
    std::optional<std::int64_t> expiry_after_ms{};
};

using KeyObserver = std::function<void(const KeyChange&)>;

}  // namespace fencepost::model
