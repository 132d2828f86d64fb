#include "model/redis/server.h"

#include <algorithm>
#include <utility>

#include "model/redis/keyspace.h"
#include "model/redis/scripts.h"
#include "sim/require.h"

namespace fencepost::model {
namespace {

using redis::Execution;
using redis::Keyspace;
using std::chrono::nanoseconds;

redis::Change change_by(std::uint32_t client, const RedisNow& now) {
    return {now.elapsed, now.wall_us / 1000, client};
}

}  // namespace

RedisLoss loss_at_kill(Persistence persistence) {
    switch (persistence) {
        case Persistence::None:
            return RedisLoss::Everything;
        case Persistence::Rdb:
            return RedisLoss::SinceSnapshot;
        case Persistence::AofEverySecond:
        case Persistence::AofAlways:
            return RedisLoss::Nothing;
    }
    return RedisLoss::Nothing;
}

RedisLoss loss_at_power_cut(Persistence persistence) {
    return persistence == Persistence::AofEverySecond ? RedisLoss::SinceFsync
                                                      : loss_at_kill(persistence);
}

struct RedisServer::State {
    struct Crash {
        nanoseconds at{};
        RedisLoss loss = RedisLoss::Nothing;
    };

    explicit State(std::int64_t script_instruction_limit) : scripts(script_instruction_limit) {}

    [[nodiscard]] nanoseconds last_snapshot(nanoseconds now) const {
        return now - (now - durable_until) % options.snapshot_period;
    }

    // Changes after this are not on the disk that survives a crash at `now`.
    [[nodiscard]] nanoseconds disk_horizon(RedisLoss loss, nanoseconds now) const {
        switch (loss) {
            case RedisLoss::Nothing:
                return now;
            case RedisLoss::SinceFsync:
                return std::max(durable_until, now - options.fsync_period);
            case RedisLoss::SinceSnapshot:
                return last_snapshot(now);
            case RedisLoss::Everything:
                return nanoseconds::min();
        }
        return now;
    }

    // Changes after this have not been sent to the replica.
    [[nodiscard]] nanoseconds sent_until(nanoseconds now) const {
        nanoseconds until = now;
        if (replica_cut) until = std::min(until, *replica_cut);
        if (crash) until = std::min(until, crash->at);
        return until;
    }

    // Changes after this have not reached the replica.
    [[nodiscard]] nanoseconds replica_horizon(nanoseconds now) const {
        if (options.flaw == RedisFlaw::FailoverLosesNothing) return now;
        return sent_until(now) - *options.replica_lag;
    }

    void shorten_log(nanoseconds now) {
        nanoseconds needed = now - options.fsync_period;
        if (options.persistence == Persistence::Rdb) needed = std::min(needed, last_snapshot(now));
        if (options.replica_lag) needed = std::min(needed, sent_until(now) - largest_replica_lag);
        primary.forget_log_before(needed);
    }

    [[nodiscard]] Reply execute(Keyspace& keys, RedisInstance instance, Refusal refused,
                                std::span<const std::string> arguments, const RedisNow& now) {
        Execution execution{.keys = keys,
                            .scripts = scripts,
                            .arguments = arguments,
                            .now_us = now.wall_us,
                            .instance = instance,
                            .refusal = refused};
        return redis::run_command(execution);
    }

    redis::Scripts scripts;
    RedisOptions options;
    KeyObserver observer;
    Keyspace primary;
    std::optional<Keyspace> former_primary;
    Refusal refusal = Refusal::Nothing;
    std::optional<Crash> crash;
    std::optional<nanoseconds> replica_cut;
    nanoseconds largest_replica_lag{};
    nanoseconds durable_until{};  // when the process started, with what was on its disk
};

RedisServer::RedisServer(std::int64_t script_instruction_limit)
    : state_(std::make_unique<State>(script_instruction_limit)) {
    reset({});
}

RedisServer::~RedisServer() = default;
RedisServer::RedisServer(RedisServer&&) noexcept = default;
RedisServer& RedisServer::operator=(RedisServer&&) noexcept = default;

void RedisServer::reset(const RedisOptions& options) {
    sim::require(options.fsync_period > nanoseconds::zero() &&
                     options.snapshot_period > nanoseconds::zero() &&
                     options.replica_lag.value_or(nanoseconds::zero()) >= nanoseconds::zero(),
                 "the periods of a Redis are positive, and its replica's lag is not negative");
    State& state = *state_;
    state.options = options;
    state.largest_replica_lag = options.replica_lag.value_or(nanoseconds::zero());
    state.primary.clear();
    state.primary.plant(options.flaw);
    state.scripts.plant(options.flaw);
    state.primary.observe(&state.observer);
    state.former_primary.reset();
    state.refusal = Refusal::Nothing;
    state.crash.reset();
    state.replica_cut.reset();
    state.durable_until = {};
    state.scripts.forget_everything();
}

void RedisServer::set_observer(KeyObserver observer) {
    state_->observer = std::move(observer);
}

RedisServer::Reply RedisServer::execute(std::uint32_t client,
                                        std::span<const std::string> arguments,
                                        const RedisNow& now) {
    State& state = *state_;
    sim::require(!state.crash, "a Redis that is down executes nothing");
    state.primary.begin(change_by(client, now));
    if (state.primary.log_has_grown()) state.shorten_log(now.elapsed);
    return state.execute(state.primary, RedisInstance::Primary, state.refusal, arguments, now);
}

RedisServer::Reply RedisServer::peek(std::span<const std::string> arguments,
                                     const RedisNow& now) const {
    Keyspace copy = state_->primary;
    copy.observe(nullptr);
    copy.begin(change_by(kNoClient, now));
    return state_->execute(copy, RedisInstance::Primary, Refusal::Nothing, arguments, now);
}

void RedisServer::refuse(Refusal refusal) {
    state_->refusal = refusal;
}

void RedisServer::crash(const RedisNow& now, RedisLoss loss) {
    sim::require(!state_->crash, "a Redis that is down does not crash again");
    sim::require(
        loss != RedisLoss::SinceSnapshot || state_->options.persistence == Persistence::Rdb,
        "only a Redis that takes snapshots can go back to one");
    state_->crash = State::Crash{now.elapsed, loss};
}

// What the disk did not have is undone now and not at the crash: until the new process talks to the
// replica, that one keeps what it has, and may be promoted with it.
void RedisServer::start(const RedisNow& now) {
    State& state = *state_;
    sim::require(state.crash.has_value(), "a Redis that is up does not start");
    const auto [crashed_at, loss] = *std::exchange(state.crash, std::nullopt);
    state.primary.begin(change_by(kNoClient, now));
    if (loss == RedisLoss::Everything) {
        state.primary.erase_all(KeyChange::Kind::Lost);
    } else {
        state.primary.go_back_to(state.disk_horizon(loss, crashed_at));
    }
    // A primary that loads a snapshot leaves out what has expired; the append-only file it replays.
    if (state.options.persistence == Persistence::Rdb) state.primary.erase_expired();
    if (state.options.flaw == RedisFlaw::DowntimeDoesNotCount) {
        state.primary.postpone_all(
            std::chrono::floor<std::chrono::milliseconds>(now.elapsed - crashed_at));
    }
    state.durable_until = now.elapsed;
    state.refusal = Refusal::Nothing;
    state.scripts.forget(RedisInstance::Primary);
    state.scripts.restart_random();
}

bool RedisServer::is_up() const {
    return !state_->crash;
}

bool RedisServer::evict(const std::string& key, const RedisNow& now) {
    State& state = *state_;
    sim::require(!state.crash, "a Redis that is down evicts nothing");
    state.primary.begin(change_by(kNoClient, now));
    redis::Entry* entry = state.primary.find(key);
    if (entry == nullptr) return false;
    state.primary.erase(*entry, KeyChange::Kind::Evicted);
    return true;
}

void RedisServer::set_replica_lag(nanoseconds lag) {
    sim::require(has_replica() && lag >= nanoseconds::zero() && lag <= state_->largest_replica_lag,
                 "the lag of a replica is at most what it was at the reset");
    state_->options.replica_lag = lag;
}

bool RedisServer::has_replica() const {
    return state_->options.replica_lag.has_value();
}

void RedisServer::cut_replica(const RedisNow& now) {
    sim::require(has_replica(), "only a replica that is there can be cut off");
    if (!state_->replica_cut) state_->replica_cut = now.elapsed;
}

void RedisServer::mend_replica() {
    state_->replica_cut.reset();
}

RedisServer::Reply RedisServer::execute_on_replica(std::uint32_t client,
                                                   std::span<const std::string> arguments,
                                                   const RedisNow& now) {
    State& state = *state_;
    sim::require(has_replica(), "only a replica that is there executes commands");
    Keyspace replica = state.primary;
    replica.observe(nullptr);
    replica.become(RedisInstance::Replica);
    replica.begin(change_by(client, now));
    replica.go_back_to(state.replica_horizon(now.elapsed));
    return state.execute(replica, RedisInstance::Replica, Refusal::Writes, arguments, now);
}

void RedisServer::failover(const RedisNow& now, OldPrimary old_primary) {
    State& state = *state_;
    sim::require(has_replica(), "a failover needs a replica");
    if (old_primary == OldPrimary::Isolated) {
        sim::require(!state.crash, "an old primary that is down takes no writes");
        state.former_primary = state.primary;
        state.former_primary->become(RedisInstance::FormerPrimary);
        state.scripts.move(RedisInstance::Primary, RedisInstance::FormerPrimary);
    }
    state.primary.begin(change_by(kNoClient, now));
    state.primary.go_back_to(state.replica_horizon(now.elapsed));
    state.primary.forget_log();
    state.crash.reset();
    state.replica_cut.reset();
    state.refusal = Refusal::Nothing;
    state.durable_until = now.elapsed;
    state.scripts.move(RedisInstance::Replica, RedisInstance::Primary);
    state.scripts.restart_random();
}

bool RedisServer::has_former_primary() const {
    return state_->former_primary.has_value();
}

RedisServer::Reply RedisServer::execute_on_former_primary(std::uint32_t client,
                                                          std::span<const std::string> arguments,
                                                          const RedisNow& now) {
    State& state = *state_;
    sim::require(has_former_primary(), "there is an old primary that is cut off");
    Keyspace& keys = *state.former_primary;
    keys.begin(change_by(client, now));
    keys.forget_log();
    return state.execute(keys, RedisInstance::FormerPrimary, Refusal::Nothing, arguments, now);
}

void RedisServer::demote_former_primary() {
    if (!has_former_primary()) return;
    state_->former_primary.reset();
    state_->scripts.move(RedisInstance::FormerPrimary, RedisInstance::Replica);
}

}  // namespace fencepost::model
