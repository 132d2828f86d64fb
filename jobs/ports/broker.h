// The broker port: queues that deliver at least once and hide what they have delivered for a while,
// as SQS's standard queues do.
//
// A received message is hidden from others for its visibility timeout. Acknowledged within it, the
// message is gone; otherwise it is delivered again, to anybody, under another receipt. A queue may
// also deliver a message twice for reasons of its own, and need not keep the order of publication.
// Every call may suspend, and throws ConnectionLost: Effect::None when it was never sent,
// Effect::Unknown when no answer came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "jobs/ports/errors.h"
#include "jobs/ports/time.h"

namespace fencepost::jobs::broker {

// One delivery of a message.
struct Message {
    std::string queue;
    std::string event_id;  // the publisher's; the same on every copy and every delivery
    std::string body;
    std::string receipt;        // of this delivery alone
    std::int64_t receives = 1;  // how often the message was delivered, this time included
};

class Client {
public:
    virtual ~Client() = default;

    // Stores a message. A repeat after an unknown outcome may store it a second time, under the
    // same event id: that is the consumers' to tell.
    virtual void publish(const std::string& queue, const std::string& event_id,
                         const std::string& body) = 0;

    // The next message that nobody else is working on, hidden for `visibility` from now on; nothing
    // when there is none. When the answer is lost, the message stays hidden until then.
    [[nodiscard]] virtual std::optional<Message> receive(const std::string& queue,
                                                         Duration visibility) = 0;

    // Ends the message. False when the receipt no longer stands for it: it was delivered again
    // since, or is gone.
    virtual bool acknowledge(const Message& message) = 0;

    // Hides the message for `visibility` from now on, not from where its time would have ended;
    // zero gives it back at once. False when it is no longer hidden under that receipt.
    virtual bool extend(const Message& message, Duration visibility) = 0;
};

}  // namespace fencepost::jobs::broker
