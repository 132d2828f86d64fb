// Lua's basic functions as Redis changes them, and those that would let chance in.
#pragma once

#include <lua.hpp>

namespace fencepost::model::redis {

// In the globals of a new state.
void replace_base_functions(lua_State* lua);

}  // namespace fencepost::model::redis
