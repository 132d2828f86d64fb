#include "model/gateway_endpoint.h"

#include "model/events.h"

namespace fencepost::model {

using gateway::Change;
using jobs::gateway::Answer;
using jobs::gateway::Standing;

GatewayEndpoint::GatewayEndpoint(sim::Kernel& kernel, Network& network)
    : kernel_(kernel), network_(network) {
    gateway_.set_observer(
        [this](Change change, const jobs::gateway::Charge& charge) { record(change, charge); });
}

void GatewayEndpoint::reset(const GatewayEndpointOptions& options) {
    options_ = options;
    gateway_.reset(options.gateway);
    party_ = kernel_.add_party("gateway");
    network_.add_server(party_, *this);
    used_exchanges_ = 0;
    running_ = nullptr;
}

GatewayExchange& GatewayEndpoint::exchange() {
    if (used_exchanges_ == exchanges_.size()) exchanges_.emplace_back();
    return exchanges_[used_exchanges_++];
}

void GatewayEndpoint::serve(Exchange& base) {
    auto& exchange = static_cast<GatewayExchange&>(base);
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

void GatewayEndpoint::perform(GatewayExchange& exchange) {
    using Operation = GatewayExchange::Operation;
    switch (exchange.operation) {
        case Operation::Submit: {
            const auto outcome = gateway_.submit(exchange.charge);
            const auto* answer = std::get_if<Answer>(&outcome);
            exchange.id_taken = answer == nullptr;
            exchange.summary = answer != nullptr ? name_of(*answer) : "the request id is taken";
            if (answer != nullptr) {
                exchange.standing =
                    *answer == Answer::Accepted ? Standing::Accepted : Standing::Declined;
            }
            return;
        }
        case Operation::LookUp:
            exchange.standing = gateway_.look_up(exchange.charge.request_id);
            break;
        case Operation::Refund:
            exchange.standing = gateway_.refund(exchange.charge.request_id);
            break;
    }
    exchange.summary = name_of(exchange.standing);
}

void GatewayEndpoint::restart(sim::Duration down_for) {
    network_.take_down(party_, "gateway restart");
    kernel_.schedule(kernel_.now() + down_for, [this] { network_.bring_up(party_); });
}

void GatewayEndpoint::record(Change change, const jobs::gateway::Charge& charge) {
    const auto append = [&](const auto& event) {
        kernel_.record_at(party_, running_->call().record, event, running_->call().task->id);
    };
    switch (change) {
        case Change::Applied:
            append(GatewayApplied{charge.request_id, charge.reference, charge.amount});
            break;
        case Change::Declined:
            append(GatewayDeclined{charge.request_id, charge.reference, charge.amount});
            break;
        case Change::Refunded:
            append(GatewayRefunded{charge.request_id, charge.reference, charge.amount});
            break;
    }
}

}  // namespace fencepost::model
