#include "model/outside_ports.h"

#include <fmt/format.h>

#include "model/unanswered.h"

namespace fencepost::model {

using jobs::ConnectionLost;
using jobs::broker::Message;
using jobs::gateway::Answer;
using jobs::gateway::Charge;
using jobs::gateway::Standing;

// --- broker

void SimBroker::publish(const std::string& queue, const std::string& event_id,
                        const std::string& body) {
    if (kernel_.dead_call()) return;
    BrokerExchange& exchange = endpoint_.exchange();
    exchange.start(BrokerExchange::Operation::Publish,
                   {.queue = queue, .event_id = event_id, .body = body, .receipt = {}});
    perform(exchange, "broker.publish", event_id);
}

std::optional<Message> SimBroker::receive(const std::string& queue, jobs::Duration visibility) {
    if (kernel_.dead_call()) return std::nullopt;
    BrokerExchange& exchange = endpoint_.exchange();
    exchange.start(BrokerExchange::Operation::Receive,
                   {.queue = queue, .event_id = {}, .body = {}, .receipt = {}}, visibility);
    perform(exchange, "broker.receive", queue);
    return std::move(exchange.received);
}

bool SimBroker::acknowledge(const Message& message) {
    if (kernel_.dead_call()) return false;
    BrokerExchange& exchange = endpoint_.exchange();
    exchange.start(BrokerExchange::Operation::Acknowledge, message);
    perform(exchange, "broker.acknowledge",
            fmt::format("{} by receipt {}", message.event_id, message.receipt));
    return exchange.held;
}

bool SimBroker::extend(const Message& message, jobs::Duration visibility) {
    if (kernel_.dead_call()) return false;
    BrokerExchange& exchange = endpoint_.exchange();
    exchange.start(BrokerExchange::Operation::Extend, message, visibility);
    perform(exchange, "broker.extend",
            fmt::format("{} by receipt {} for {}", message.event_id, message.receipt,
                        sim::to_text(visibility)));
    return exchange.held;
}

void SimBroker::perform(BrokerExchange& exchange, std::string_view operation,
                        std::string_view detail) {
    if (connection_ == nullptr || !connection_->usable()) {
        connection_ = &network_.open(endpoint_.party());
    }
    network_.perform(exchange, *connection_, operation, detail, endpoint_.options().call_timeout);
    if (exchange.answered()) return;
    throw ConnectionLost(fmt::format("broker: {}", why(exchange)), effect_of(exchange));
}

// --- gateway

Answer SimGateway::submit(const Charge& charge) {
    if (kernel_.dead_call()) return Answer::Declined;
    GatewayExchange& exchange = endpoint_.exchange();
    exchange.start(GatewayExchange::Operation::Submit, charge);
    perform(exchange, "gateway.submit",
            fmt::format("{} for {} under {}", charge.amount, charge.reference, charge.request_id));
    if (exchange.id_taken) throw jobs::gateway::RequestIdTaken(charge.request_id);
    return exchange.standing == Standing::Declined ? Answer::Declined : Answer::Accepted;
}

Standing SimGateway::look_up(const std::string& request_id) {
    if (kernel_.dead_call()) return Standing::Unknown;
    GatewayExchange& exchange = endpoint_.exchange();
    exchange.start(GatewayExchange::Operation::LookUp, {.request_id = request_id, .reference = {}});
    perform(exchange, "gateway.look-up", request_id);
    return exchange.standing;
}

Standing SimGateway::refund(const std::string& request_id) {
    if (kernel_.dead_call()) return Standing::Unknown;
    GatewayExchange& exchange = endpoint_.exchange();
    exchange.start(GatewayExchange::Operation::Refund, {.request_id = request_id, .reference = {}});
    perform(exchange, "gateway.refund", request_id);
    return exchange.standing;
}

void SimGateway::perform(GatewayExchange& exchange, std::string_view operation,
                         std::string_view detail) {
    if (connection_ == nullptr || !connection_->usable()) {
        connection_ = &network_.open(endpoint_.party());
    }
    network_.perform(exchange, *connection_, operation, detail, endpoint_.options().call_timeout);
    if (exchange.answered()) return;
    throw ConnectionLost(fmt::format("gateway: {}", why(exchange)), effect_of(exchange));
}

}  // namespace fencepost::model
