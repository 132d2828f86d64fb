// Mistakes that the model makes on purpose, one at a time, so that a test can show that the
// comparison with a real server finds them. None of them is on unless a test asks for it.
#pragma once

#include <cstdint>

namespace fencepost::model {

enum class RedisFlaw : std::uint8_t {
    None,
    PxIgnored,             // SET … PX sets no deadline
    GoneAtTheDeadline,     // and not only after it
    KeepTtlIgnored,        // SET … KEEPTTL drops the deadline
    NxIgnored,             // SET … NX overwrites
    CountersWrap,          // INCR past the largest number
    TypesUnchecked,        // GET of a hash
    TimePassesInScripts,   // a millisecond from one redis.call to the next
    DelLeavesTheDeadline,  // to the next key of that name
    OwnersUncompared,      // renewal and release take any lease for their own
    FlushLeavesScripts,    // SCRIPT FLUSH
    DowntimeDoesNotCount,  // deadlines stand still while the server is down
    FailoverLosesNothing,  // the replica has what the primary acknowledged
};

}  // namespace fencepost::model
