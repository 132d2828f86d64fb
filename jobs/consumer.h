// The consumer: takes messages from a queue and handles each event once, however often it comes.
//
//   receive      the message is hidden from others for the visibility timeout
//   inbox        the event is entered, or was handled before
//   handler      its effects, in the same transaction
//   commit
//   acknowledge  only now; lost or late, the message comes again and the inbox tells
//
// While the handler works, the timeout is extended in the background. Whatever ends an attempt (a
// lost connection, an unknown outcome of COMMIT, a deadlock) is answered the same way: from the
// inbox on again. A message that its handler itself refuses comes again a bounded number of times
// and is then a person's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "jobs/inbox.h"
#include "jobs/ports/ports.h"
#include "jobs/worker.h"

namespace fencepost::jobs {

struct ConsumerOptions {
    std::string queue;  // also the consumer's name in the inbox
    Duration visibility = std::chrono::seconds{30};
    Duration idle = std::chrono::seconds{1};  // between two looks into an empty queue
    Backoff backoff;
    int attempts = 5;  // at one delivery, while the database fails
    // Deliveries of a message that its handler refuses, before it is parked; and how long it rests
    // in between.
    std::int64_t deliveries = 3;
    Duration rest = std::chrono::seconds{2};
};

// What became of one delivery.
enum class Handled : std::uint8_t {
    Done,        // its effects are committed
    DoneBefore,  // the inbox knew the event: nothing was done again
    Refused,     // the handler cannot; it comes again
    Parked,      // the handler cannot, and a person looks at it
    Unfinished,  // not for now; it comes again
};

constexpr std::string_view name_of(Handled handled) {
    switch (handled) {
        case Handled::Done:
            return "done";
        case Handled::DoneBefore:
            return "done before";
        case Handled::Refused:
            return "refused";
        case Handled::Parked:
            return "parked";
        case Handled::Unfinished:
            return "unfinished";
    }
    return "?";
}

// The effects of one event, in the transaction of its inbox entry. What it throws takes all of it
// back; let the errors of the statements pass.
using MessageHandler = std::function<void(sql::Transaction&, const broker::Message&)>;

class Consumer {
public:
    Consumer(Ports ports, ConsumerOptions options, MessageHandler handler);

    // Starts taking messages, one at a time. The process has a broker.
    void start();
    // No new message is taken; returns when the one at work is done. One that came too late is
    // given back.
    void stop();

    // Handles one event, wherever it came from. Suspends until it is done or given up; throws
    // nothing of its own. Acknowledges nothing.
    Handled handle(const broker::Message& message);

private:
    void take_messages(StopSignal& stop);
    // Whether there was one.
    bool take_one(const StopSignal& stop);
    void deliver(const broker::Message& message);
    void keep_hidden(const broker::Message& message, StopSignal& stop);
    Handled attempt(const broker::Message& message);
    Handled park(sql::Session& session, const broker::Message& message, std::string_view error);

    Ports ports_;
    ConsumerOptions options_;
    MessageHandler handler_;
    std::unique_ptr<Task> task_;
};

}  // namespace fencepost::jobs
