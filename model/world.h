// A simulated world: kernel, network, Redis, database and the ports of its nodes; it carries out
// the faults that strike them.
//
// One world serves any number of runs. A scenario adds nodes and says what runs on them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "model/broker_endpoint.h"
#include "model/database_endpoint.h"
#include "model/front_door.h"
#include "model/gateway_endpoint.h"
#include "model/network.h"
#include "model/node_ports.h"
#include "model/redis_endpoint.h"
#include "sim/kernel.h"

namespace fencepost::model {

struct WorldOptions {
    NetworkOptions network;
    DatabaseOptions database;
    RedisEndpointOptions redis;
    std::optional<BrokerEndpointOptions> broker;    // none: the world has no broker
    std::optional<GatewayEndpointOptions> gateway;  // none: nor an outside service
    FrontDoorOptions front_door;
};

class World : public sim::FaultStriker {
public:
    // Scheduler faults (FireTwice, FireLate) are the scheduler's own; it reports their effect.
    using SchedulerFault = std::function<void(std::uint32_t index, const sim::Fault&, sim::Node&)>;

    // What an operator does (Deploy, Cancel) is the scenario's to carry out; true when it has taken
    // effect at once. `node` is null where the act is at none; `index` only of a plan's fault.
    using OperatorAct =
        std::function<bool(std::optional<std::uint32_t> index, const sim::Fault&, sim::Node* node)>;

    World();
    // Ends the run first: what its tasks hold still talks to the network while they unwind.
    ~World() override { kernel_.end_run(); }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Starts a run: servers first, then the caller adds its nodes.
    void reset(std::uint64_t seed, sim::Time start, const DatabaseImage& image,
               const WorldOptions& options);
    void on_operator_act(OperatorAct act) { operator_act_ = std::move(act); }
    void on_scheduler_fault(SchedulerFault handler) { scheduler_fault_ = std::move(handler); }

    [[nodiscard]] sim::Kernel& kernel() { return kernel_; }
    [[nodiscard]] const sim::Kernel& kernel() const { return kernel_; }
    [[nodiscard]] Network& network() { return network_; }
    [[nodiscard]] DatabaseEndpoint& database() { return database_; }
    [[nodiscard]] RedisEndpoint& redis() { return redis_; }
    // Null where the world has none.
    [[nodiscard]] BrokerEndpoint* broker() { return has_broker_ ? &broker_ : nullptr; }
    [[nodiscard]] GatewayEndpoint* gateway() { return has_gateway_ ? &gateway_ : nullptr; }

    // Requests from outside: nobody sends any until a client is added.
    [[nodiscard]] FrontDoor& front_door() { return front_door_; }

    // The ports of a new incarnation, valid until the run ends.
    jobs::Ports ports_of(sim::Incarnation& incarnation);

    // Everything comes back: nodes, links, servers. Clocks stay as they are.
    void heal();

    // Does what an operator of the scenario does, outside of any plan: a node or operator fault.
    void act(const sim::Fault& fault);

    void strike(std::uint32_t index, const sim::Fault& fault, sim::Node* origin) override;

private:
    bool apply(std::uint32_t index, const sim::Fault& fault, sim::Node* origin);
    bool apply_to_node(const sim::Fault& fault, sim::Node* node);
    bool apply_to_server(std::uint32_t index, const sim::Fault& fault);
    bool apply_to_clock(const sim::Fault& fault);
    void partition(std::uint32_t index, const sim::Fault& fault);
    void cut_for(std::uint32_t index, sim::PartyId from, sim::PartyId to, sim::Duration lasting);
    [[nodiscard]] sim::PartyId party(std::string_view name);

    sim::Kernel kernel_;
    Network network_;
    DatabaseEndpoint database_;
    RedisEndpoint redis_;
    BrokerEndpoint broker_;
    GatewayEndpoint gateway_;
    FrontDoor front_door_;
    bool has_broker_ = false;
    bool has_gateway_ = false;
    std::deque<NodePorts> ports_;
    SchedulerFault scheduler_fault_;
    OperatorAct operator_act_;
};

}  // namespace fencepost::model
