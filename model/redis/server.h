// A Redis 7.0 server as a state machine: commands in, replies out, changes of keys to an observer.
//
// It has no clock, no network and no randomness: every call says what time it is, nothing suspends,
// and the same calls give the same replies. Replies and error texts are Redis 7.0.15's.
//
// Time. A key's deadline is an absolute millisecond on Redis's own wall clock, and the key is gone
// once that clock shows more (at the deadline itself it is there, with a PTTL of 0). The clock may
// jump. What persistence and replication have got hold of is judged by elapsed time, which never
// goes back.
//
// Loss. A restart or failover goes back to an earlier state; each key that differs is reported as
// Lost. Scripts stay where they were told: a process that starts again knows none, and a promoted
// replica those that it was told itself (else NOSCRIPT). Deadlines run on while the server is down.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "jobs/ports/redis.h"
#include "model/redis/commands.h"
#include "model/redis/flaw.h"
#include "model/redis/key_change.h"

namespace fencepost::model {

enum class Persistence : std::uint8_t { None, AofEverySecond, AofAlways, Rdb };

struct RedisOptions {
    Persistence persistence = Persistence::AofEverySecond;
    std::chrono::nanoseconds fsync_period = std::chrono::seconds(1);
    std::chrono::nanoseconds snapshot_period = std::chrono::minutes(1);
    // Nothing: there is no replica, and no failover.
    std::optional<std::chrono::nanoseconds> replica_lag{};
    // For tests of the comparison with a real server.
    RedisFlaw flaw = RedisFlaw::None;
};

struct RedisNow {
    std::int64_t wall_us = 0;            // Redis's own wall clock; at least 0
    std::chrono::nanoseconds elapsed{};  // the simulation's; never less than in the call before
};

// What a crash takes of the changes that were acknowledged.
enum class RedisLoss : std::uint8_t {
    Nothing,
    SinceFsync,     // those of the last fsync_period
    SinceSnapshot,  // those since the last whole snapshot_period since the start; Rdb only
    Everything,
};

// The process is killed; the machine lives and the kernel writes what it was given.
[[nodiscard]] RedisLoss loss_at_kill(Persistence persistence);
// The machine loses power, or its disk was too slow for fsync to be on time.
[[nodiscard]] RedisLoss loss_at_power_cut(Persistence persistence);

class RedisServer {
public:
    using Reply = jobs::redis::Reply;
    using Refusal = redis::Refusal;

    // A script that runs for more instructions than this ends with an error.
    static constexpr std::int64_t kScriptInstructionLimit = 20'000'000;

    explicit RedisServer(std::int64_t script_instruction_limit = kScriptInstructionLimit);
    ~RedisServer();
    RedisServer(RedisServer&&) noexcept;
    RedisServer& operator=(RedisServer&&) noexcept;

    // A fresh run: empty, up, nothing refused, no script known. The observer stays, and so does the
    // Lua state with the compiled scripts.
    void reset(const RedisOptions& options);

    // Called for each change, while the command runs; must not call back.
    void set_observer(KeyObserver observer);

    // `arguments` begin with the command's name. The server must be up.
    [[nodiscard]] Reply execute(std::uint32_t client, std::span<const std::string> arguments,
                                const RedisNow& now);
    [[nodiscard]] Reply execute(std::uint32_t client, std::initializer_list<std::string> arguments,
                                const RedisNow& now) {
        return execute(client, std::span(arguments.begin(), arguments.size()), now);
    }

    // What the primary would answer, up or down, to a command that only reads: on a copy of its
    // keys, so that not even an expired one goes.
    [[nodiscard]] Reply peek(std::span<const std::string> arguments, const RedisNow& now) const;

    // What the primary answers with an error for now: out of memory, busy, read-only, loading.
    void refuse(Refusal refusal);

    // Down from now on, without the changes that `loss` names once it starts again.
    void crash(const RedisNow& now, RedisLoss loss);
    void start(const RedisNow& now);
    [[nodiscard]] bool is_up() const;

    // Removes a key for want of memory. False when there is none.
    bool evict(const std::string& key, const RedisNow& now);

    // The replica has what the primary did until `replica_lag` ago; from a cut on, until that long
    // before the cut. A mended one catches up at once.
    [[nodiscard]] bool has_replica() const;
    // Makes it smaller or, up to what reset() was told, larger again.
    void set_replica_lag(std::chrono::nanoseconds lag);
    void cut_replica(const RedisNow& now);
    void mend_replica();
    // Needs a replica, which answers reads, hides keys past their deadline, and refuses writes.
    [[nodiscard]] Reply execute_on_replica(std::uint32_t client,
                                           std::span<const std::string> arguments,
                                           const RedisNow& now);

    // Whether the old primary goes away, or lives on cut off and takes writes for whoever reaches
    // it.
    enum class OldPrimary : std::uint8_t { Gone, Isolated };
    // Promotes the replica: changes that it does not have are lost. Needs one; the primary may be
    // down. A new replica is taken to join at once, in step.
    void failover(const RedisNow& now, OldPrimary old_primary);
    [[nodiscard]] bool has_former_primary() const;
    [[nodiscard]] Reply execute_on_former_primary(std::uint32_t client,
                                                  std::span<const std::string> arguments,
                                                  const RedisNow& now);
    // Becomes a replica; what it had taken is gone. Not reported, as those keys were never the
    // primary's.
    void demote_former_primary();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace fencepost::model
