#include "model/redis/lua_redis.h"

#include <string_view>

#include "model/redis/lua_machine.h"
#include "model/redis/lua_values.h"
#include "model/redis/sha1.h"

namespace fencepost::model::redis {
namespace {

enum class OnError : std::uint8_t { Raise, Return };

int fail(lua_State* lua, std::string_view message) {
    push_error(lua, message);
    return lua_error(lua);
}

int finish(lua_State* lua, OnError on_error) {
    return on_error == OnError::Raise ? lua_error(lua) : 1;
}

int call_command(lua_State* lua, OnError on_error) {
    LuaMachine& machine = LuaMachine::of(lua);
    const int count = lua_gettop(lua);
    if (count == 0) {
        push_error(lua, "ERR Please specify at least one argument for this redis lib call");
        return finish(lua, on_error);
    }
    for (int i = 1; i <= count; ++i) {
        std::string& argument = machine.argument(static_cast<std::size_t>(i - 1));
        const int type = lua_type(lua, i);
        if (type == LUA_TSTRING) {
            std::size_t length = 0;
            const char* text = lua_tolstring(lua, i, &length);
            argument.assign(text, length);
        } else if (type == LUA_TNUMBER) {
            spell_number(lua_tonumber(lua, i), argument);
        } else {
            push_error(lua, "ERR Lua redis lib command arguments must be strings or integers");
            return finish(lua, on_error);
        }
    }
    const Reply reply = machine.call(static_cast<std::size_t>(count));
    push_reply(lua, reply);
    return reply.is_error() ? finish(lua, on_error) : 1;
}

int call(lua_State* lua) {
    return call_command(lua, OnError::Raise);
}

int pcall(lua_State* lua) {
    return call_command(lua, OnError::Return);
}

int status_reply(lua_State* lua) {
    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
        push_error(lua, "ERR wrong number or type of arguments");
        return 1;
    }
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "ok");
    return 1;
}

// A text without a code gets ERR; one that begins with a hyphen loses it.
int error_reply(lua_State* lua) {
    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
        push_error(lua, "ERR wrong number or type of arguments");
        return 1;
    }
    std::size_t length = 0;
    const char* given = lua_tolstring(lua, 1, &length);
    std::string_view text(given, length);
    if (text.starts_with('-')) text.remove_prefix(1);
    const bool has_code = text.find(' ') != std::string_view::npos;
    push_error(lua, has_code ? std::string(text) : "ERR " + std::string(text));
    return 1;
}

int sha1hex(lua_State* lua) {
    if (lua_gettop(lua) != 1) return fail(lua, "ERR wrong number of arguments");
    std::size_t length = 0;
    const char* text = lua_tolstring(lua, 1, &length);
    const std::string digest = sha1_hex({text == nullptr ? "" : text, length});
    lua_pushlstring(lua, digest.data(), digest.size());
    return 1;
}

int log(lua_State* lua) {
    if (lua_gettop(lua) < 2) return fail(lua, "ERR redis.log() requires two arguments or more.");
    if (lua_isnumber(lua, 1) == 0) {
        return fail(lua, "ERR First argument must be a number (log level).");
    }
    const auto level = lua_tointeger(lua, 1);
    if (level < 0 || level > 3) return fail(lua, "ERR Invalid debug level.");
    return 0;
}

int setresp(lua_State* lua) {
    if (lua_gettop(lua) != 1) return fail(lua, "ERR redis.setresp() requires one argument.");
    const auto version = lua_tointeger(lua, 1);
    if (version != 2 && version != 3) return fail(lua, "ERR RESP version must be 2 or 3.");
    if (version == 3) return fail(lua, "ERR the simulated Redis speaks RESP2 only");
    return 0;
}

// Scripts are replicated by their effects, in the model always by all of them.
int replicate_commands(lua_State* lua) {
    lua_pushboolean(lua, 1);
    return 1;
}

int set_repl(lua_State* lua) {
    constexpr lua_Integer kAll = 3;
    if (lua_gettop(lua) != 1) return fail(lua, "ERR redis.set_repl() requires two arguments.");
    const auto flags = lua_tointeger(lua, 1);
    if (flags < 0 || flags > kAll) {
        return fail(lua,
                    "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or "
                    "REPL_NONE.");
    }
    if (flags != kAll) return fail(lua, "ERR the simulated Redis replicates every write");
    return 0;
}

int ignore(lua_State*) {
    return 0;
}

}  // namespace

void push_redis_library(lua_State* lua) {
    constexpr luaL_Reg kFunctions[] = {{"call", call},
                                       {"pcall", pcall},
                                       {"status_reply", status_reply},
                                       {"error_reply", error_reply},
                                       {"sha1hex", sha1hex},
                                       {"log", log},
                                       {"setresp", setresp},
                                       {"replicate_commands", replicate_commands},
                                       {"set_repl", set_repl},
                                       {"breakpoint", ignore},
                                       {"debug", ignore}};
    struct Constant {
        const char* name;
        lua_Integer value;
    };
    constexpr Constant kConstants[] = {{"LOG_DEBUG", 0},    {"LOG_VERBOSE", 1},
                                       {"LOG_NOTICE", 2},   {"LOG_WARNING", 3},
                                       {"REPL_NONE", 0},    {"REPL_AOF", 1},
                                       {"REPL_REPLICA", 2}, {"REPL_SLAVE", 2},
                                       {"REPL_ALL", 3},     {"REDIS_VERSION_NUM", 0x0007000F}};
    lua_newtable(lua);
    for (const luaL_Reg& function : kFunctions) {
        lua_pushcfunction(lua, function.func);
        lua_setfield(lua, -2, function.name);
    }
    for (const Constant& constant : kConstants) {
        lua_pushinteger(lua, constant.value);
        lua_setfield(lua, -2, constant.name);
    }
    lua_pushliteral(lua, "7.0.15");
    lua_setfield(lua, -2, "REDIS_VERSION");
}

}  // namespace fencepost::model::redis
