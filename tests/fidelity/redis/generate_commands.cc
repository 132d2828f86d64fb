#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>

#include "tests/fidelity/redis/generate.h"

namespace fencepost::fidelity {
namespace {

using namespace std::string_literals;

// What stands at a place of a command. Lists come at the end and have any length.
enum class Part : std::uint8_t {
    Key,
    Keys,
    KeysAndTexts,
    Text,
    Integer,
    Seconds,
    Milliseconds,
    EpochSeconds,
    EpochMilliseconds,
    Field,
    Fields,
    FieldsAndTexts,
    SetOptions,
    GetexOptions,
    ExpireOptions,
    Pattern,
    DatabaseIndex,
    FlushOption,
};

struct Template {
    std::string_view name;
    std::array<Part, 3> parts{};
    std::size_t count = 0;
    std::size_t weight = 1;
};

constexpr Template kTemplates[] = {
    {"APPEND", {Part::Key, Part::Text}, 2, 2},
    {"DBSIZE", {}, 0, 2},
    {"DECR", {Part::Key}, 1, 1},
    {"DECRBY", {Part::Key, Part::Integer}, 2, 2},
    {"DEL", {Part::Keys}, 1, 4},
    {"ECHO", {Part::Text}, 1, 1},
    {"EXISTS", {Part::Keys}, 1, 3},
    {"EXPIRE", {Part::Key, Part::Seconds, Part::ExpireOptions}, 3, 4},
    {"EXPIREAT", {Part::Key, Part::EpochSeconds, Part::ExpireOptions}, 3, 3},
    {"EXPIRETIME", {Part::Key}, 1, 1},
    {"FLUSHALL", {Part::FlushOption}, 1, 1},
    {"FLUSHDB", {Part::FlushOption}, 1, 1},
    {"GET", {Part::Key}, 1, 6},
    {"GETDEL", {Part::Key}, 1, 2},
    {"GETEX", {Part::Key, Part::GetexOptions}, 2, 5},
    {"GETSET", {Part::Key, Part::Text}, 2, 2},
    {"HDEL", {Part::Key, Part::Fields}, 2, 3},
    {"HEXISTS", {Part::Key, Part::Field}, 2, 1},
    {"HGET", {Part::Key, Part::Field}, 2, 2},
    {"HGETALL", {Part::Key}, 1, 2},
    {"HINCRBY", {Part::Key, Part::Field, Part::Integer}, 3, 3},
    {"HKEYS", {Part::Key}, 1, 1},
    {"HLEN", {Part::Key}, 1, 1},
    {"HMGET", {Part::Key, Part::Fields}, 2, 1},
    {"HMSET", {Part::Key, Part::FieldsAndTexts}, 2, 1},
    {"HSET", {Part::Key, Part::FieldsAndTexts}, 2, 6},
    {"HSETNX", {Part::Key, Part::Field, Part::Text}, 3, 2},
    {"HSTRLEN", {Part::Key, Part::Field}, 2, 1},
    {"HVALS", {Part::Key}, 1, 1},
    {"INCR", {Part::Key}, 1, 5},
    {"INCRBY", {Part::Key, Part::Integer}, 2, 4},
    {"KEYS", {Part::Pattern}, 1, 2},
    {"MGET", {Part::Keys}, 1, 2},
    {"MSET", {Part::KeysAndTexts}, 1, 2},
    {"PERSIST", {Part::Key}, 1, 2},
    {"PEXPIRE", {Part::Key, Part::Milliseconds, Part::ExpireOptions}, 3, 8},
    {"PEXPIREAT", {Part::Key, Part::EpochMilliseconds, Part::ExpireOptions}, 3, 6},
    {"PEXPIRETIME", {Part::Key}, 1, 2},
    {"PING", {}, 0, 1},
    {"PING", {Part::Text}, 1, 1},
    {"PSETEX", {Part::Key, Part::Milliseconds, Part::Text}, 3, 4},
    {"PTTL", {Part::Key}, 1, 5},
    {"SELECT", {Part::DatabaseIndex}, 1, 1},
    {"SET", {Part::Key, Part::Text, Part::SetOptions}, 3, 20},
    {"SETEX", {Part::Key, Part::Seconds, Part::Text}, 3, 2},
    {"SETNX", {Part::Key, Part::Text}, 2, 2},
    {"STRLEN", {Part::Key}, 1, 1},
    {"TIME", {}, 0, 1},
    {"TOUCH", {Part::Keys}, 1, 1},
    {"TTL", {Part::Key}, 1, 2},
    {"TYPE", {Part::Key}, 1, 2},
    {"UNLINK", {Part::Keys}, 1, 1},
};

constexpr std::size_t kTotalWeight = [] {
    std::size_t total = 0;
    for (const Template& one : kTemplates) total += one.weight;
    return total;
}();

const Template& draw_template(Draw& draw) {
    std::size_t left = draw.below(kTotalWeight);
    for (const Template& one : kTemplates) {
        if (left < one.weight) return one;
        left -= one.weight;
    }
    return kTemplates[0];
}

const std::vector<std::string>& nuisances() {
    static const std::vector<std::string> kTexts = {
        "",
        " ",
        "0",
        "-0",
        "+1",
        "007",
        "1 ",
        " 1",
        "1.5",
        "1e3",
        "0x10",
        "-1",
        "--1",
        "-",
        "abc",
        "\0"s,
        "a\0b"s,
        "a\r\nb",
        "\xff",
        "'\"",
        "\r\n",
        "x\ny",
        "NX",
        "nx",
        "PX",
        "GET",
        "KEEPTTL",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "9223372036854775",
        "9223372036854776",
        "9223370336854775807",
        "9223370336854775808",
        "-9223372036854775",
        "-9223372036854776",
        "18446744073709551616",
    };
    return kTexts;
}

std::string draw_integer(Draw& draw) {
    if (draw.one_in(6)) return draw.of(nuisances());
    return fmt::format("{}", draw.between(-3, 12));
}

// Close to one another, so that a step of the clock meets a deadline to the millisecond.
constexpr std::array<std::int64_t, 10> kMilliseconds = {1,  2,   3,    5,    10,
                                                        11, 100, 1000, 1001, 60'000};

std::string draw_milliseconds(Draw& draw) {
    if (draw.one_in(10)) return draw.of(nuisances());
    if (draw.one_in(10)) return fmt::format("{}", draw.between(-1000, 0));
    return fmt::format("{}", draw.of(kMilliseconds));
}

std::string draw_seconds(Draw& draw) {
    if (draw.one_in(10)) return draw.of(nuisances());
    return fmt::format("{}", draw.between(-1, 3));
}

std::string draw_epoch(Draw& draw, std::int64_t milliseconds_in_unit) {
    if (draw.one_in(12)) return draw.of(nuisances());
    if (draw.one_in(12)) return fmt::format("{}", draw.between(-2, 2));
    const std::int64_t offset = draw.one_in(2) ? draw.between(-3, 12) : draw.of(kMilliseconds);
    const std::int64_t moment = milliseconds_in_unit == 1
                                    ? kStartMs + offset
                                    : kStartMs / milliseconds_in_unit + offset / 4;
    return fmt::format("{}", moment);
}

std::string draw_field(Draw& draw) {
    static const std::vector<std::string> kFields = {"f", "g", "h", ""};
    return draw.one_in(12) ? draw_text(draw) : draw.of(kFields);
}

// In capitals, or not.
std::string draw_word(Draw& draw, std::string_view word) {
    std::string spelt(word);
    if (draw.one_in(4)) {
        for (char& c : spelt) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return spelt;
}

using Words = std::vector<std::string>;

void add_expiry_option(Draw& draw, Words& words) {
    switch (draw.below(6)) {
        case 0:
            words.push_back(draw_word(draw, "EX"));
            words.push_back(draw_seconds(draw));
            break;
        case 1:
            words.push_back(draw_word(draw, "EXAT"));
            words.push_back(draw_epoch(draw, 1000));
            break;
        case 2:
            words.push_back(draw_word(draw, "PXAT"));
            words.push_back(draw_epoch(draw, 1));
            break;
        default:
            words.push_back(draw_word(draw, "PX"));
            words.push_back(draw_milliseconds(draw));
    }
}

void add_options(Draw& draw, Words& words, std::initializer_list<std::string_view> plain,
                 bool with_expiry) {
    while (!draw.one_in(2)) {
        if (with_expiry && draw.one_in(2)) {
            add_expiry_option(draw, words);
        } else {
            words.push_back(draw_word(draw, *(plain.begin() + draw.below(plain.size()))));
        }
    }
    if (draw.one_in(25)) words.push_back(draw.of(nuisances()));
    if (draw.one_in(200)) words.emplace_back(130, 'q');  // longer than what an error quotes
}

void add_part(Draw& draw, Words& words, Part part) {
    switch (part) {
        case Part::Key:
            words.push_back(draw_key(draw));
            break;
        case Part::Keys:
            do {
                words.push_back(draw_key(draw));
            } while (draw.one_in(2));
            break;
        case Part::KeysAndTexts:
            do {
                words.push_back(draw_key(draw));
                words.push_back(draw_text(draw));
            } while (draw.one_in(2));
            break;
        case Part::Text:
            words.push_back(draw_text(draw));
            break;
        case Part::Integer:
            words.push_back(draw_integer(draw));
            break;
        case Part::Seconds:
            words.push_back(draw_seconds(draw));
            break;
        case Part::Milliseconds:
            words.push_back(draw_milliseconds(draw));
            break;
        case Part::EpochSeconds:
            words.push_back(draw_epoch(draw, 1000));
            break;
        case Part::EpochMilliseconds:
            words.push_back(draw_epoch(draw, 1));
            break;
        case Part::Field:
            words.push_back(draw_field(draw));
            break;
        case Part::Fields:
            do {
                words.push_back(draw_field(draw));
            } while (draw.one_in(2));
            break;
        case Part::FieldsAndTexts:
            do {
                words.push_back(draw_field(draw));
                words.push_back(draw_text(draw));
            } while (draw.one_in(2));
            break;
        case Part::SetOptions:
            add_options(draw, words, {"NX", "XX", "GET", "KEEPTTL"}, true);
            break;
        case Part::GetexOptions:
            add_options(draw, words, {"PERSIST"}, true);
            break;
        case Part::ExpireOptions:
            add_options(draw, words, {"NX", "XX", "GT", "LT"}, false);
            break;
        case Part::Pattern: {
            static const Words kPatterns = {"*",       "?",   "a*",  "[a-c]", "[^a]",
                                            "\\a",     "[b-", "",    "??",    "*:*",
                                            "lease:*", "[]",  "a?*", "[\\a]", "[c-a]"};
            words.push_back(draw.of(kPatterns));
            break;
        }
        case Part::DatabaseIndex: {
            static const Words kIndexes = {"0", "0", "-1", "16", "x", "", "00"};
            words.push_back(draw.of(kIndexes));
            break;
        }
        case Part::FlushOption:
            if (draw.one_in(2)) break;
            static const Words kOptions = {"SYNC", "ASYNC", "sync", "now", ""};
            words.push_back(draw.of(kOptions));
            break;
    }
}

// A word too many, too few, or another one.
void mangle(Draw& draw, Words& words) {
    switch (draw.below(3)) {
        case 0:
            words.pop_back();
            break;
        case 1:
            words.push_back(draw_text(draw));
            break;
        default:
            words[draw.below(words.size())] = draw_text(draw);
    }
    if (words.empty()) words.emplace_back("GET");
}

Words draw_foreign_command(Draw& draw) {
    // Commands that the model refuses are compared as far as it knows them: by their arity.
    static const std::vector<Words> kCommands = {
        {"FOO"},          {"foo", "a", "b"},    {"", "x"},      {"GETT", "a"},
        {"SE\r\nT", "a"}, {"HULLO\0X"s, "a"},   {"LPUSH", "a"}, {"ZADD", "a"},
        {"CONFIG"},       {"MULTI", "x"},       {"COPY", "a"},  {"RENAME", "a"},
        {"OBJECT"},       {"SETRANGE", "a"},    {"SUBSCRIBE"},  {"BLPOP", "a"},
        {"get|set", "a"}, {"script|load", "a"}, {"EXEC", "a"},  {"CLIENT"},
    };
    Words words = draw.of(kCommands);
    if (words[0] == "FOO") {
        for (std::size_t i = draw.below(5); i > 0; --i) words.push_back(draw.of(nuisances()));
    }
    if (draw.one_in(8)) words = {std::string(draw.below(200) + 1, 'x'), std::string(100, 'y')};
    return words;
}

}  // namespace

std::string draw_key(Draw& draw) {
    static const Words kKeys = {"a", "b", "c", "d"};
    static const Words kRareKeys = {"", "lease:a", "fence:a", "\0"s, "a\r\nb", "\xff\xfe"};
    return draw.one_in(20) ? draw.of(kRareKeys) : draw.of(kKeys);
}

std::string draw_text(Draw& draw) {
    static const Words kTexts = {"x", "y", "1", "2", "10", "world", "-5"};
    return draw.one_in(5) ? draw.of(nuisances()) : draw.of(kTexts);
}

Words draw_command(Draw& draw) {
    if (draw.one_in(40)) return draw_foreign_command(draw);
    const Template& chosen = draw_template(draw);
    Words words = {draw_word(draw, chosen.name)};
    for (std::size_t i = 0; i < chosen.count; ++i) add_part(draw, words, chosen.parts[i]);
    // Of SELECT the model knows the errors and database 0.
    if (draw.one_in(25) && chosen.name != "SELECT") mangle(draw, words);
    return words;
}

}  // namespace fencepost::fidelity
