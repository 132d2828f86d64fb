// The broker as a party of the network: its calls over connections, restarts that lose nothing, and
// what brokers do of their own accord; everything that happens to a message goes into the history.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/broker/broker.h"
#include "model/network.h"

namespace fencepost::model {

struct BrokerEndpointOptions {
    // What clients of this broker give a call before they give up.
    sim::Duration call_timeout = std::chrono::seconds{5};
};

class BrokerExchange : public Exchange {
public:
    enum class Operation : std::uint8_t { Publish, Receive, Acknowledge, Extend };

    void start(Operation what, jobs::broker::Message about, sim::Duration time = {}) {
        operation = what;
        message = std::move(about);
        visibility = time;
        received.reset();
        held = false;
    }
    Operation operation = Operation::Publish;
    jobs::broker::Message message;  // of a receive: its queue alone
    sim::Duration visibility{};
    std::optional<jobs::broker::Message> received;
    bool held = false;  // whether the receipt still stood for the message
};

class BrokerEndpoint : public Server {
public:
    BrokerEndpoint(sim::Kernel& kernel, Network& network);

    void reset(const BrokerEndpointOptions& options);
    [[nodiscard]] sim::PartyId party() const { return party_; }
    [[nodiscard]] const BrokerEndpointOptions& options() const { return options_; }
    BrokerExchange& exchange();

    // A message from outside of the simulated system.
    void publish(std::string queue, std::string event_id, std::string body);
    // One line for each message that is not acknowledged.
    [[nodiscard]] std::vector<std::string> open_work() const;
    [[nodiscard]] bool idle() const { return broker_.stored().empty(); }

    // Down for a while; messages and what is hidden stay as they are.
    void restart(sim::Duration down_for);

    // A fault of the broker family; `index` is its number in the plan, reported when it takes
    // effect. A fault that finds no message to strike waits for one.
    void strike(std::uint32_t index, sim::FaultKind kind);

    void serve(Exchange& exchange) override;
    void disconnected(Connection&, std::string_view) override {}

private:
    void perform(BrokerExchange& exchange);
    void record(broker::Change change, const broker::Stored& message);
    void took_effect(std::vector<std::uint32_t>& faults);

    sim::Kernel& kernel_;
    Network& network_;
    broker::Broker broker_;
    BrokerEndpointOptions options_;
    sim::PartyId party_ = 0;
    std::deque<BrokerExchange> exchanges_;
    std::size_t used_exchanges_ = 0;
    const BrokerExchange* running_ = nullptr;
    std::vector<std::uint32_t> duplicates_;  // faults that wait for a message
    std::vector<std::uint32_t> reveals_;
};

}  // namespace fencepost::model
