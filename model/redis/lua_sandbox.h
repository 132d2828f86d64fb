// What a script can reach.
#pragma once

#include <lua.hpp>
#include <string>

namespace fencepost::model::redis {

// Fills a new state. Functions loaded into it afterwards see the protected globals only.
void open_sandbox(lua_State* lua);

// Pushes the globals as they are behind their protection, for what no script can set.
void push_globals(lua_State* lua);

// Lua's tostring, without addresses.
[[nodiscard]] std::string describe_value(lua_State* lua, int index);

}  // namespace fencepost::model::redis
