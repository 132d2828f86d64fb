#include "model/redis/lua_values.h"

#include <cmath>
#include <cstdio>

#include "model/redis/text.h"

namespace fencepost::model::redis {
namespace {

constexpr int kDeepest = 1000;

std::int64_t cut_to_integer(double number) {
    constexpr double kLimit = 9223372036854775808.0;
    const bool fits = number >= -kLimit && number < kLimit;
    return fits ? static_cast<std::int64_t>(number) : std::numeric_limits<std::int64_t>::min();
}

std::string text_at(lua_State* lua, int index) {
    std::size_t length = 0;
    const char* text = lua_tolstring(lua, index, &length);
    return {text, length};
}

// Leaves the field on the stack when it has that type.
bool push_field(lua_State* lua, const char* name, int type) {
    lua_pushstring(lua, name);
    lua_rawget(lua, -2);
    if (lua_type(lua, -1) == type) return true;
    lua_pop(lua, 1);
    return false;
}

Reply pop_value(lua_State* lua, int depth);

// The pairs or the keys of the table on top, in Lua's own order, which depends on its content alone
// as long as the keys are strings and numbers.
Reply list_table(lua_State* lua, bool with_values, int depth) {
    std::vector<Reply> listed;
    lua_pushnil(lua);
    while (lua_next(lua, -2) != 0) {
        lua_pushvalue(lua, -2);
        listed.push_back(pop_value(lua, depth + 1));
        if (with_values) {
            listed.push_back(pop_value(lua, depth + 1));
        } else {
            lua_pop(lua, 1);
        }
    }
    return Reply::array(std::move(listed));
}

std::optional<Reply> typed_reply(lua_State* lua, int depth) {
    if (auto error = string_field(lua, "err")) return Reply::error(one_line(*std::move(error)));
    if (auto status = string_field(lua, "ok")) {
        for (char& c : *status) {
            if (c == '\r' || c == '\n') c = ' ';
        }
        return Reply::status(*std::move(status));
    }
    if (push_field(lua, "double", LUA_TNUMBER)) {
        std::string text;
        spell_number(lua_tonumber(lua, -1), text);
        lua_pop(lua, 1);
        return Reply::bulk(std::move(text));
    }
    for (const bool with_values : {true, false}) {
        if (!push_field(lua, with_values ? "map" : "set", LUA_TTABLE)) continue;
        Reply listed = list_table(lua, with_values, depth);
        lua_pop(lua, 1);
        return listed;
    }
    if (auto number = string_field(lua, "big_number")) {
        return Reply::bulk(one_line(*std::move(number)));
    }
    if (push_field(lua, "verbatim_string", LUA_TTABLE)) {
        auto text = string_field(lua, "string");
        lua_pop(lua, 1);
        if (text) return Reply::bulk(*std::move(text));
    }
    return std::nullopt;
}

Reply table_reply(lua_State* lua, int depth) {
    if (depth > kDeepest || lua_checkstack(lua, LUA_MINSTACK) == 0) {
        return Reply::error("ERR reached lua stack limit");
    }
    if (auto typed = typed_reply(lua, depth)) return *std::move(typed);
    std::vector<Reply> elements;
    for (int i = 1;; ++i) {
        lua_rawgeti(lua, -1, i);
        if (lua_isnil(lua, -1)) break;
        elements.push_back(pop_value(lua, depth + 1));
    }
    lua_pop(lua, 1);
    return Reply::array(std::move(elements));
}

Reply pop_value(lua_State* lua, int depth) {
    Reply reply;
    switch (lua_type(lua, -1)) {
        case LUA_TSTRING:
            reply = Reply::bulk(text_at(lua, -1));
            break;
        case LUA_TBOOLEAN:
            if (lua_toboolean(lua, -1) != 0) reply = Reply::number(1);
            break;
        case LUA_TNUMBER:
            reply = Reply::number(cut_to_integer(lua_tonumber(lua, -1)));
            break;
        case LUA_TTABLE:
            reply = table_reply(lua, depth);
            break;
        default:
            break;
    }
    lua_pop(lua, 1);
    return reply;
}

}  // namespace

std::optional<std::string> string_field(lua_State* lua, const char* name) {
    if (!push_field(lua, name, LUA_TSTRING)) return std::nullopt;
    std::string text = text_at(lua, -1);
    lua_pop(lua, 1);
    return text;
}

void push_error(lua_State* lua, std::string_view message) {
    lua_createtable(lua, 0, 1);
    lua_pushlstring(lua, message.data(), message.size());
    lua_setfield(lua, -2, "err");
}

void push_reply(lua_State* lua, const Reply& reply) {
    luaL_checkstack(lua, LUA_MINSTACK, "a reply too deep");
    switch (reply.kind) {
        case Reply::Kind::Nil:
            lua_pushboolean(lua, 0);
            break;
        case Reply::Kind::Status:
            lua_createtable(lua, 0, 1);
            lua_pushlstring(lua, reply.text.data(), reply.text.size());
            lua_setfield(lua, -2, "ok");
            break;
        case Reply::Kind::Integer:
            lua_pushnumber(lua, static_cast<lua_Number>(reply.integer));
            break;
        case Reply::Kind::Bulk:
            lua_pushlstring(lua, reply.text.data(), reply.text.size());
            break;
        case Reply::Kind::Array: {
            lua_createtable(lua, static_cast<int>(reply.elements.size()), 0);
            int index = 0;
            for (const Reply& element : reply.elements) {
                push_reply(lua, element);
                lua_rawseti(lua, -2, ++index);
            }
            break;
        }
        case Reply::Kind::Error:
            push_error(lua, reply.text);
            break;
    }
}

Reply pop_reply(lua_State* lua) {
    return pop_value(lua, 0);
}

void spell_number(double number, std::string& text) {
    constexpr double kPlain = 1e17;  // From here on %.17g uses an exponent.
    if (std::trunc(number) == number && std::abs(number) < kPlain && number != 0) {
        text = to_text(static_cast<std::int64_t>(number));
        return;
    }
    char digits[64];
    const int length = std::snprintf(digits, sizeof digits, "%.17g", number);
    text.assign(digits, static_cast<std::size_t>(length));
}

}  // namespace fencepost::model::redis
