// The inbox: which events a consumer has handled, so that a message that comes twice has its effect
// once.
//
// The entry is made first, in the transaction of the effect: both are committed or neither is. A
// second handling waits at the unique key for the first one's transaction, and finds either its
// entry or nothing of it. The event id is the publisher's; a number that the consumer makes up
// itself tells nothing apart.
//
// What a handler refuses again and again is parked: it has its entry, and a row that a person looks
// at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jobs/ports/broker.h"
#include "jobs/transaction.h"

namespace fencepost::jobs {

// The schema of the inbox and of the parked messages, for the installation.
std::string_view inbox_schema();

namespace inbox {

// Within the effect's transaction, before the effect: false when the event was handled before, and
// then nothing more is to be done. Throws ConnectionLost or sql::ServerError.
[[nodiscard]] bool enter(sql::Transaction& transaction, std::string_view consumer,
                         std::string_view event_id);

// Keeps the message for a person, with why it was refused. After enter(), in its transaction.
void park(sql::Transaction& transaction, std::string_view consumer, const broker::Message& message,
          std::string_view error);

}  // namespace inbox
}  // namespace fencepost::jobs
