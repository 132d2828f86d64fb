// The model as the comparison runs it: with the clock of the session.
#pragma once

#include <functional>

#include "model/redis/server.h"
#include "tests/fidelity/redis/session.h"

namespace fencepost::fidelity {

struct ModelSetup {
    model::RedisOptions options{};
    // What a planted mistake in the scripts makes of a command before the model gets it.
    std::function<void(std::vector<std::string>&)> rewrite{};
};

class ModelSide {
public:
    explicit ModelSide(ModelSetup setup) : setup_(std::move(setup)) {}

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

    ModelSetup setup_;
    model::RedisServer server_;
    model::RedisNow now_;
    std::chrono::nanoseconds started_{};
};

}  // namespace fencepost::fidelity
