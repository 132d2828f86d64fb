// The state of a broker: queues that deliver at least once, with a visibility timeout, as SQS's
// standard queues do. No time, network or randomness of its own: the caller says what time it is.
//
// Whoever looks for a message comes upon those whose time is over: only then is that noted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/ports/broker.h"
#include "sim/time.h"

namespace fencepost::model::broker {

using jobs::broker::Message;

// A message as the broker keeps it. Copies of one message have numbers of their own.
struct Stored {
    std::uint32_t number = 0;
    std::string queue;
    std::string event_id;
    std::string body;
    std::int64_t receives = 0;
    bool hidden = false;
    sim::Time visible_at{};  // while it is hidden
    // A server of the queue will deliver it once more, whatever it is told meanwhile.
    bool owed = false;
};

enum class Change : std::uint8_t { Published, Delivered, Acknowledged, Expired };

class Broker {
public:
    using Observer = std::function<void(Change, const Stored&)>;

    // Sees every change after it was made, but an acknowledgement before the message is gone.
    void set_observer(Observer observer) { observer_ = std::move(observer); }
    void reset();

    void publish(std::string queue, std::string event_id, std::string body);
    std::optional<Message> receive(const std::string& queue, sim::Duration visibility,
                                   sim::Time now);
    bool acknowledge(std::string_view receipt);
    bool extend(std::string_view receipt, sim::Duration visibility, sim::Time now);

    // --- what a broker does of its own accord

    // Stores the message that was delivered last once more, or the first one when none was yet.
    // Whether there was one.
    bool duplicate();
    // The message that was delivered last can be received again at once, if it is still hidden; and
    // once more it will be, even if it is acknowledged before: of the servers that store a message
    // one may not have heard of that, as SQS says of its standard queues.
    bool reveal();
    // The next receive() that has a choice takes the newest message. `taken` is called when it
    // does.
    void reorder_next(std::function<void()> taken) { reorders_.push_back(std::move(taken)); }

    // Published and not acknowledged, in the order of publication.
    [[nodiscard]] const std::vector<Stored>& stored() const { return stored_; }

private:
    Stored* by_receipt(std::string_view receipt);
    static std::string receipt_of(const Stored& message);

    Observer observer_;
    std::vector<Stored> stored_;
    std::uint32_t published_ = 0;
    std::optional<Stored> delivered_last_;
    std::vector<std::function<void()>> reorders_;
};

}  // namespace fencepost::model::broker
