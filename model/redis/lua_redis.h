// The `redis` library of scripts.
#pragma once

#include <lua.hpp>

namespace fencepost::model::redis {

void push_redis_library(lua_State* lua);

}  // namespace fencepost::model::redis
