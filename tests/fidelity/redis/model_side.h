// The model as the comparison runs it: with the clock of the session.
#pragma once

#include "model/redis/server.h"
#include "tests/fidelity/redis/session.h"

namespace fencepost::fidelity {

class ModelSide {
public:
    explicit ModelSide(const model::RedisOptions& options) : options_(options) {}

    void reset();
    [[nodiscard]] Reply execute(const Step& step);
    // All but commands.
    void apply(const Step& step);

    [[nodiscard]] bool has_replica() const { return server_.has_replica(); }
    [[nodiscard]] std::int64_t wall_us() const { return now_.wall_us; }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return now_.elapsed; }
    // The moment of which a power cut keeps what was written until then.
    [[nodiscard]] std::chrono::nanoseconds fsync_horizon() const;

private:
    void restart(model::RedisLoss loss, std::int64_t down_us);
    void pass(std::int64_t us);

    model::RedisOptions options_;
    model::RedisServer server_;
    model::RedisNow now_;
    std::chrono::nanoseconds started_{};
};

}  // namespace fencepost::fidelity
