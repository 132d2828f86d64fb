// The real Redis as the comparison runs it: one server, or a primary and its replica.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "model/redis/server.h"
#include "tests/fidelity/redis/processes.h"
#include "tests/fidelity/redis/session.h"

namespace fencepost::fidelity {

// Commands to the connections of several clients, pipelined as long as one client goes on, executed
// in the order in which they were sent.
class Pipeline {
public:
    void connect(const RedisProcess& server);
    void send(std::size_t client, const std::vector<std::string>& arguments);
    // The replies to all commands since the last call.
    [[nodiscard]] std::vector<Reply> collect();

private:
    void read_outstanding();

    std::vector<RedisConnection> connections_;
    std::size_t client_ = 0;
    std::size_t outstanding_ = 0;
    std::vector<Reply> replies_;
};

class RealSide {
public:
    virtual ~RealSide() = default;

    // Empty, no script known, the clock at the start of a session.
    virtual void reset() = 0;
    virtual void send(const Step& step) = 0;
    [[nodiscard]] virtual std::vector<Reply> collect() = 0;
    // All but commands. Everything sent has been collected.
    virtual void apply(const Step& step, std::chrono::nanoseconds elapsed,
                       std::chrono::nanoseconds fsync_horizon) = 0;
    virtual void set_clock(std::int64_t wall_us) = 0;
};

// One server that persists as the options say.
[[nodiscard]] std::unique_ptr<RealSide> single_server(model::Persistence persistence);
// A primary with a replica that has caught up whenever one looks.
[[nodiscard]] std::unique_ptr<RealSide> replicated_servers();

}  // namespace fencepost::fidelity
