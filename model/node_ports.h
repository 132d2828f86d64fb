// The ports of jobs/ for one incarnation of a simulated node.
//
// A call of a task whose process has ended does nothing: it throws FiberKilled, or inside a
// destructor that runs while the task is unwound returns an empty answer. Nothing of it reaches the
// world.
#pragma once

#include <memory>
#include <string>

#include "jobs/ports/ports.h"
#include "model/broker_endpoint.h"
#include "model/database_endpoint.h"
#include "model/gateway_endpoint.h"
#include "model/redis_endpoint.h"

namespace fencepost::model {

// What the ports of every node are connected to.
struct Surroundings {
    sim::Kernel& kernel;
    Network& network;
    DatabaseEndpoint& database;
    RedisEndpoint& redis;
    BrokerEndpoint* broker = nullptr;    // null: the world has none
    GatewayEndpoint* gateway = nullptr;  // null: the world has none
};

// Owns the adapters of one incarnation. Lives as long as the run: the dead may still hold
// references.
class NodePorts {
public:
    NodePorts(const Surroundings& surroundings, sim::Incarnation& incarnation);
    ~NodePorts();
    NodePorts(const NodePorts&) = delete;
    NodePorts& operator=(const NodePorts&) = delete;

    [[nodiscard]] jobs::Ports ports();

private:
    struct Adapters;
    std::unique_ptr<Adapters> adapters_;
};

}  // namespace fencepost::model
