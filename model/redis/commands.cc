#include "model/redis/commands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "model/redis/text.h"

namespace fencepost::model::redis {
namespace {

using enum Command::Flag;

constexpr std::uint8_t kGrowingWrite = Write | Grows;

constexpr Command kCommands[] = {
    {"append", 3, kGrowingWrite, commands::append},
    {"dbsize", 1, Read, commands::dbsize},
    {"decr", 2, kGrowingWrite, commands::decr},
    {"decrby", 3, kGrowingWrite, commands::decrby},
    {"del", -2, Write, commands::del},
    {"echo", 2, Read, commands::echo},
    {"eval", -3, NotInScripts, commands::eval},
    {"eval_ro", -3, NotInScripts, commands::eval_ro},
    {"evalsha", -3, NotInScripts, commands::evalsha},
    {"evalsha_ro", -3, NotInScripts, commands::evalsha_ro},
    {"exists", -2, Read, commands::exists},
    {"expire", -3, Write, commands::expire},
    {"expireat", -3, Write, commands::expireat},
    {"expiretime", 2, Read, commands::expiretime},
    {"flushall", -1, Write, commands::flushall},
    {"flushdb", -1, Write, commands::flushall},
    {"get", 2, Read, commands::get},
    {"getdel", 2, Write, commands::getdel},
    {"getex", -2, Write, commands::getex},
    {"getset", 3, kGrowingWrite, commands::getset},
    {"hdel", -3, Write, commands::hdel},
    {"hexists", 3, Read, commands::hexists},
    {"hget", 3, Read, commands::hget},
    {"hgetall", 2, Read, commands::hgetall},
    {"hincrby", 4, kGrowingWrite, commands::hincrby},
    {"hkeys", 2, Read, commands::hkeys},
    {"hlen", 2, Read, commands::hlen},
    {"hmget", -3, Read, commands::hmget},
    {"hmset", -4, kGrowingWrite, commands::hmset},
    {"hset", -4, kGrowingWrite, commands::hset},
    {"hsetnx", 4, kGrowingWrite, commands::hsetnx},
    {"hstrlen", 3, Read, commands::hstrlen},
    {"hvals", 2, Read, commands::hvals},
    {"incr", 2, kGrowingWrite, commands::incr},
    {"incrby", 3, kGrowingWrite, commands::incrby},
    {"keys", 2, Read, commands::keys},
    {"mget", -2, Read, commands::mget},
    {"mset", -3, kGrowingWrite, commands::mset},
    {"persist", 2, Write, commands::persist},
    {"pexpire", -3, Write, commands::pexpire},
    {"pexpireat", -3, Write, commands::pexpireat},
    {"pexpiretime", 2, Read, commands::pexpiretime},
    {"ping", -1, Read, commands::ping},
    {"psetex", 4, kGrowingWrite, commands::psetex},
    {"pttl", 2, Read, commands::pttl},
    {"script", -2, NotInScripts, commands::script},
    {"select", 2, Read, commands::select},
    {"set", -3, kGrowingWrite, commands::set},
    {"setex", 4, kGrowingWrite, commands::setex},
    {"setnx", 3, kGrowingWrite, commands::setnx},
    {"strlen", 2, Read, commands::strlen},
    {"time", 1, Read, commands::time},
    {"touch", -2, Read, commands::exists},
    {"ttl", 2, Read, commands::ttl},
    {"type", 2, Read, commands::type},
    {"unlink", -2, Write, commands::del},
    // Known to Redis and not to this model. Answering "unknown command" would send people astray.
    {"auth", -2},
    {"bitcount", -2},
    {"bitop", -4},
    {"blpop", -3},
    {"brpop", -3},
    {"client", -2},
    {"cluster", -2},
    {"config", -2},
    {"copy", -3},
    {"discard", 1},
    {"exec", 1},
    {"failover", -1},
    {"fcall", -3},
    {"function", -2},
    {"getbit", 3},
    {"getrange", 4},
    {"hello", -1},
    {"hincrbyfloat", 4},
    {"hscan", -3},
    {"incrbyfloat", 3},
    {"info", -1},
    {"lindex", 3},
    {"llen", 2},
    {"lpop", -2},
    {"lpush", -3},
    {"lrange", 4},
    {"lrem", 4},
    {"msetnx", -3},
    {"multi", 1},
    {"object", -2},
    {"publish", 3},
    {"randomkey", 1},
    {"rename", 3},
    {"renamenx", 3},
    {"replicaof", 3},
    {"role", 1},
    {"rpop", -2},
    {"rpush", -3},
    {"sadd", -3},
    {"save", 1},
    {"scan", -2},
    {"scard", 2},
    {"setbit", 4},
    {"setrange", 4},
    {"shutdown", -1},
    {"sismember", 3},
    {"smembers", 2},
    {"spop", -2},
    {"srem", -3},
    {"subscribe", -2},
    {"unwatch", 1},
    {"wait", 3},
    {"watch", -2},
    {"xack", -4},
    {"xadd", -5},
    {"xread", -4},
    {"xreadgroup", -7},
    {"zadd", -4},
    {"zcard", 2},
    {"zincrby", 4},
    {"zpopmin", -2},
    {"zrange", -4},
    {"zrangebyscore", -4},
    {"zrem", -3},
    {"zscore", 3},
};

// Names fit into two machine words; a table with open addressing finds them in a few nanoseconds.
constexpr std::size_t kNameBytes = 16;
constexpr std::size_t kSlots = 512;

struct PackedName {
    std::array<std::uint64_t, 2> words{};
    bool operator==(const PackedName&) const = default;
};

PackedName pack(std::string_view name) {
    char bytes[kNameBytes] = {};
    for (std::size_t i = 0; i < name.size(); ++i) bytes[i] = to_lower(name[i]);
    PackedName packed;
    std::memcpy(packed.words.data(), bytes, kNameBytes);
    return packed;
}

std::size_t slot_of(const PackedName& name) {
    const std::uint64_t mixed =
        (name.words[0] ^ std::rotl(name.words[1], 29)) * 0x9E3779B97F4A7C15ULL;
    return mixed >> (64 - std::bit_width(kSlots - 1));
}

struct Slot {
    PackedName name;
    const Command* command = nullptr;
};

const std::array<Slot, kSlots>& command_slots() {
    static const std::array<Slot, kSlots> slots = [] {
        std::array<Slot, kSlots> filled{};
        for (const Command& command : kCommands) {
            const PackedName name = pack(command.name);
            std::size_t at = slot_of(name);
            while (filled[at].command != nullptr) at = (at + 1) % kSlots;
            filled[at] = {name, &command};
        }
        return filled;
    }();
    return slots;
}

Reply unknown_command(std::span<const std::string> arguments) {
    constexpr std::size_t kLimit = 128;
    std::string shown;
    for (std::size_t i = 1; i < arguments.size() && shown.size() < kLimit; ++i) {
        shown += "'" + quoted_part(arguments[i], kLimit - shown.size()) + "' ";
    }
    return Reply::error(one_line("ERR unknown command '" + quoted_part(arguments[0]) +
                                 "', with args beginning with: " + shown));
}

// The error for a command that cannot be run, whoever sent it and whatever state the server is in.
Reply refuse_call(const Execution& execution, const Command* command) {
    const bool known = command != nullptr;
    if (!execution.in_script) {
        // A transaction that is not there ends all the same.
        if (known && command->name == "exec") {
            return Reply::error("EXECABORT Transaction discarded because of: " +
                                wrong_arity("exec").text.substr(4));
        }
        return known ? wrong_arity(command->name) : unknown_command(execution.arguments);
    }
    if (!known) return Reply::error("ERR Unknown Redis command called from script");
    if (!command->accepts(execution.arguments.size())) {
        return Reply::error("ERR Wrong number of args calling Redis command from script");
    }
    return Reply::error("ERR This Redis command is not allowed from script");
}

}  // namespace

const Command* find_command(std::string_view name) {
    if (name.size() > kNameBytes) return nullptr;
    const PackedName packed = pack(name);
    const auto& slots = command_slots();
    for (std::size_t at = slot_of(packed); slots[at].command != nullptr; at = (at + 1) % kSlots) {
        if (slots[at].name == packed) return slots[at].command;
    }
    return nullptr;
}

std::optional<Reply> refuse_for_now(const Execution& execution, const Command& command) {
    const bool writes = (command.flags & Write) != 0;
    if (execution.in_script && execution.read_only && writes) {
        return Reply::error("ERR Write commands are not allowed from read-only scripts.");
    }
    switch (execution.refusal) {
        case Refusal::Nothing:
            return std::nullopt;
        case Refusal::Growth:
            if ((command.flags & Grows) == 0 || execution.has_written) return std::nullopt;
            return Reply::error("OOM command not allowed when used memory > 'maxmemory'.");
        case Refusal::Writes:
            if (!writes) return std::nullopt;
            return Reply::error("READONLY You can't write against a read only replica.");
        case Refusal::Everything:
            return Reply::error(
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
                "NOSAVE.");
        case Refusal::Loading:
            return Reply::error("LOADING Redis is loading the dataset in memory");
    }
    return std::nullopt;
}

Reply run_command(Execution& execution) {
    if (execution.arguments.empty()) return Reply::error("ERR Protocol error: no command");
    const Command* command = find_command(execution.arguments[0]);
    if (command == nullptr || !command->accepts(execution.arguments.size()) ||
        (execution.in_script && (command->flags & NotInScripts) != 0)) {
        return refuse_call(execution, command);
    }
    if (command->run == nullptr) {
        return Reply::error("ERR the simulated Redis does not implement '" +
                            std::string(command->name) + "'");
    }
    if (execution.refusal != Refusal::Nothing || execution.read_only) {
        if (auto error = refuse_for_now(execution, *command)) return *std::move(error);
    }
    if ((command->flags & Write) != 0) execution.has_written = true;
    return command->run(execution);
}

Reply wrong_arity(std::string_view command) {
    return Reply::error("ERR wrong number of arguments for '" + std::string(command) + "' command");
}

Reply wrong_type() {
    return Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");
}

Reply not_an_integer() {
    return Reply::error("ERR value is not an integer or out of range");
}

Reply syntax_error() {
    return Reply::error("ERR syntax error");
}

Reply invalid_expire_time(std::string_view command) {
    return Reply::error("ERR invalid expire time in '" + std::string(command) + "' command");
}

namespace commands {

Reply ping(Execution& execution) {
    switch (execution.arguments.size()) {
        case 1:
            return Reply::status("PONG");
        case 2:
            return Reply::bulk(execution.arguments[1]);
        default:
            return wrong_arity("ping");
    }
}

Reply echo(Execution& execution) {
    return Reply::bulk(execution.arguments[1]);
}

Reply time(Execution& execution) {
    constexpr std::int64_t kMicrosecondsInSecond = 1'000'000;
    std::vector<Reply> parts;
    parts.push_back(Reply::bulk(to_text(execution.now_us / kMicrosecondsInSecond)));
    parts.push_back(Reply::bulk(to_text(execution.now_us % kMicrosecondsInSecond)));
    return Reply::array(std::move(parts));
}

// The model has one database of the default sixteen.
Reply select(Execution& execution) {
    const auto index = parse_integer(execution.arguments[1]);
    if (!index) return not_an_integer();
    if (*index < 0 || *index > 15) return Reply::error("ERR DB index is out of range");
    if (*index != 0) return Reply::error("ERR the simulated Redis has database 0 only");
    return ok();
}

}  // namespace commands
}  // namespace fencepost::model::redis
