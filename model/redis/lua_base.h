// Lua's basic functions as Redis changes them, and those that would let chance in.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace fencepost::model::redis {

// In the globals of a new state.
void replace_base_functions(lua_State* lua);

// As luaL_loadbuffer, but never as bytecode.
int load_text(lua_State* lua, std::string_view text, const char* name);

}  // namespace fencepost::model::redis
