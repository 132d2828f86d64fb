// Redis as a party of the network: commands over connections, restarts and failovers that lose what
// they lose, its own wall clock; every change of a key goes into the history.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/network.h"
#include "model/redis/server.h"

namespace fencepost::model {

struct RedisEndpointOptions {
    RedisOptions server{.replica_lag = std::chrono::milliseconds{100}};
    // What clients of this Redis give a command before they give up.
    sim::Duration call_timeout = std::chrono::seconds{2};
};

class RedisExchange : public Exchange {
public:
    void start(std::span<const std::string> words) {
        arguments.assign(words.begin(), words.end());
        reply = {};
    }
    std::vector<std::string> arguments;
    jobs::redis::Reply reply;
};

class RedisEndpoint : public Server {
public:
    RedisEndpoint(sim::Kernel& kernel, Network& network);

    void reset(const RedisEndpointOptions& options);
    [[nodiscard]] sim::PartyId party() const { return party_; }
    [[nodiscard]] const RedisEndpointOptions& options() const { return options_; }
    RedisExchange& exchange();

    // Down for a while. `keep`: "all", "last-second-lost", "none"; empty is what its persistence
    // keeps.
    void restart(sim::Duration down_for, std::string_view keep);
    // Back after restart(), at once if need be.
    void come_up();
    // The replica takes over without what it had not received: the changes of the last `lag`, or of
    // the usual one.
    void fail_over(std::optional<sim::Duration> lag);
    // Drops a key. Whether there was one.
    bool evict(const std::string& key);
    void jump_clock(sim::Duration by) { clock_.jump(by); }

    // What a command that only reads would be answered now: for who looks on between two events.
    [[nodiscard]] jobs::redis::Reply look(std::initializer_list<std::string> command) const {
        return server_.peek(std::span(command.begin(), command.size()), now());
    }

    void serve(Exchange& exchange) override;
    void disconnected(Connection&, std::string_view) override {}

private:
    [[nodiscard]] RedisNow now() const;
    void record(const KeyChange& change);

    sim::Kernel& kernel_;
    Network& network_;
    RedisServer server_;
    RedisEndpointOptions options_;
    sim::PartyId party_ = 0;
    sim::Time started_{};
    sim::DriftingClock clock_;
    std::deque<RedisExchange> exchanges_;
    std::size_t used_exchanges_ = 0;
    const RedisExchange* running_ = nullptr;
};

}  // namespace fencepost::model
