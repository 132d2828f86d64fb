#include "model/broker/broker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fencepost::model::broker {

void Broker::reset() {
    stored_.clear();
    published_ = 0;
    delivered_last_.reset();
    reorders_.clear();
}

// A new receipt for every delivery: an older one no longer stands for the message.
std::string Broker::receipt_of(const Stored& message) {
    return fmt::format("{}.{}", message.number, message.receives);
}

Stored* Broker::by_receipt(std::string_view receipt) {
    const auto found = std::ranges::find_if(stored_, [receipt](const Stored& message) {
        return message.receives > 0 && receipt_of(message) == receipt;
    });
    return found == stored_.end() ? nullptr : &*found;
}

void Broker::publish(std::string queue, std::string event_id, std::string body) {
    stored_.push_back({.number = ++published_,
                       .queue = std::move(queue),
                       .event_id = std::move(event_id),
                       .body = std::move(body)});
    observer_(Change::Published, stored_.back());
}

std::optional<Message> Broker::receive(const std::string& queue, sim::Duration visibility,
                                       sim::Time now) {
    std::vector<Stored*> visible;
    for (Stored& message : stored_) {
        if (message.queue != queue) continue;
        if (message.hidden && message.visible_at <= now) {
            message.hidden = false;
            observer_(Change::Expired, message);
        }
        if (!message.hidden) visible.push_back(&message);
    }
    if (visible.empty()) return std::nullopt;
    Stored* next = visible.front();
    if (visible.size() > 1 && !reorders_.empty()) {
        next = visible.back();
        const auto taken = std::move(reorders_.front());
        reorders_.erase(reorders_.begin());
        taken();
    }
    ++next->receives;
    next->hidden = true;
    next->owed = false;
    next->visible_at = sim::later(now, visibility);
    delivered_last_ = *next;
    observer_(Change::Delivered, *next);
    return Message{.queue = next->queue,
                   .event_id = next->event_id,
                   .body = next->body,
                   .receipt = receipt_of(*next),
                   .receives = next->receives};
}

bool Broker::acknowledge(std::string_view receipt) {
    Stored* message = by_receipt(receipt);
    if (message == nullptr) return false;
    observer_(Change::Acknowledged, *message);
    if (message->owed) return true;
    stored_.erase(stored_.begin() + (message - stored_.data()));
    return true;
}

bool Broker::extend(std::string_view receipt, sim::Duration visibility, sim::Time now) {
    Stored* message = by_receipt(receipt);
    if (message == nullptr || !message->hidden || message->visible_at <= now) return false;
    message->visible_at = sim::later(now, visibility);
    return true;
}

bool Broker::duplicate() {
    if (!delivered_last_ && stored_.empty()) return false;
    const Stored copied = delivered_last_ ? *delivered_last_ : stored_.front();
    publish(copied.queue, copied.event_id, copied.body);
    return true;
}

bool Broker::reveal() {
    if (!delivered_last_) return false;
    const auto found = std::ranges::find(stored_, delivered_last_->number, &Stored::number);
    if (found == stored_.end() || !found->hidden) return false;
    found->hidden = false;
    found->owed = true;
    observer_(Change::Expired, *found);
    return true;
}

}  // namespace fencepost::model::broker
