// The network between nodes and servers: typed exchanges of a request and an answer over
// connections.
//
// An exchange passes the phases of its fault point: before (nothing sent), sent (on the wire),
// applied (the server did it, the answer is not back), after. Connections behave as TCP's do: in
// order, reset at once when a process ends, half open when a message can no longer pass. A message
// that meets a partition is held and passes when the partition ends; the caller gives up after its
// time-out and closes, and the server still does what it receives later.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sim/kernel.h"

namespace fencepost::model {

struct NetworkOptions {
    sim::Duration latency_low = std::chrono::microseconds{200};  // of one message
    sim::Duration latency_high = std::chrono::microseconds{1500};
    // A server ends a connection whose peer it has not reached for this long.
    sim::Duration keepalive = std::chrono::seconds{30};
};

class Connection;
class Exchange;
class Network;

// A server's side of the network.
class Server {
public:
    virtual ~Server() = default;
    // The request has arrived. Sooner or later the server calls Network::answer, once.
    virtual void serve(Exchange& exchange) = 0;
    // The connection is over: the peer closed it, or is taken for gone.
    virtual void disconnected(Connection& connection, std::string_view why) = 0;
};

class Connection {
public:
    [[nodiscard]] std::uint32_t id() const { return id_; }
    [[nodiscard]] sim::PartyId server() const { return server_; }
    // Null once the process that opened it has ended.
    [[nodiscard]] sim::Incarnation* client() const { return client_; }
    [[nodiscard]] bool usable() const { return client_open_ && server_open_; }

private:
    friend class Network;
    std::uint32_t id_ = 0;
    sim::PartyId server_ = 0;
    sim::PartyId node_ = 0;
    sim::Incarnation* client_ = nullptr;
    bool established_ = false;  // the server has seen it
    bool client_open_ = true;
    bool server_open_ = true;
    sim::Time last_to_server_{};
    sim::Time last_to_client_{};
};

enum class ExchangeOutcome : std::uint8_t { Pending, Answered, Reset, TimedOut, Refused };

// One request and its answer. Owned by the adapter that made it, until the run ends: the server may
// still work on it when the caller is long dead.
class Exchange : public sim::WaitReason {
public:
    [[nodiscard]] ExchangeOutcome outcome() const { return outcome_; }
    [[nodiscard]] bool answered() const { return outcome_ == ExchangeOutcome::Answered; }
    // Whether the request certainly never reached the server, nor will.
    [[nodiscard]] bool never_arrives() const { return never_arrives_; }
    [[nodiscard]] Connection& connection() const { return *connection_; }
    [[nodiscard]] const sim::Call& call() const { return call_; }
    [[nodiscard]] std::string describe() const override;
    // What the server is doing with it: "row ledger('k') held by …"; empty when nothing in
    // particular.
    [[nodiscard]] virtual std::string describe_at_server() const { return {}; }

    // Set by the server before it answers; for the trace.
    std::string summary;

protected:
    void prepare() {
        outcome_ = ExchangeOutcome::Pending;
        applied_ = never_arrives_ = lost_ = timeout_armed_ = delayed_ = false;
        summary.clear();
    }

private:
    friend class Network;
    Network* network_ = nullptr;
    Connection* connection_ = nullptr;
    sim::Call call_;
    std::uint64_t suspension_ = 0;
    sim::Time started_{};
    sim::Duration timeout_{};
    ExchangeOutcome outcome_ = ExchangeOutcome::Pending;
    bool applied_ = false;  // the server is done with it
    bool never_arrives_ = false;
    bool lost_ = false;  // neither request nor answer will arrive
    bool timeout_armed_ = false;
    bool delayed_ = false;  // a fault's delay has been served
};

class Network {
public:
    explicit Network(sim::Kernel& kernel) : kernel_(kernel) {}

    // Starts a run. Parties are added afterwards.
    void reset(const NetworkOptions& options);
    void add_server(sim::PartyId party, Server& server);

    // A connection of the running task's process; nothing is sent until its first exchange.
    Connection& open(sim::PartyId server);
    // Ends the connection from the client's side; the server learns of it one message later.
    void close(Connection& connection);

    // Performs the exchange on the running task, which waits for the answer or for what takes its
    // place. A connection whose exchange was not answered is unusable afterwards.
    void perform(Exchange& exchange, Connection& connection, std::string_view operation,
                 std::string_view detail, sim::Duration timeout);
    // The server is done with the exchange.
    void answer(Exchange& exchange);
    // The server will never be done with it: it has gone down.
    void abandon(Exchange& exchange);
    // The server cannot go on with it for now (it waits for a lock): the caller's time-out counts.
    void stalled(Exchange& exchange) { arm_timeout(exchange); }

    // --- faults
    void cut(sim::PartyId from, sim::PartyId to, std::uint32_t fault);
    void mend(sim::PartyId from, sim::PartyId to);
    // Connections of the server break; new ones are refused until it is up again.
    void take_down(sim::PartyId server, std::string_view why);
    void bring_up(sim::PartyId server);
    [[nodiscard]] bool is_up(sim::PartyId server) const { return up_[server] != 0; }
    void mend_everything();

    // Messages under way or held, and exchanges not yet done.
    [[nodiscard]] std::size_t in_flight() const { return in_flight_; }

private:
    struct Held {
        sim::PartyId from;
        sim::PartyId to;
        sim::Action action;
    };
    static constexpr std::size_t kMaxParties = 32;

    void send_request(Exchange& exchange);
    void arrive(Exchange& exchange);
    void send_answer(Exchange& exchange);
    void finish(Exchange& exchange, ExchangeOutcome outcome);
    void reset_by_peer(Exchange& exchange, ExchangeOutcome outcome);
    void arm_timeout(Exchange& exchange);
    void end_at_server(Connection& connection, std::string_view why);
    void transmit(sim::PartyId from, sim::PartyId to, sim::Time at, sim::Action action);
    void check_keepalive(sim::PartyId node, sim::PartyId server);
    [[nodiscard]] sim::Duration latency(std::uint64_t site, const Exchange& exchange) const;
    int& cuts(sim::PartyId from, sim::PartyId to) { return cuts_[from * kMaxParties + to]; }

    sim::Kernel& kernel_;
    NetworkOptions options_;
    std::array<Server*, kMaxParties> servers_{};
    std::array<char, kMaxParties> up_{};
    std::array<int, kMaxParties * kMaxParties> cuts_{};
    std::array<std::uint32_t, kMaxParties * kMaxParties> cut_faults_{};
    std::array<std::uint32_t, kMaxParties * kMaxParties> cut_epochs_{};
    std::vector<Held> held_;
    std::deque<Connection> connections_;
    std::vector<Exchange*> pending_;  // not yet finished for their caller
    std::size_t in_flight_ = 0;
};

}  // namespace fencepost::model
