#include "model/redis/lua_sandbox.h"

#include <string_view>

#include "model/redis/lua_base.h"
#include "model/redis/lua_redis.h"

namespace fencepost::model::redis {
namespace {

// Their addresses are keys of the registry and of metatables.
constexpr char kGlobals = 0;
constexpr char kProtected = 0;

void* key(const char& address) {
    return const_cast<char*>(&address);
}

// Pushes the table behind a protected one. Otherwise pushes nothing and returns false.
bool push_protected(lua_State* lua, int index) {
    if (!lua_istable(lua, index) || lua_getmetatable(lua, index) == 0) return false;
    lua_pushlightuserdata(lua, key(kProtected));
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
    if (lua_istable(lua, -1)) return true;
    lua_pop(lua, 1);
    return false;
}

int refuse_change(lua_State* lua) {
    return luaL_error(lua, "Attempt to modify a readonly table");
}

// A library that real Redis has must not look like a misspelt name.
const char* reason_for_absence(std::string_view name) {
    for (const std::string_view library : {"bit", "cjson", "cmsgpack", "struct"}) {
        if (name == library) return "the simulated Redis does not implement the library '";
    }
    return "Script attempted to access nonexistent global variable '";
}

int refuse_unknown_global(lua_State* lua) {
    const bool is_name = lua_type(lua, 2) == LUA_TSTRING;
    luaL_where(lua, 1);
    lua_pushstring(lua, reason_for_absence(is_name ? lua_tostring(lua, 2) : ""));
    lua_pushstring(lua, is_name ? lua_tostring(lua, 2) : luaL_typename(lua, 2));
    lua_pushliteral(lua, "'");
    lua_concat(lua, 4);
    return lua_error(lua);
}

// The function in the upvalue, for all but protected tables.
int unless_protected(lua_State* lua) {
    if (push_protected(lua, 1)) {
        lua_pushliteral(lua, "Attempt to modify a readonly table");
        return lua_error(lua);
    }
    return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

int step_through(lua_State* lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 2);
    if (lua_next(lua, 1) != 0) return 2;
    lua_pushnil(lua);
    return 1;
}

int list_pairs(lua_State* lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_pushvalue(lua, lua_upvalueindex(1));
    if (!push_protected(lua, 1)) lua_pushvalue(lua, 1);
    lua_pushnil(lua);
    return 3;
}

// Replaces the table on top by an empty one through which it can be read and not written. Lua 5.1
// has no read-only tables.
void protect_top(lua_State* lua) {
    const int table = lua_gettop(lua);
    lua_newtable(lua);
    lua_createtable(lua, 0, 4);
    lua_pushlightuserdata(lua, key(kProtected));
    lua_pushvalue(lua, table);
    lua_rawset(lua, -3);
    lua_pushvalue(lua, table);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_change);
    lua_setfield(lua, -2, "__newindex");
    // What getmetatable shows is as unchangeable, and no way to the table itself.
    lua_newtable(lua);
    lua_createtable(lua, 0, 2);
    lua_pushlightuserdata(lua, key(kProtected));
    lua_newtable(lua);
    lua_rawset(lua, -3);
    lua_pushcfunction(lua, refuse_change);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, -2);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
    lua_remove(lua, table);
}

void open_library(lua_State* lua, lua_CFunction open, const char* name) {
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 0);
}

// In the table on top.
void guard(lua_State* lua, const char* name) {
    lua_getfield(lua, -1, name);
    lua_pushcclosure(lua, unless_protected, 1);
    lua_setfield(lua, -2, name);
}

// Strings lead to the string library too, by their metatable.
void protect_string_metatable(lua_State* lua) {
    lua_pushliteral(lua, "");
    lua_getmetatable(lua, -1);
    lua_createtable(lua, 0, 1);
    lua_getglobal(lua, "string");
    lua_setfield(lua, -2, "__index");
    protect_top(lua);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 2);
}

void protect_library(lua_State* lua, const char* name) {
    lua_getglobal(lua, name);
    protect_top(lua);
    lua_setglobal(lua, name);
}

}  // namespace

void open_sandbox(lua_State* lua) {
    open_library(lua, luaopen_base, "");
    open_library(lua, luaopen_table, LUA_TABLIBNAME);
    open_library(lua, luaopen_string, LUA_STRLIBNAME);
    open_library(lua, luaopen_math, LUA_MATHLIBNAME);

    replace_base_functions(lua);
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    guard(lua, "rawset");
    guard(lua, "setmetatable");
    lua_pushcfunction(lua, step_through);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, "next");
    lua_pushcclosure(lua, list_pairs, 1);
    lua_setfield(lua, -2, "pairs");
    lua_getfield(lua, -1, "table");
    for (const char* name : {"insert", "remove", "sort", "setn"}) guard(lua, name);
    lua_pop(lua, 2);

    push_redis_library(lua);
    lua_setglobal(lua, "redis");
    for (const char* name : {"table", "math", "coroutine", "redis"}) protect_library(lua, name);
    protect_library(lua, "string");
    protect_string_metatable(lua);

    // A name that is not in the globals is an error.
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    lua_createtable(lua, 0, 1);
    lua_pushcfunction(lua, refuse_unknown_global);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2);

    lua_pushlightuserdata(lua, key(kGlobals));
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    lua_rawset(lua, LUA_REGISTRYINDEX);
    lua_pushvalue(lua, -1);
    protect_top(lua);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, "_G");
    lua_replace(lua, LUA_GLOBALSINDEX);
    lua_pop(lua, 1);
}

void push_globals(lua_State* lua) {
    lua_pushlightuserdata(lua, key(kGlobals));
    lua_rawget(lua, LUA_REGISTRYINDEX);
}

}  // namespace fencepost::model::redis
