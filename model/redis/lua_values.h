// Between replies and Lua values, by Redis's rules for RESP2.
#pragma once

#include <lua.hpp>

#include "model/redis/commands.h"

namespace fencepost::model::redis {

// Integer -> number, bulk -> string, array -> table, nil -> false, status -> {ok=…}, error ->
// {err=…}.
void push_reply(lua_State* lua, const Reply& reply);
void push_error(lua_State* lua, std::string_view message);

// Takes the value off the top: number -> integer (cut towards zero), string -> bulk, true -> 1,
// false and anything else -> nil, a table -> its err, ok, double, map, set, big_number or
// verbatim_string, or else its elements up to the first nil.
[[nodiscard]] Reply pop_reply(lua_State* lua);

// The string in a field of the table at the top, if it is one.
[[nodiscard]] std::optional<std::string> string_field(lua_State* lua, const char* name);

// As Redis spells a number that a script passes to a command: with up to 17 digits.
void spell_number(double number, std::string& text);

}  // namespace fencepost::model::redis
