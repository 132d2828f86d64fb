// Whether this is a build with sanitizers, in which a run takes ten times as long.
#pragma once

namespace fencepost::scenarios {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline constexpr const char* kTooLong =
    "too long with sanitizers; the same code runs in random plans, which are not left out";

}  // namespace fencepost::scenarios
