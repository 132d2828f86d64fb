// A short session with a Redis, as the model and the real server both run it, and how a person
// reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/ports/redis.h"
#include "model/redis/server.h"

namespace fencepost::fidelity {

using jobs::redis::Reply;

struct Step {
    enum class Kind : std::uint8_t {
        Command,
        Pass,        // time goes by
        Jump,        // only the wall clock moves, forward or back
        MemoryFull,  // maxmemory is reached, and nothing may be evicted
        MemoryFreed,
        Snapshot,  // the primary's data is saved (RDB)
        Kill,      // of the primary's process; it starts again at once
        PowerCut,  // as Kill, and the disk does not have the last second
        Cut,       // the replica receives nothing from now on
        Promote,   // the replica; the old primary lives on, cut off
        Demote,    // the old primary becomes the replica
    };
    enum class To : std::uint8_t { Primary, Replica, FormerPrimary };

    Kind kind = Kind::Command;
    To to = To::Primary;
    std::uint8_t client = 0;
    std::int64_t us = 0;                   // Pass, Jump; Kill, PowerCut: how long it is down
    std::vector<std::string> arguments{};  // Command

    bool operator==(const Step&) const = default;
};

using Session = std::vector<Step>;

inline constexpr std::uint8_t kClients = 3;
inline constexpr std::int64_t kStartMs = 1'700'000'000'000;
inline constexpr std::int64_t kStartUs = kStartMs * 1000;

// Whether it is a command that may make a script known, or asks for one.
[[nodiscard]] bool concerns_scripts(const Step& step);

struct Difference {
    Session session;  // up to the step that differs
    Reply model;      // the replies to its last step
    Reply real;
    bool at_the_end = false;  // that step looks at what the session has left
};

// As in redis-cli: `(integer) 1`, `"text"`, `(nil)`, `(error) ERR …`.
[[nodiscard]] std::string show(const Reply& reply);
[[nodiscard]] std::string show(const Step& step);
// One line a step, then both replies.
[[nodiscard]] std::string show(const Difference& difference);

}  // namespace fencepost::fidelity
