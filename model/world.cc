#include "model/world.h"

#include "model/events.h"

namespace fencepost::model {

using sim::FaultKind;

World::World()
    : network_(kernel_),
      database_(kernel_, network_),
      redis_(kernel_, network_),
      broker_(kernel_, network_),
      gateway_(kernel_, network_),
      front_door_(kernel_, network_) {}

void World::reset(std::uint64_t seed, sim::Time start, const DatabaseImage& image,
                  const WorldOptions& options) {
    kernel_.reset(seed, start);
    ports_.clear();
    scheduler_fault_ = nullptr;
    operator_act_ = nullptr;
    network_.reset(options.network);
    database_.reset(image, options.database);
    redis_.reset(options.redis);
    front_door_.reset(options.front_door);
    has_broker_ = options.broker.has_value();
    has_gateway_ = options.gateway.has_value();
    if (has_broker_) broker_.reset(*options.broker);
    if (has_gateway_) gateway_.reset(*options.gateway);
}

jobs::Ports World::ports_of(sim::Incarnation& incarnation) {
    const Surroundings surroundings{kernel_, network_, database_, redis_, broker(), gateway()};
    return ports_.emplace_back(surroundings, incarnation).ports();
}

void World::heal() {
    kernel_.heal_nodes();
    network_.mend_everything();
    network_.bring_up(database_.party());
    redis_.come_up();
    if (has_broker_) network_.bring_up(broker_.party());
    if (has_gateway_) network_.bring_up(gateway_.party());
}

void World::strike(std::uint32_t index, const sim::Fault& fault, sim::Node* origin) {
    if (apply(index, fault, origin)) kernel_.fault_took_effect(index, fault.party);
}

// True when it has taken effect at once; partitions take effect with the first message that they
// hold, and the faults of the scheduler and the broker are reported by these.
bool World::apply(std::uint32_t index, const sim::Fault& fault, sim::Node* origin) {
    sim::Node* node = fault.party.empty() ? origin : kernel_.find_node(fault.party);
    switch (sim::info_of(fault.kind).family) {
        case sim::FaultFamily::Network:
            partition(index, fault);
            return false;
        case sim::FaultFamily::Server:
            return apply_to_server(index, fault);
        case sim::FaultFamily::Clock:
            return apply_to_clock(fault);
        case sim::FaultFamily::Scheduler:
            if (node != nullptr && scheduler_fault_) scheduler_fault_(index, fault, *node);
            return false;
        case sim::FaultFamily::Broker:
            if (has_broker_) broker_.strike(index, fault.kind);
            return false;
        case sim::FaultFamily::Call:
            return false;
        case sim::FaultFamily::Operator:
            return operator_act_ && operator_act_(index, fault, node);
        case sim::FaultFamily::Node:
            break;
    }
    return apply_to_node(fault, node);
}

void World::act(const sim::Fault& fault) {
    kernel_.record_at(sim::kWorld, sim::kNoRecord, OperatorActed{sim::describe(fault)});
    sim::Node* node = kernel_.find_node(fault.party);
    if (sim::info_of(fault.kind).family == sim::FaultFamily::Operator) {
        if (operator_act_) operator_act_(std::nullopt, fault, node);
    } else {
        apply_to_node(fault, node);
    }
}

bool World::apply_to_node(const sim::Fault& fault, sim::Node* node) {
    sim::require(node != nullptr, "a node fault names a node of the scenario");
    switch (fault.kind) {
        case FaultKind::Crash:
            return kernel_.crash(*node, fault.restart_after);
        case FaultKind::Stop:
            return kernel_.stop_gracefully(*node, *fault.grace, fault.restart_after);
        case FaultKind::Pause:
            return kernel_.pause(*node, *fault.lasting);
        case FaultKind::Slow:
            return kernel_.slow(*node, *fault.by, *fault.lasting);
        default:
            return false;
    }
}

bool World::apply_to_server(std::uint32_t index, const sim::Fault& fault) {
    const sim::PartyId server = party(fault.party);
    const bool is_redis = server == redis_.party();
    switch (fault.kind) {
        case FaultKind::Restart:
            if (!network_.is_up(server)) return false;
            if (is_redis) {
                redis_.restart(*fault.lasting, fault.keep);
            } else if (has_broker_ && server == broker_.party()) {
                broker_.restart(*fault.lasting);
            } else if (has_gateway_ && server == gateway_.party()) {
                gateway_.restart(*fault.lasting);
            } else {
                database_.restart(*fault.lasting);
            }
            return true;
        case FaultKind::Failover:
            if (!is_redis || !network_.is_up(server)) return false;
            redis_.fail_over(fault.lasting);
            return true;
        case FaultKind::Evict:
            return is_redis && network_.is_up(server) && redis_.evict(fault.key);
        case FaultKind::Unreachable:
            for (const sim::Node& node : kernel_.nodes()) {
                cut_for(index, node.party(), server, *fault.lasting);
                cut_for(index, server, node.party(), *fault.lasting);
            }
            return false;
        default:
            return false;
    }
}

bool World::apply_to_clock(const sim::Fault& fault) {
    sim::Node* node = kernel_.find_node(fault.party);
    if (fault.kind == FaultKind::ClockDrift) {
        if (node == nullptr) return false;
        node->clock.set_drift(kernel_.now(), *fault.ppm);
        return true;
    }
    const sim::PartyId whose = party(fault.party);
    kernel_.record_at(whose, sim::kNoRecord, sim::ClockJumped{*fault.by});
    if (node != nullptr) {
        node->clock.jump(*fault.by);
    } else if (whose == redis_.party()) {
        redis_.jump_clock(*fault.by);
    } else {
        database_.jump_clock(*fault.by);
    }
    return true;
}

void World::partition(std::uint32_t index, const sim::Fault& fault) {
    const sim::PartyId from = party(fault.from);
    const sim::PartyId to = party(fault.to);
    cut_for(index, from, to, *fault.lasting);
    if (!fault.one_way) cut_for(index, to, from, *fault.lasting);
}

void World::cut_for(std::uint32_t index, sim::PartyId from, sim::PartyId to,
                    sim::Duration lasting) {
    network_.cut(from, to, index);
    kernel_.schedule(kernel_.now() + lasting, [this, from, to] { network_.mend(from, to); });
}

sim::PartyId World::party(std::string_view name) {
    if (const sim::Node* node = kernel_.find_node(name)) return node->party();
    if (name == "redis") return redis_.party();
    if (has_broker_ && name == "broker") return broker_.party();
    if (has_gateway_ && name == "gateway") return gateway_.party();
    sim::require(name == "database", "a fault names a node or server of the scenario");
    return database_.party();
}

}  // namespace fencepost::model
