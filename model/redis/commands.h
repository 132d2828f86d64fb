// The commands of Redis 7.0: name, arity, and a function from arguments to reply.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "jobs/ports/redis.h"
#include "model/redis/keyspace.h"

namespace fencepost::model::redis {

using Reply = jobs::redis::Reply;

class Scripts;

// What the server refuses for now, with Redis's own error.
enum class Refusal : std::uint8_t {
    Nothing,
    Growth,      // OOM: commands that may need memory; PEXPIRE and DEL still work
    Writes,      // READONLY: a replica
    Everything,  // BUSY: a script runs without end
    Loading,     // LOADING: the data is being read from disk
};

// One command being executed. Its time is the same from beginning to end, also for a script.
struct Execution {
    Keyspace& keys;
    Scripts& scripts;
    std::span<const std::string> arguments;  // the command's name first; as many as its arity wants
    std::int64_t now_us = 0;
    RedisInstance instance = RedisInstance::Primary;
    Refusal refusal = Refusal::Nothing;
    bool in_script = false;
    bool read_only = false;  // EVAL_RO, or a script that promised no writes
    // A write command has run in this script, whether or not it changed anything: from then on
    // the script is not stopped for want of memory.
    bool has_written = false;

    [[nodiscard]] std::int64_t now_ms() const { return now_us / 1000; }
    [[nodiscard]] const std::string& key() const { return arguments[1]; }
};

struct Command {
    enum Flag : std::uint8_t { Read = 0, Write = 1, Grows = 2, NotInScripts = 4 };
    std::string_view name;  // lower-case
    int arity = 0;          // with the name itself; negative: at least that many
    std::uint8_t flags = Read;
    Reply (*run)(Execution&) = nullptr;  // null: Redis has the command, this model does not

    [[nodiscard]] bool accepts(std::size_t arguments) const {
        const auto given = static_cast<int>(arguments);
        return arity >= 0 ? given == arity : given >= -arity;
    }
};

// Null when Redis has no such command either.
[[nodiscard]] const Command* find_command(std::string_view name);

// Runs one command of a client or of a script: everything from its look-up to its reply.
[[nodiscard]] Reply run_command(Execution& execution);

// The error, if the server refuses such a command for now.
[[nodiscard]] std::optional<Reply> refuse_for_now(const Execution& execution,
                                                  const Command& command);

[[nodiscard]] Reply wrong_arity(std::string_view command);
[[nodiscard]] Reply wrong_type();
[[nodiscard]] Reply not_an_integer();
[[nodiscard]] Reply syntax_error();
[[nodiscard]] Reply invalid_expire_time(std::string_view command);
[[nodiscard]] inline Reply ok() {
    return Reply::status("OK");
}

namespace commands {

Reply set(Execution&);
Reply setnx(Execution&);
Reply setex(Execution&);
Reply psetex(Execution&);
Reply get(Execution&);
Reply getdel(Execution&);
Reply getex(Execution&);
Reply getset(Execution&);
Reply mget(Execution&);
Reply mset(Execution&);
Reply append(Execution&);
Reply strlen(Execution&);
Reply incr(Execution&);
Reply decr(Execution&);
Reply incrby(Execution&);
Reply decrby(Execution&);

Reply del(Execution&);
Reply exists(Execution&);
Reply type(Execution&);
Reply expire(Execution&);
Reply pexpire(Execution&);
Reply expireat(Execution&);
Reply pexpireat(Execution&);
Reply persist(Execution&);
Reply ttl(Execution&);
Reply pttl(Execution&);
Reply expiretime(Execution&);
Reply pexpiretime(Execution&);
Reply keys(Execution&);
Reply dbsize(Execution&);
Reply flushall(Execution&);

Reply hset(Execution&);
Reply hmset(Execution&);
Reply hsetnx(Execution&);
Reply hget(Execution&);
Reply hmget(Execution&);
Reply hgetall(Execution&);
Reply hkeys(Execution&);
Reply hvals(Execution&);
Reply hdel(Execution&);
Reply hexists(Execution&);
Reply hlen(Execution&);
Reply hstrlen(Execution&);
Reply hincrby(Execution&);

Reply ping(Execution&);
Reply echo(Execution&);
Reply time(Execution&);
Reply select(Execution&);
Reply eval(Execution&);
Reply eval_ro(Execution&);
Reply evalsha(Execution&);
Reply evalsha_ro(Execution&);
Reply script(Execution&);

}  // namespace commands

// A time to live as SET, SETEX and GETEX take it, made absolute.
enum class ExpiryUnit : std::uint8_t { Seconds, Milliseconds };
enum class ExpiryBase : std::uint8_t { Now, Epoch };
struct ExpiryArgument {
    const std::string& text;
    ExpiryUnit unit = ExpiryUnit::Milliseconds;
    ExpiryBase base = ExpiryBase::Now;
};
// Milliseconds since the epoch, or the error.
struct Deadline {
    std::int64_t expires_ms = kNoExpiry;
    std::optional<Reply> error{};
};
[[nodiscard]] Deadline positive_deadline(const Execution& execution, const ExpiryArgument& argument,
                                         std::string_view command);

}  // namespace fencepost::model::redis
