#include "model/redis/lua_machine.h"

#include <limits>

#include "model/redis/lua_base.h"
#include "model/redis/lua_sandbox.h"
#include "model/redis/lua_values.h"
#include "model/redis/text.h"
#include "sim/require.h"

namespace fencepost::model::redis {
namespace {

// What always lies at the bottom of the stack, found there faster than anywhere else.
enum Bottom : int { kHandler = 1, kGlobals, kKeysName, kArgvName, kBottom = kArgvName };

// Makes any error a table {err, source, line}, as Redis's own handler does.
int describe_error(lua_State* lua) {
    if (!lua_istable(lua, 1)) {
        std::string message = "ERR ";
        message += describe_value(lua, 1);
        lua_settop(lua, 0);
        push_error(lua, message);
    }
    // Level 1 raised the error; when that is a function of ours, the script's line is one further.
    lua_Debug where{};
    for (int level = 1; level <= 2; ++level) {
        if (lua_getstack(lua, level, &where) == 0) return 1;
        lua_getinfo(lua, "Sl", &where);
        if (std::string_view(where.what) != "C") break;
    }
    lua_pushstring(lua, where.source);
    lua_setfield(lua, 1, "source");
    lua_pushinteger(lua, where.currentline);
    lua_setfield(lua, 1, "line");
    return 1;
}

void on_instruction_limit(lua_State* lua, lua_Debug*) {
    LuaMachine::of(lua).end_endless_script();
    // From now on every instruction ends here, so that no pcall keeps the script alive.
    lua_sethook(lua, on_instruction_limit, LUA_MASKCOUNT, 1);
    push_error(lua, "ERR Script killed by user with SCRIPT KILL...");
    lua_error(lua);
}

int fail_outside_script(lua_State* lua) {
    const char* message = lua_tostring(lua, -1);
    throw sim::BrokenInvariant(std::string("Lua failed outside of a script: ") +
                               (message == nullptr ? "no message" : message));
}

void set_global(lua_State* lua, Bottom name, std::span<const std::string> strings) {
    lua_pushvalue(lua, name);
    lua_createtable(lua, static_cast<int>(strings.size()), 0);
    int index = 0;
    for (const std::string& text : strings) {
        lua_pushlstring(lua, text.data(), text.size());
        lua_rawseti(lua, -2, ++index);
    }
    lua_rawset(lua, kGlobals);
}

}  // namespace

LuaMachine::LuaMachine(std::int64_t instruction_limit)
    : lua_(lua_newstate(resize, this)), instruction_limit_(instruction_limit) {
    sim::require(lua_ != nullptr, "Lua has memory for its state");
    sim::require(instruction_limit > 0 && instruction_limit <= std::numeric_limits<int>::max(),
                 "the instruction limit of scripts fits Lua's counter");
    lua_State* lua = lua_.get();
    lua_atpanic(lua, fail_outside_script);
    open_sandbox(lua);
    lua_settop(lua, 0);
    lua_pushcfunction(lua, describe_error);
    push_globals(lua);
    lua_pushliteral(lua, "KEYS");
    lua_pushliteral(lua, "ARGV");
    sim::require(lua_gettop(lua) == kBottom, "the bottom of the Lua stack is in order");
}

void* LuaMachine::resize(void* machine, void* block, std::size_t old_size, std::size_t new_size) {
    return static_cast<LuaMachine*>(machine)->memory_.resize(block, old_size, new_size);
}

// Its allocator is the one thing of ours that a state hands out at no cost.
LuaMachine& LuaMachine::of(lua_State* lua) {
    void* machine = nullptr;
    (void)lua_getallocf(lua, &machine);
    return *static_cast<LuaMachine*>(machine);
}

std::expected<int, std::string> LuaMachine::compile(std::string_view source) {
    lua_State* lua = lua_.get();
    if (load_text(lua, source, "@user_script") != 0) {
        std::string message = lua_tostring(lua, -1);
        lua_settop(lua, kBottom);
        return std::unexpected(std::move(message));
    }
    return luaL_ref(lua, LUA_REGISTRYINDEX);
}

Reply LuaMachine::run(Execution& execution, const Invocation& invocation) {
    lua_State* lua = lua_.get();
    execution_ = &execution;
    identities_ = 0;
    // Also sets the counter back: a script's limit does not depend on those before it.
    lua_sethook(lua, on_instruction_limit, LUA_MASKCOUNT, static_cast<int>(instruction_limit_));
    lua_rawgeti(lua, LUA_REGISTRYINDEX, invocation.function);
    set_global(lua, kKeysName, invocation.keys);
    set_global(lua, kArgvName, invocation.arguments);
    const int status = lua_pcall(lua, 0, 1, kHandler);
    execution_ = nullptr;
    Reply reply;
    if (!escaped_) reply = status == 0 ? pop_reply(lua) : error_reply(invocation.sha);
    lua_settop(lua, kBottom);
    if (escaped_) std::rethrow_exception(std::exchange(escaped_, nullptr));
    return reply;
}

// From what the handler left on the stack; or a bare message, when Lua had no memory left for it.
Reply LuaMachine::error_reply(std::string_view sha) const {
    lua_State* lua = lua_.get();
    if (!lua_istable(lua, -1)) {
        const char* message = lua_tostring(lua, -1);
        return Reply::error(std::string("ERR ") + (message == nullptr ? "unknown" : message));
    }
    // Redis 7.0.15 itself crashes when a script throws a table without `err`.
    std::string text = string_field(lua, "err").value_or("ERR unknown error");
    if (const auto source = string_field(lua, "source")) {
        lua_getfield(lua, -1, "line");
        text += " script: ";
        text += sha;
        text += ", on " + *source + ":" + to_text(lua_tointeger(lua, -1)) + ".";
        lua_pop(lua, 1);
    }
    return Reply::error(one_line(std::move(text)));
}

Reply LuaMachine::call(std::size_t argument_count) noexcept {
    try {
        if (escaped_ || execution_ == nullptr) return Reply::error("ERR the script has been ended");
        if (execution_->keys.has(RedisFlaw::TimePassesInScripts)) {
            execution_->keys.let_a_millisecond_pass();
            execution_->now_us += 1000;
        }
        Execution command = *execution_;
        command.arguments = std::span<const std::string>(arguments_).first(argument_count);
        command.in_script = true;
        Reply reply = run_command(command);
        execution_->has_written = command.has_written;
        return reply;
    } catch (...) {
        escaped_ = std::current_exception();
        return Reply::error("ERR the simulation has failed");
    }
}

std::string& LuaMachine::argument(std::size_t index) {
    if (index >= arguments_.size()) arguments_.resize(index + 1);
    return arguments_[index];
}

void LuaMachine::end_endless_script() {
    // The script's main thread, if it is a coroutine that went on and on.
    lua_sethook(lua_.get(), on_instruction_limit, LUA_MASKCOUNT, 1);
}

}  // namespace fencepost::model::redis
