// The outside payment service as a party of the network: its calls over connections, restarts that
// lose nothing; what it did for the first time goes into the history.
#pragma once

#include <deque>
#include <string>

#include "model/gateway/gateway.h"
#include "model/network.h"

namespace fencepost::model {

struct GatewayEndpointOptions {
    gateway::GatewayOptions gateway;
    // What clients of this service give a call before they give up.
    sim::Duration call_timeout = std::chrono::seconds{10};
};

class GatewayExchange : public Exchange {
public:
    enum class Operation : std::uint8_t { Submit, LookUp, Refund };

    void start(Operation what, jobs::gateway::Charge about) {
        operation = what;
        charge = std::move(about);
        standing = jobs::gateway::Standing::Unknown;
        id_taken = false;
    }
    Operation operation = Operation::Submit;
    jobs::gateway::Charge charge;  // of a look-up or refund: its request id alone
    jobs::gateway::Standing standing = jobs::gateway::Standing::Unknown;
    bool id_taken = false;
};

class GatewayEndpoint : public Server {
public:
    GatewayEndpoint(sim::Kernel& kernel, Network& network);

    void reset(const GatewayEndpointOptions& options);
    [[nodiscard]] sim::PartyId party() const { return party_; }
    [[nodiscard]] const GatewayEndpointOptions& options() const { return options_; }
    GatewayExchange& exchange();

    // Down for a while.
    void restart(sim::Duration down_for);

    void serve(Exchange& exchange) override;
    void disconnected(Connection&, std::string_view) override {}

private:
    void perform(GatewayExchange& exchange);
    void record(gateway::Change change, const jobs::gateway::Charge& charge);

    sim::Kernel& kernel_;
    Network& network_;
    gateway::Gateway gateway_;
    GatewayEndpointOptions options_;
    sim::PartyId party_ = 0;
    std::deque<GatewayExchange> exchanges_;
    std::size_t used_exchanges_ = 0;
    const GatewayExchange* running_ = nullptr;
};

}  // namespace fencepost::model
