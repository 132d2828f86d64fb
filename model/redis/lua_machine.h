// Lua 5.1 as Redis runs it: one state for all scripts, created once and kept.
//
// A script sees KEYS, ARGV, `redis` and Lua's own libraries without those that reach outside or
// would make a run differ from the next: no os, io, debug, require, loadfile; math.random is
// Redis's own generator; tostring of a table shows a number of its own in place of an address; the
// collector's counters are constant. Globals are read-only, so nothing passes from one script to
// another. Not there: cjson, cmsgpack, struct, bit.
//
// A script that runs for more than the limit of instructions ends as if someone had sent
// SCRIPT KILL. What it wrote stays, as with any script that fails.
#pragma once

#include <cstdint>
#include <exception>
#include <expected>
#include <lua.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/redis/commands.h"
#include "model/redis/lua_memory.h"
#include "model/redis/random.h"

namespace fencepost::model::redis {

class LuaMachine {
public:
    explicit LuaMachine(std::int64_t instruction_limit);
    LuaMachine(const LuaMachine&) = delete;
    LuaMachine& operator=(const LuaMachine&) = delete;

    // The function's number, or Lua's message.
    [[nodiscard]] std::expected<int, std::string> compile(std::string_view source);

    struct Invocation {
        int function;
        std::string_view sha;
        std::span<const std::string> keys;
        std::span<const std::string> arguments;
    };
    [[nodiscard]] Reply run(Execution& execution, const Invocation& invocation);

    void restart_random() { random_ = {}; }

    // The rest is for the functions that scripts call.
    [[nodiscard]] static LuaMachine& of(lua_State* lua);
    [[nodiscard]] Random& random() { return random_; }
    [[nodiscard]] std::int64_t next_identity() { return ++identities_; }
    // Runs one command of the script that is running. An exception that is none of Lua's is kept,
    // answered with an error, and thrown again when the script has ended.
    [[nodiscard]] Reply call(std::size_t argument_count) noexcept;
    [[nodiscard]] std::string& argument(std::size_t index);
    void end_endless_script();

private:
    struct Close {
        void operator()(lua_State* lua) const { lua_close(lua); }
    };

    static void* resize(void* machine, void* block, std::size_t old_size, std::size_t new_size);
    [[nodiscard]] Reply error_reply(std::string_view sha) const;

    LuaMemory memory_;
    std::unique_ptr<lua_State, Close> lua_;  // in memory_
    std::int64_t instruction_limit_;
    Random random_;
    std::int64_t identities_ = 0;
    Execution* execution_ = nullptr;
    std::exception_ptr escaped_;
    std::vector<std::string> arguments_;  // kept for their memory
};

}  // namespace fencepost::model::redis
