#include "model/broker_endpoint.h"

#include <fmt/format.h>

#include <utility>

#include "model/events.h"

namespace fencepost::model {

using broker::Change;
using broker::Stored;

BrokerEndpoint::BrokerEndpoint(sim::Kernel& kernel, Network& network)
    : kernel_(kernel), network_(network) {
    broker_.set_observer([this](Change change, const Stored& message) { record(change, message); });
}

void BrokerEndpoint::reset(const BrokerEndpointOptions& options) {
    options_ = options;
    broker_.reset();
    party_ = kernel_.add_party("broker");
    network_.add_server(party_, *this);
    used_exchanges_ = 0;
    running_ = nullptr;
    duplicates_.clear();
    reveals_.clear();
}

BrokerExchange& BrokerEndpoint::exchange() {
    if (used_exchanges_ == exchanges_.size()) exchanges_.emplace_back();
    return exchanges_[used_exchanges_++];
}

void BrokerEndpoint::publish(std::string queue, std::string event_id, std::string body) {
    broker_.publish(std::move(queue), std::move(event_id), std::move(body));
    if (!duplicates_.empty() && broker_.duplicate()) took_effect(duplicates_);
}

std::vector<std::string> BrokerEndpoint::open_work() const {
    std::vector<std::string> open;
    for (const Stored& message : broker_.stored()) {
        open.push_back(fmt::format("message {} ({}) is in the queue, delivered {} times",
                                   message.number, message.event_id, message.receives));
    }
    return open;
}

void BrokerEndpoint::serve(Exchange& base) {
    auto& exchange = static_cast<BrokerExchange&>(base);
    running_ = &exchange;
    perform(exchange);
    if (exchange.call().asked.duplicate) {
        // The client library has sent it again; the caller gets the second answer.
        kernel_.call_faults_took_effect(exchange.call(), sim::Phase::Sent);
        perform(exchange);
    }
    running_ = nullptr;
    network_.answer(exchange);
}

void BrokerEndpoint::perform(BrokerExchange& exchange) {
    using Operation = BrokerExchange::Operation;
    const jobs::broker::Message& message = exchange.message;
    switch (exchange.operation) {
        case Operation::Publish:
            publish(message.queue, message.event_id, message.body);
            exchange.summary = "stored";
            return;
        case Operation::Receive:
            exchange.received = broker_.receive(message.queue, exchange.visibility, kernel_.now());
            exchange.summary = exchange.received
                                   ? fmt::format("{}, delivery {}", exchange.received->event_id,
                                                 exchange.received->receives)
                                   : "no message";
            if (exchange.received && !reveals_.empty() && broker_.reveal()) took_effect(reveals_);
            return;
        case Operation::Acknowledge:
            exchange.held = broker_.acknowledge(message.receipt);
            break;
        case Operation::Extend:
            exchange.held = broker_.extend(message.receipt, exchange.visibility, kernel_.now());
            break;
    }
    exchange.summary = exchange.held ? "done" : "the receipt is void";
}

void BrokerEndpoint::restart(sim::Duration down_for) {
    network_.take_down(party_, "broker restart");
    kernel_.schedule(kernel_.now() + down_for, [this] { network_.bring_up(party_); });
}

void BrokerEndpoint::strike(std::uint32_t index, sim::FaultKind kind) {
    switch (kind) {
        case sim::FaultKind::DuplicateMessage:
            duplicates_.push_back(index);
            if (broker_.duplicate()) took_effect(duplicates_);
            break;
        case sim::FaultKind::EarlyRedelivery:
            reveals_.push_back(index);
            if (broker_.reveal()) took_effect(reveals_);
            break;
        case sim::FaultKind::ReorderMessages:
            broker_.reorder_next([this, index] { kernel_.fault_took_effect(index, "broker"); });
            break;
        default:
            sim::require(false, "a fault of the broker family");
    }
}

// The last to come is the one that struck now, or the only one that waited.
void BrokerEndpoint::took_effect(std::vector<std::uint32_t>& faults) {
    kernel_.fault_took_effect(faults.back(), "broker");
    faults.pop_back();
}

void BrokerEndpoint::record(Change change, const Stored& message) {
    const sim::RecordId cause = running_ != nullptr ? running_->call().record : sim::kNoRecord;
    const sim::TaskId task = running_ != nullptr ? running_->call().task->id : sim::kNoTask;
    const auto append = [&](const auto& event) { kernel_.record_at(party_, cause, event, task); };
    switch (change) {
        case Change::Published:
            append(MessagePublished{message.queue, message.number, message.event_id});
            break;
        case Change::Delivered:
            append(MessageDelivered{message.number, message.event_id,
                                    static_cast<std::uint32_t>(message.receives),
                                    message.visible_at});
            break;
        case Change::Acknowledged:
            append(MessageAcknowledged{message.number, message.event_id,
                                       !message.hidden || message.visible_at <= kernel_.now()});
            break;
        case Change::Expired:
            // Whoever comes upon it did not make it expire.
            kernel_.record_at(party_, sim::kNoRecord,
                              MessageExpired{message.number, message.event_id});
            break;
    }
}

}  // namespace fencepost::model
