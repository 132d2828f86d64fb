#include "model/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/events.h"

namespace fencepost::model {
namespace {

constexpr std::uint64_t kRequestLatency = sim::hash_of("network request latency");
constexpr std::uint64_t kAnswerLatency = sim::hash_of("network answer latency");

template <auto Member, typename Target>
sim::Action call_later(Target& target) {
    // Member is a captureless function of (Target&).
    return {[](void* self, std::uint64_t) { Member(*static_cast<Target*>(self)); }, &target, 0};
}

std::string_view outcome_text(const Exchange& exchange) {
    switch (exchange.outcome()) {
        case ExchangeOutcome::Pending:
            return "pending";
        case ExchangeOutcome::Answered:
            return exchange.summary;
        case ExchangeOutcome::Reset:
            return "connection reset";
        case ExchangeOutcome::TimedOut:
            return "timed out";
        case ExchangeOutcome::Refused:
            return "connection refused";
    }
    return "?";
}

}  // namespace

std::string Exchange::describe() const {
    std::string text = fmt::format("the answer to {}/{}", call_.operation, call_.ordinal);
    const std::string inner = describe_at_server();
    return inner.empty() ? text : fmt::format("{} ({})", text, inner);
}

void Network::reset(const NetworkOptions& options) {
    options_ = options;
    servers_.fill(nullptr);
    up_.fill(0);
    cuts_.fill(0);
    cut_epochs_.fill(0);
    held_.clear();
    connections_.clear();
    pending_.clear();
    in_flight_ = 0;
    kernel_.on_incarnation_end([this](sim::Incarnation& incarnation) {
        for (Connection& connection : connections_) {
            if (connection.client_ != &incarnation) continue;
            close(connection);
            connection.client_ = nullptr;
        }
    });
}

void Network::add_server(sim::PartyId party, Server& server) {
    sim::require(party < kMaxParties, "more parties than the network connects");
    servers_[party] = &server;
    up_[party] = 1;
}

Connection& Network::open(sim::PartyId server) {
    Connection& connection = connections_.emplace_back();
    sim::Incarnation& client = *kernel_.self().incarnation;
    connection.id_ = static_cast<std::uint32_t>(connections_.size());
    connection.server_ = server;
    connection.node_ = client.node().party();
    connection.client_ = &client;
    return connection;
}

void Network::close(Connection& connection) {
    if (!connection.client_open_) return;
    connection.client_open_ = false;
    if (!connection.established_ || !connection.server_open_) return;
    const sim::Time at = std::max(kernel_.now() + options_.latency_low, connection.last_to_server_);
    connection.last_to_server_ = at;
    transmit(connection.node_, connection.server_, at,
             {[](void* network, std::uint64_t id) {
                  auto* self = static_cast<Network*>(network);
                  self->end_at_server(self->connections_[id - 1], "closed by the client");
              },
              this, connection.id_});
    check_keepalive(connection.node_, connection.server_);
}

void Network::end_at_server(Connection& connection, std::string_view why) {
    if (!connection.server_open_) return;
    connection.server_open_ = false;
    if (connection.established_) servers_[connection.server_]->disconnected(connection, why);
}

void Network::perform(Exchange& exchange, Connection& connection, std::string_view operation,
                      std::string_view detail, sim::Duration timeout) {
    exchange.network_ = this;
    exchange.connection_ = &connection;
    exchange.prepare();
    sim::Call& call = exchange.call_;
    call = kernel_.begin_call(operation);
    call.record = kernel_.record(sim::CallStarted{operation, call.ordinal, detail});
    exchange.started_ = kernel_.now();
    exchange.timeout_ = timeout;
    kernel_.reach(call, sim::Phase::Before);

    const bool broken = call.asked.reset || call.asked.refuse || !connection.usable();
    if (broken) {
        exchange.never_arrives_ = true;
        exchange.outcome_ = call.asked.refuse ? ExchangeOutcome::Refused : ExchangeOutcome::Reset;
        kernel_.call_faults_took_effect(call, sim::Phase::Before);
    } else {
        exchange.suspension_ = call.task->suspension;
        pending_.push_back(&exchange);
        send_request(exchange);
        kernel_.reach(call, sim::Phase::Sent);
        if (call.asked.reset) {
            exchange.lost_ = true;
            exchange.never_arrives_ = !exchange.applied_;
            kernel_.call_faults_took_effect(call, sim::Phase::Sent);
            finish(exchange, ExchangeOutcome::Reset);
        }
        // A pause at phase sent may have outlasted the answer, whose wake-up is then void.
        while (exchange.outcome_ == ExchangeOutcome::Pending) {
            exchange.suspension_ = call.task->suspension;
            kernel_.wait(exchange);
        }
        std::erase(pending_, &exchange);
    }
    if (!exchange.answered()) close(connection);
    kernel_.record(sim::CallEnded{operation, call.ordinal, outcome_text(exchange)});
    kernel_.reach(call, sim::Phase::After);
}

sim::Duration Network::latency(std::uint64_t site, const Exchange& exchange) const {
    return kernel_.random().between(options_.latency_low, options_.latency_high, site,
                                    exchange.call_.key);
}

void Network::transmit(sim::PartyId from, sim::PartyId to, sim::Time at, sim::Action action) {
    if (cuts(from, to) > 0) {
        held_.push_back({from, to, action});
        const std::uint32_t fault = cut_faults_[from * kMaxParties + to];
        kernel_.fault_took_effect(
            fault, kernel_.history().party_name(from) + " to " + kernel_.history().party_name(to));
    } else {
        kernel_.schedule(at, action);
    }
}

void Network::send_request(Exchange& exchange) {
    Connection& connection = *exchange.connection_;
    const sim::Time at =
        std::max(kernel_.now() + latency(kRequestLatency, exchange), connection.last_to_server_);
    connection.last_to_server_ = at;
    ++in_flight_;
    if (cuts(connection.node_, connection.server_) > 0) arm_timeout(exchange);
    transmit(connection.node_, connection.server_, at,
             call_later<[](Exchange& sent) { sent.network_->arrive(sent); }>(exchange));
}

void Network::arrive(Exchange& exchange) {
    Connection& connection = *exchange.connection_;
    const sim::CallFaults& asked = exchange.call_.asked;
    if (asked.delay_request > sim::Duration::zero() && !exchange.delayed_) {
        exchange.delayed_ = true;
        kernel_.call_faults_took_effect(exchange.call_, sim::Phase::Sent);
        arm_timeout(exchange);
        const sim::Time at = kernel_.now() + asked.delay_request;
        connection.last_to_server_ = std::max(at, connection.last_to_server_);
        kernel_.schedule(at,
                         call_later<[](Exchange& sent) { sent.network_->arrive(sent); }>(exchange));
        return;
    }
    --in_flight_;
    if (asked.lose_request || exchange.lost_) {
        exchange.never_arrives_ = true;
        kernel_.call_faults_took_effect(exchange.call_, sim::Phase::Sent);
        arm_timeout(exchange);
        return;
    }
    if (up_[connection.server_] == 0) {
        exchange.never_arrives_ = true;
        reset_by_peer(exchange,
                      connection.established_ ? ExchangeOutcome::Reset : ExchangeOutcome::Refused);
        return;
    }
    if (!connection.server_open_) {
        exchange.never_arrives_ = true;
        reset_by_peer(exchange, ExchangeOutcome::Reset);
        return;
    }
    connection.established_ = true;
    ++in_flight_;
    servers_[connection.server_]->serve(exchange);
}

void Network::answer(Exchange& exchange) {
    sim::require(!exchange.applied_, "a server answers an exchange once");
    exchange.applied_ = true;
    --in_flight_;
    sim::Call& call = exchange.call_;
    kernel_.record_at(exchange.connection_->server_, call.record,
                      sim::CallApplied{call.operation, call.ordinal, exchange.summary},
                      call.task->id);
    kernel_.reach(call, sim::Phase::Applied);
    if (exchange.outcome_ != ExchangeOutcome::Pending || exchange.lost_) return;
    if (call.asked.lose_answer) {
        kernel_.call_faults_took_effect(call, sim::Phase::Applied);
        arm_timeout(exchange);
    } else if (call.asked.reset) {
        kernel_.call_faults_took_effect(call, sim::Phase::Applied);
        end_at_server(*exchange.connection_, "connection reset");
        reset_by_peer(exchange, ExchangeOutcome::Reset);
    } else {
        if (call.asked.delay_answer > sim::Duration::zero()) {
            kernel_.call_faults_took_effect(call, sim::Phase::Applied);
            arm_timeout(exchange);
        }
        send_answer(exchange);
    }
}

void Network::abandon(Exchange& exchange) {
    sim::require(!exchange.applied_, "an exchange that was answered cannot be abandoned");
    exchange.applied_ = true;
    --in_flight_;
}

void Network::send_answer(Exchange& exchange) {
    Connection& connection = *exchange.connection_;
    const sim::Time at = std::max(
        kernel_.now() + latency(kAnswerLatency, exchange) + exchange.call_.asked.delay_answer,
        connection.last_to_client_);
    connection.last_to_client_ = at;
    if (cuts(connection.server_, connection.node_) > 0) arm_timeout(exchange);
    ++in_flight_;
    transmit(connection.server_, connection.node_, at, call_later<[](Exchange& answered) {
                 --answered.network_->in_flight_;
                 answered.network_->finish(answered, ExchangeOutcome::Answered);
             }>(exchange));
}

void Network::reset_by_peer(Exchange& exchange, ExchangeOutcome outcome) {
    Connection& connection = *exchange.connection_;
    if (cuts(connection.server_, connection.node_) > 0) arm_timeout(exchange);
    ++in_flight_;
    const sim::Time at = kernel_.now() + latency(kAnswerLatency, exchange);
    transmit(connection.server_, connection.node_, at,
             {[](void* target, std::uint64_t how) {
                  auto* broken = static_cast<Exchange*>(target);
                  --broken->network_->in_flight_;
                  broken->network_->finish(*broken, static_cast<ExchangeOutcome>(how));
              },
              &exchange, static_cast<std::uint64_t>(outcome)});
}

void Network::finish(Exchange& exchange, ExchangeOutcome outcome) {
    if (exchange.outcome_ != ExchangeOutcome::Pending) return;
    exchange.outcome_ = outcome;
    sim::Task& task = *exchange.call_.task;
    if (kernel_.current() != &task) kernel_.wake(task, exchange.suspension_);
}

void Network::arm_timeout(Exchange& exchange) {
    if (exchange.timeout_armed_ || exchange.outcome_ != ExchangeOutcome::Pending) return;
    exchange.timeout_armed_ = true;
    const sim::Time at = exchange.started_ + exchange.timeout_;
    // The exchange may be reused for another call by then only if this one is finished, and a
    // finished call's number differs.
    kernel_.schedule(at, {[](void* target, std::uint64_t key) {
                              auto* late = static_cast<Exchange*>(target);
                              if (late->call_.key != key) return;
                              late->network_->finish(*late, ExchangeOutcome::TimedOut);
                          },
                          &exchange, exchange.call_.key});
}

// --- faults

void Network::cut(sim::PartyId from, sim::PartyId to, std::uint32_t fault) {
    ++cuts(from, to);
    cut_faults_[from * kMaxParties + to] = fault;
    if (servers_[to] != nullptr) check_keepalive(from, to);
    if (servers_[from] != nullptr) check_keepalive(to, from);
    for (Exchange* exchange : pending_) {
        const Connection& connection = *exchange->connection_;
        if (connection.server_ == from || connection.server_ == to) arm_timeout(*exchange);
    }
}

void Network::mend(sim::PartyId from, sim::PartyId to) {
    if (cuts(from, to) == 0 || --cuts(from, to) > 0) return;
    ++cut_epochs_[from * kMaxParties + to];
    std::vector<Held> passing;
    std::erase_if(held_, [&](const Held& held) {
        const bool passes = held.from == from && held.to == to;
        if (passes) passing.push_back(held);
        return passes;
    });
    // In order, one after the other: they were on one link.
    sim::Time at = kernel_.now() + options_.latency_low;
    for (const Held& held : passing) {
        kernel_.schedule(at, held.action);
        at += std::chrono::microseconds{1};
    }
}

void Network::mend_everything() {
    const std::size_t parties = std::min(kernel_.history().parties(), kMaxParties);
    for (sim::PartyId from = 0; from < parties; ++from) {
        for (sim::PartyId to = 0; to < parties; ++to) {
            if (cuts(from, to) == 0) continue;
            cuts(from, to) = 1;
            mend(from, to);
        }
    }
}

void Network::check_keepalive(sim::PartyId node, sim::PartyId server) {
    const std::size_t there = node * kMaxParties + server;
    const std::size_t back = server * kMaxParties + node;
    if (cuts_[there] == 0 && cuts_[back] == 0) return;
    kernel_.schedule(kernel_.now() + options_.keepalive, [this, node, server, there, back,
                                                          epoch_there = cut_epochs_[there],
                                                          epoch_back = cut_epochs_[back]] {
        const bool still = (cuts_[there] > 0 && cut_epochs_[there] == epoch_there) ||
                           (cuts_[back] > 0 && cut_epochs_[back] == epoch_back);
        if (!still) return;
        for (Connection& connection : connections_) {
            if (connection.node_ == node && connection.server_ == server) {
                end_at_server(connection, "its client was not reachable");
            }
        }
    });
}

void Network::take_down(sim::PartyId server, std::string_view why) {
    up_[server] = 0;
    for (Connection& connection : connections_) {
        if (connection.server_ == server) end_at_server(connection, why);
    }
    for (Exchange* exchange : std::vector<Exchange*>{pending_}) {
        if (exchange->connection_->server_ != server || !exchange->connection_->established_)
            continue;
        reset_by_peer(*exchange, ExchangeOutcome::Reset);
    }
}

void Network::bring_up(sim::PartyId server) {
    up_[server] = 1;
}

}  // namespace fencepost::model
