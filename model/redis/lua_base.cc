#include "model/redis/lua_base.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "model/redis/lua_machine.h"
#include "model/redis/lua_sandbox.h"
#include "model/redis/lua_values.h"
#include "model/redis/text.h"

namespace fencepost::model::redis {
namespace {

constexpr char kIdentities = 0;  // its address is the key
constexpr lua_Integer kKilobytesInUse = 64;

void push_identities(lua_State* lua) {
    lua_pushlightuserdata(lua, const_cast<char*>(&kIdentities));
    lua_rawget(lua, LUA_REGISTRYINDEX);
}

// Objects are numbered as a script shows them. Real Lua shows their addresses.
lua_Integer identity_of(lua_State* lua, int index) {
    push_identities(lua);
    lua_pushvalue(lua, index);
    lua_rawget(lua, -2);
    if (lua_isnil(lua, -1)) {
        lua_pop(lua, 1);
        lua_pushvalue(lua, index);
        lua_pushinteger(lua, static_cast<lua_Integer>(LuaMachine::of(lua).next_identity()));
        lua_rawset(lua, -3);
        lua_pushvalue(lua, index);
        lua_rawget(lua, -2);
    }
    const lua_Integer identity = lua_tointeger(lua, -1);
    lua_pop(lua, 2);
    return identity;
}

int show(lua_State* lua) {
    luaL_checkany(lua, 1);
    if (luaL_callmeta(lua, 1, "__tostring") != 0) return 1;
    const std::string shown = describe_value(lua, 1);
    lua_pushlstring(lua, shown.data(), shown.size());
    return 1;
}

// A command's error reaches the caller of pcall as a string, not as the table that it is.
int protected_call(lua_State* lua) {
    const int arguments = lua_gettop(lua);
    lua_pushboolean(lua, 1);
    lua_insert(lua, 1);
    const bool failed = lua_pcall(lua, arguments - 1, LUA_MULTRET, 0) != 0;
    if (!failed) return lua_gettop(lua);
    lua_pushboolean(lua, 0);
    lua_insert(lua, -2);
    if (lua_istable(lua, -1)) {
        lua_getfield(lua, -1, "err");
        if (lua_isstring(lua, -1) != 0) {
            lua_replace(lua, -2);
        } else {
            lua_pop(lua, 1);
        }
    }
    return 2;
}

int random_number(lua_State* lua) {
    const double drawn = LuaMachine::of(lua).random().next();
    switch (lua_gettop(lua)) {
        case 0:
            lua_pushnumber(lua, drawn);
            return 1;
        case 1: {
            const int upper = luaL_checkint(lua, 1);
            luaL_argcheck(lua, 1 <= upper, 1, "interval is empty");
            lua_pushnumber(lua, std::floor(drawn * upper) + 1);
            return 1;
        }
        case 2: {
            const int lower = luaL_checkint(lua, 1);
            const int upper = luaL_checkint(lua, 2);
            luaL_argcheck(lua, lower <= upper, 2, "interval is empty");
            const double width = static_cast<double>(upper) - lower + 1;
            lua_pushnumber(lua, std::floor(drawn * width) + lower);
            return 1;
        }
        default:
            return luaL_error(lua, "wrong number of arguments");
    }
}

int seed_random(lua_State* lua) {
    LuaMachine::of(lua).random().seed(static_cast<std::int32_t>(luaL_checkinteger(lua, 1)));
    return 0;
}

// What the collector has done depends on the scripts before; no script may see it.
int collect_garbage(lua_State* lua) {
    const std::string_view option = luaL_optstring(lua, 1, "collect");
    lua_pushinteger(lua, option == "count" ? kKilobytesInUse : 0);
    return 1;
}

int load_string(lua_State* lua) {
    std::size_t length = 0;
    const char* text = luaL_checklstring(lua, 1, &length);
    const char* name = luaL_optstring(lua, 2, text);
    if (load_text(lua, {text, length}, name) == 0) return 1;
    lua_pushnil(lua);
    lua_insert(lua, -2);
    return 2;
}

void remove_global(lua_State* lua, const char* name) {
    lua_pushnil(lua);
    lua_setglobal(lua, name);
}

}  // namespace

std::string describe_value(lua_State* lua, int index) {
    switch (lua_type(lua, index)) {
        case LUA_TNUMBER:
        case LUA_TSTRING: {
            lua_pushvalue(lua, index);  // lua_tolstring would change a number in its place.
            std::size_t length = 0;
            const char* text = lua_tolstring(lua, -1, &length);
            std::string shown(text, length);
            lua_pop(lua, 1);
            return shown;
        }
        case LUA_TBOOLEAN:
            return lua_toboolean(lua, index) != 0 ? "true" : "false";
        case LUA_TNIL:
        case LUA_TNONE:
            return "nil";
        default: {
            char number[32];
            std::snprintf(number, sizeof number, ": 0x%08lx",
                          static_cast<unsigned long>(identity_of(lua, index)));
            return luaL_typename(lua, index) + std::string(number);
        }
    }
}

// Redis's Lua has no bytecode. A blank in front keeps ours from taking text for it.
int load_text(lua_State* lua, std::string_view text, const char* name) {
    if (!text.starts_with(LUA_SIGNATURE[0])) {
        return luaL_loadbuffer(lua, text.data(), text.size(), name);
    }
    const std::string padded = " " + std::string(text);
    return luaL_loadbuffer(lua, padded.data(), padded.size(), name);
}

void replace_base_functions(lua_State* lua) {
    lua_pushlightuserdata(lua, const_cast<char*>(&kIdentities));
    lua_newtable(lua);
    lua_createtable(lua, 0, 1);
    lua_pushliteral(lua, "k");
    lua_setfield(lua, -2, "__mode");
    lua_setmetatable(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);

    for (const char* name : {"dofile", "getfenv", "loadfile", "newproxy", "print", "setfenv"}) {
        remove_global(lua, name);
    }
    constexpr luaL_Reg kReplaced[] = {{"collectgarbage", collect_garbage},
                                      {"gcinfo", collect_garbage},
                                      {"loadstring", load_string},
                                      {"pcall", protected_call},
                                      {"tostring", show}};
    for (const luaL_Reg& function : kReplaced) lua_register(lua, function.name, function.func);

    lua_getglobal(lua, "math");
    lua_pushcfunction(lua, random_number);
    lua_setfield(lua, -2, "random");
    lua_pushcfunction(lua, seed_random);
    lua_setfield(lua, -2, "randomseed");
    lua_pop(lua, 1);
}

}  // namespace fencepost::model::redis
