// The Redis port: commands and Lua scripts as the server gets them (Redis 7.0).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/ports/errors.h"

namespace fencepost::jobs::redis {

// A RESP2 reply. Errors keep Redis's own text, with its leading code: "WRONGTYPE Operation against
// …".
struct Reply {
    enum class Kind { Nil, Status, Integer, Bulk, Array, Error };
    Kind kind = Kind::Nil;
    std::int64_t integer = 0;
    std::string text;             // Status, Bulk, Error
    std::vector<Reply> elements;  // Array

    static Reply nil() { return {}; }
    static Reply status(std::string text) { return {Kind::Status, 0, std::move(text), {}}; }
    static Reply number(std::int64_t value) { return {Kind::Integer, value, {}, {}}; }
    static Reply bulk(std::string text) { return {Kind::Bulk, 0, std::move(text), {}}; }
    static Reply error(std::string text) { return {Kind::Error, 0, std::move(text), {}}; }
    static Reply array(std::vector<Reply> elements) {
        return {Kind::Array, 0, {}, std::move(elements)};
    }

    [[nodiscard]] bool is_nil() const { return kind == Kind::Nil; }
    [[nodiscard]] bool is_error() const { return kind == Kind::Error; }
    bool operator==(const Reply&) const = default;
};

// The server answered with an error reply. It had no effect, unless it came from within a script
// that had written before (Redis does not undo a script's writes).
class ServerError : public AttemptError {
public:
    explicit ServerError(const std::string& text) : AttemptError(text, Effect::Unknown) {}
};

// A Lua 5.1 script for EVAL. `name` is for people and fault addresses; `source` is what the server
// gets.
struct Script {
    std::string_view name;
    std::string_view source;
};

class Client {
public:
    virtual ~Client() = default;

    // Sends one command and returns its reply, error replies included. May suspend.
    // Throws ConnectionLost: Effect::None when it was never sent, Effect::Unknown when no answer
    // came. The next call opens a new connection.
    virtual Reply command(std::span<const std::string> arguments) = 0;
    Reply command(std::initializer_list<std::string> arguments) {
        return command(std::span<const std::string>{arguments.begin(), arguments.size()});
    }

    // EVALSHA, and EVAL when the server does not know the script. Same errors.
    virtual Reply eval(const Script& script, std::span<const std::string> keys,
                       std::span<const std::string> arguments) = 0;
    Reply eval(const Script& script, std::initializer_list<std::string> keys,
               std::initializer_list<std::string> arguments) {
        return eval(script, std::span<const std::string>{keys.begin(), keys.size()},
                    std::span<const std::string>{arguments.begin(), arguments.size()});
    }
};

}  // namespace fencepost::jobs::redis
