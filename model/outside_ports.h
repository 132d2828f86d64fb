// The ports of one incarnation to what is not its own cluster's: the broker and the outside
// service. Each keeps one connection and opens another after a call that was not answered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobs/ports/broker.h"
#include "jobs/ports/gateway.h"
#include "model/broker_endpoint.h"
#include "model/gateway_endpoint.h"

namespace fencepost::model {

class SimBroker : public jobs::broker::Client {
public:
    SimBroker(sim::Kernel& kernel, Network& network, BrokerEndpoint& endpoint)
        : kernel_(kernel), network_(network), endpoint_(endpoint) {}

    void publish(const std::string& queue, const std::string& event_id,
                 const std::string& body) override;
    std::optional<jobs::broker::Message> receive(const std::string& queue,
                                                 jobs::Duration visibility) override;
    bool acknowledge(const jobs::broker::Message& message) override;
    bool extend(const jobs::broker::Message& message, jobs::Duration visibility) override;

private:
    // Throws ConnectionLost unless it was answered.
    void perform(BrokerExchange& exchange, std::string_view operation, std::string_view detail);

    sim::Kernel& kernel_;
    Network& network_;
    BrokerEndpoint& endpoint_;
    Connection* connection_ = nullptr;
};

class SimGateway : public jobs::gateway::Client {
public:
    SimGateway(sim::Kernel& kernel, Network& network, GatewayEndpoint& endpoint)
        : kernel_(kernel), network_(network), endpoint_(endpoint) {}

    jobs::gateway::Answer submit(const jobs::gateway::Charge& charge) override;
    jobs::gateway::Standing look_up(const std::string& request_id) override;
    jobs::gateway::Standing refund(const std::string& request_id) override;

private:
    void perform(GatewayExchange& exchange, std::string_view operation, std::string_view detail);

    sim::Kernel& kernel_;
    Network& network_;
    GatewayEndpoint& endpoint_;
    Connection* connection_ = nullptr;
};

}  // namespace fencepost::model
