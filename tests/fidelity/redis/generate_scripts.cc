#include <fmt/format.h>

#include <string_view>

#include "jobs/lease.h"
#include "model/redis/sha1.h"
#include "model/redis/text.h"
#include "tests/fidelity/redis/generate.h"

namespace fencepost::fidelity {
namespace {

using Words = std::vector<std::string>;

// As a Lua literal, byte by byte where need be.
std::string lua_literal(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7f || c == '\'' || c == '\\') {
            out += fmt::format("\\{:03d}", byte);
        } else {
            out += c;
        }
    }
    return out + "'";
}

const Words& odd_arguments() {
    static const Words kArguments = {
        "1",   "3.7",  "-0.5",         "1e15",     "1e17", "1e100",
        "0/0", "-1/0", "2^53",         "0.1",      "nil",  "true",
        "{}",  "''",   "tostring(12)", "1e14+0.5", "-3",   "100000000000000000000",
    };
    return kArguments;
}

// KEYS answers in no order, and of SELECT only some numbers are modelled: neither must get words of
// a script's making.
Words draw_command_for_script(Draw& draw) {
    for (;;) {
        Words words = draw_command(draw);
        const std::string name = model::redis::lower_case(words[0]);
        if (name != "keys" && name != "select") return words;
    }
}

std::string draw_call(Draw& draw) {
    std::string out = draw.one_in(4) ? "redis.pcall(" : "redis.call(";
    const Words words = draw_command_for_script(draw);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) out += ", ";
        if (i == 1 && draw.one_in(2)) {
            out += draw.one_in(4) ? "KEYS[2]" : "KEYS[1]";
        } else if (i > 1 && draw.one_in(6)) {
            out += draw.one_in(3) ? "ARGV[2]" : "ARGV[1]";
        } else if (i > 0 && draw.one_in(12)) {
            out += draw.of(odd_arguments());
        } else {
            out += lua_literal(words[i]);
        }
    }
    return out + ")";
}

std::string draw_value(Draw& draw) {
    static const Words kValues = {
        "r",
        "r",
        "r",
        "r",
        "type(r)",
        "tostring(tonumber(n))",
        "n",
        "s",
        "n + 1",
        "r == false",
        "not r",
        "1",
        "3.7",
        "-3.7",
        "true",
        "false",
        "nil",
        "'text'",
        "''",
        "0/0",
        "1/0",
        "-1/0",
        "1e18",
        "1e19",
        "-1e19",
        "1e100",
        "2^53",
        "0.1",
        "{}",
        "{1, 2, 3}",
        "{1, nil, 3}",
        "{1, 2.9, 'x', true, false}",
        "{true, false, {1, {2}}}",
        "{ok = 'fine'}",
        "{err = 'MY own'}",
        "{err = 'bare'}",
        "{ok = 'a\\r\\nb'}",
        "{err = 'a\\nb'}",
        "{ok = 1}",
        "{err = 1}",
        "{double = 3.5}",
        "{map = {}}",
        "{1, {ok = 'x'}, {err = 'E y'}}",
        "redis.error_reply('MY text')",
        "redis.error_reply('-MY text')",
        "redis.error_reply('bare')",
        "redis.error_reply('')",
        "redis.error_reply()",
        "redis.error_reply('-')",
        "redis.error_reply(1)",
        "redis.status_reply('GOOD')",
        "redis.status_reply('')",
        "redis.status_reply(1)",
        "redis.sha1hex('abc')",
        "redis.sha1hex(1)",
        "redis.sha1hex('')",
        "KEYS",
        "ARGV",
        "#KEYS",
        "#ARGV",
        "KEYS[1]",
        "ARGV[1]",
        "ARGV[9]",
        "tonumber(ARGV[1])",
        "tonumber('0x10')",
        "tonumber('abc')",
        "tonumber('10', 2)",
        "tostring(nil)",
        "tostring(true)",
        "tostring(1e15)",
        "tostring(0.1)",
        "tostring(-0)",
        "'a' .. 1",
        "1 .. ''",
        "10 / 4",
        "7 % 3",
        "-7 % 3",
        "2 ^ 10",
        "'10' + 5",
        "string.rep('ab', 3)",
        "string.format('%5.2f', 3.14159)",
        "string.format('%d', 3.7)",
        "string.format('%q', 'a\\nb')",
        "string.sub('hello', 2, -2)",
        "string.upper('abc')",
        "string.byte('a')",
        "string.char(0, 255)",
        "string.find('abc', 'b')",
        "{string.find('abc', '(b)(c)')}",
        "string.gsub('aaa', 'a', 'b', 2)",
        "#'abc'",
        "{pcall(error, 'x')}",
        "{pcall(redis.call, 'INCR', 'a')}",
        "{pcall(redis.call, 'FOO')}",
        "{pcall(error, {err = 'MY e'})}",
        "{xpcall(function() return 1 end, tostring)}",
        "select('#', unpack({1, 2}))",
        "math.floor(-3.5)",
        "math.max(1, 5, 3)",
        "math.huge",
        "math.pi",
        "math.fmod(7, 3)",
        "table.concat({1, 2, 3}, ',')",
        "table.concat({})",
        "unpack({4, 5})",
        "next({})",
        "type(redis)",
        "type(KEYS)",
        "type(nil)",
        "type(string.dump)",
        "redis.LOG_WARNING",
        "redis.REDIS_VERSION",
        "redis.REDIS_VERSION_NUM",
        "redis.replicate_commands()",
        "redis.set_repl(redis.REPL_ALL)",
        "tostring(redis.setresp(2))",
        "redis.call('TIME')[2]",
        "redis.log(redis.LOG_DEBUG, 'x')",
        "rawequal('a', 'a')",
        "rawget({5}, 1)",
        "getmetatable('').__index == string",
        "#redis.call('PING')",
        "redis.call('PING').ok",
        "{redis.pcall('FOO').err}",
        "type(redis.pcall('INCR', KEYS[1]))",
        "os.clock() >= 0",
    };
    return draw.of(kValues);
}

std::string draw_failure(Draw& draw) {
    static const Words kFailures = {
        "error('boom')",
        "error('boom', 0)",
        "error('boom', 2)",
        "error({err = 'MY boom'})",
        "error({err = 'bare'})",
        "error(nil)",
        "error()",
        "error(12)",
        "error(true)",
        "x = 1",
        "return x",
        "local y = nil; return y.z",
        "local y = 1; return y()",
        "return {} + 1",
        "return 'a' + 1",
        "return false .. 'x'",
        "return 1 < 'a'",
        "return {} < {}",
        "return #nil",
        "return nil .. 'x'",
        "string.rep()",
        "string.rep('x', -1)",
        "math.floor('x')",
        "math.random(0)",
        "tonumber()",
        "unpack()",
        "redis.call()",
        "redis.pcall()",
        "redis.call(nil)",
        "redis.call({})",
        "redis.call('SET', KEYS[1])",
        "redis.call('GET', KEYS[1], true)",
        "redis.call('EVAL', 'return 1', 0)",
        "redis.call('SCRIPT', 'FLUSH')",
        "redis.call('SCRIPT', 'LOAD', 'return 1')",
        "return redis.pcall('EVALSHA', 'x', 0)",
        "redis.sha1hex()",
        "redis.log()",
        "redis.log('x', 'y')",
        "redis.log(9, 'y')",
        "redis.setresp(4)",
        "redis.setresp()",
        "redis.set_repl()",
        "redis.set_repl(9)",
        "string.foo()",
        "redis.foo()",
        "redis.x = 1",
        "string.x = 1",
        "_G.x = 1",
        "setmetatable(_G, {})",
        "rawset(_G, 'x', 1)",
        "table.insert(string, 1)",
        "KEYS = {}",
        "function f() end",
        "loadstring('return 1 +')()",
        "return loadstring('return 41 + 1')()",
        "assert(false)",
        "assert(nil, 'failed')",
        "assert(false, {err = 'MY assert'})",
        "assert(1 == 1, 'no')",
        "dofile('x')",
        "print('x')",
        "require('x')",
        "os.time()",
        "io.open('x')",
        "coroutine.yield()",
        "return coroutine.wrap(function() return 7 end)()",
        "string.format('%d', 'x')",
        "string.format('%y', 1)",
        "('x'):bad()",
        "return ('x'):rep(3)",
        "tostring()",
        "ipairs()",
        "pairs(nil)",
        "for i = 1, 'x' do end",
        "table.concat({{}})",
        "table.concat({1, {}, 3})",
        "select(0)",
        "redis.breakpoint()",
        "return gcinfo",
        "return newproxy",
        "return getfenv",
        "return bit32",
        "return debug",
        "local t = setmetatable({}, {__index = 1}); return t.x",
        "error(redis.pcall('FOO'))",
        "local e = redis.pcall('INCR', KEYS[1]); if type(e) == 'table' then error(e) end",
    };
    return draw.of(kFailures);
}

// Operators on values of all types, most of which Lua refuses in words of its own. No text of a
// table: that shows an address.
std::string draw_expression(Draw& draw, int depth) {
    static const Words kLeaves = {"r",   "n",    "s",     "ARGV[1]", "KEYS[1]", "ARGV[9]",
                                  "1",   "2.5",  "0",     "-3",      "'7'",     "'x'",
                                  "nil", "true", "false", "{}",      "redis",   "math.pi"};
    static const Words kBinary = {"+",  "-",  "*", "/",  "%", "^",   "..",
                                  "==", "~=", "<", "<=", ">", "and", "or"};
    static const Words kUnary = {"not ",       "-",
                                 "#",          "tonumber",
                                 "type",       "math.floor",
                                 "string.len", "string.upper",
                                 "math.abs",   "string.reverse"};
    if (depth == 0 || draw.one_in(4)) return draw.of(kLeaves);
    if (draw.one_in(3)) {
        std::string out = draw.of(kUnary);
        return out + '(' + draw_expression(draw, depth - 1) + ')';
    }
    std::string out = '(' + draw_expression(draw, depth - 1) + ' ';
    out += draw.of(kBinary) + ' ';
    return out + draw_expression(draw, depth - 1) + ')';
}

// Two draws in one expression would come in an order of the compiler's choice.
std::string draw_branch(Draw& draw) {
    const std::string condition = draw_expression(draw, 2);
    return "if " + condition + " then " + draw_call(draw) + " end";
}

std::string draw_statement(Draw& draw) {
    switch (draw.below(16)) {
        case 9:
            return "n = " + draw_expression(draw, 2);
        case 10:
            return draw_branch(draw);
        case 0:
            return draw_failure(draw);
        case 1:
            return "if r then s = tostring(type(r)) end";
        case 2:
            return "for i = 1, 3 do r = " + draw_call(draw) + " end";
        case 3:
            return "if type(r) == 'table' and r.err then return r.err end";
        case 4:
            return "if not r then return 'none' end";
        case 5:
            return "n = n + (tonumber(r) or 10)";
        case 6:
            return "local done, e = pcall(function() return " + draw_call(draw) + " end); r = e";
        case 7:
            return "math.randomseed(" + fmt::format("{}", draw.between(-2, 5)) +
                   "); n = math.random(100)";
        case 8:
            return "if r == ARGV[1] then " + draw_call(draw) + " end";
        default:
            return "r = " + draw_call(draw);
    }
}

std::string draw_source(Draw& draw) {
    static const Words kWhole = {
        "return",
        "",
        "return 1",
        "retrun 1",
        "return (",
        "return 'a",
        "end",
        "return {1,2,3}",
        "return redis.call('GET', KEYS[1])",
        "#!lua\nreturn 1",
        "#!lua flags=no-writes\nreturn redis.call('SET', KEYS[1], 'x')",
        "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])",
        "#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], 'x')",
        "#!lua flags=bad\nreturn 1",
        "#!python\nreturn 1",
        "#!lua",
        "#!lua x=1\nreturn 1",
        "#!lua flags=allow-oom,no-writes\nreturn redis.call('DEL', 'a')",
        "#!lua flags=\nreturn 2",
        "#!\nreturn 1",
        "#!lua flags=allow-stale\nerror('line two')",
        "\nreturn x",
        "\x1bLua",
        "return '\xff'",
        "return redis.call('PEXPIRE', KEYS[1], ARGV[1])",
        "return redis.call('SET', KEYS[1], ARGV[1], 'PX', 5)",
        "redis.call('SET', KEYS[1], 'x', 'PX', 1) return redis.call('PTTL', KEYS[1])",
    };
    if (draw.one_in(6)) return draw.of(kWhole);
    std::string source = "local r, s, n = false, '', 0\n";
    for (std::size_t i = draw.below(4); i > 0; --i) source += draw_statement(draw) + "\n";
    source += "return ";
    return source + (draw.one_in(3) ? draw_expression(draw, 3) : draw_value(draw));
}

Words draw_lease_script(Draw& draw) {
    static const Words kOwners = {"alice", "bob",   "1:alice", "2:alice",
                                  "1:bob", "2:bob", "3:alice"};
    static const Words kTimes = {"1", "5", "10", "100", "1000", "0", "-1", "x"};
    static const Words kLeases = {"lease:a", "a"};
    static const Words kFences = {"fence:a", "b"};
    const std::size_t kind = draw.below(3);
    const jobs::redis::Script& script = kind == 0   ? jobs::lease_scripts::kAcquire
                                        : kind == 1 ? jobs::lease_scripts::kRenew
                                                    : jobs::lease_scripts::kRelease;
    const bool by_sha = draw.one_in(3);
    Words words = {by_sha ? "EVALSHA" : "EVAL",
                   by_sha ? model::redis::sha1_hex(script.source) : std::string(script.source)};
    words.emplace_back(kind == 0 ? "2" : "1");
    words.push_back(draw.of(kLeases));
    if (kind == 0) words.push_back(draw.of(kFences));
    words.push_back(draw.of(kOwners));
    if (kind != 2) words.push_back(draw.of(kTimes));
    return words;
}

Words draw_script_administration(Draw& draw) {
    static const std::vector<Words> kCommands = {
        {"SCRIPT", "FLUSH"},
        {"SCRIPT", "FLUSH", "SYNC"},
        {"SCRIPT", "FLUSH", "async"},
        {"SCRIPT", "FLUSH", "now"},
        {"SCRIPT", "FLUSH", "SYNC", "SYNC"},
        {"SCRIPT", "KILL"},
        {"SCRIPT", "KILL", "x"},
        {"SCRIPT", "LOAD"},
        {"SCRIPT", "LOAD", "return 1", "x"},
        {"SCRIPT", "EXISTS"},
        {"SCRIPT"},
        {"SCRIPT", "foo"},
        {"SCRIPT", "a\r\nb", "c"},
        {"EVAL", "return 1"},
        {"EVALSHA", "x"},
        {"EVALSHA", "x", "0"},
        {"EVALSHA", "x", "y"},
        {"EVAL_RO", "return redis.call('SET', KEYS[1], '1')", "1", "a"},
        {"EVALSHA_RO", "x", "0"},
    };
    const std::string sha = model::redis::sha1_hex("return 1");
    switch (draw.below(6)) {
        case 0:
            return {"SCRIPT", "LOAD", draw_source(draw)};
        case 3:
            return {"SCRIPT", "FLUSH"};
        case 1:
            return {"SCRIPT", "EXISTS", sha, "x",
                    model::redis::sha1_hex(jobs::lease_scripts::kRenew.source)};
        case 2:
            return {"EVALSHA", draw.one_in(3) ? sha : "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB",
                    "0"};
        default:
            return draw.of(kCommands);
    }
}

}  // namespace

Words draw_script_command(Draw& draw) {
    switch (draw.below(6)) {
        case 0:
            return draw_script_administration(draw);
        case 1:
        case 2:
            return draw_lease_script(draw);
        default:
            break;
    }
    static const Words kCounts = {"0", "-1", "9", "x", "", "01"};
    Words words = {draw.one_in(12) ? "EVAL_RO" : "EVAL", draw_source(draw)};
    const std::int64_t keys = draw.between(1, 2);
    words.push_back(draw.one_in(15) ? draw.of(kCounts) : fmt::format("{}", keys));
    for (std::int64_t i = 0; i < keys; ++i) words.push_back(draw_key(draw));
    for (std::size_t i = draw.below(3); i > 0; --i) words.push_back(draw_text(draw));
    return words;
}

}  // namespace fencepost::fidelity
