// How types stand in a scenario file: Form<T>::read makes a T of a value, or throws
// ScenarioFileError; Form<T>::write is its inverse.
//
// A structure is described once, as a table of its keys (Keys<T>), from which it is read and
// written, its unknown keys are found, and what is known is listed.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/files/located_json.h"
#include "scenarios/nearest.h"
#include "sim/time.h"

namespace fencepost::scenarios {

template <typename T>
struct Form;

// Of an enumeration: every value with its word, as
// static constexpr std::array kAll{std::pair{"clustered", Mode::Clustered}, …}.
template <typename E>
struct Words;

// Of a structure: static constexpr std::tuple kAll{key("name", &T::name), …}, and static T blank()
// where what a file leaves out is not what T{} has.
template <typename T>
struct Keys;

template <typename T>
T blank() {
    if constexpr (requires { Keys<T>::blank(); }) {
        return Keys<T>::blank();
    } else {
        return T{};
    }
}

enum class Presence : std::uint8_t {
    Required,  // a file must have it
    Usual,     // it has a default, and is written down all the same
    Rare,      // written down only where it is not its default
};

template <typename Owner, typename Member>
struct Key {
    std::string_view name;
    Member Owner::*member;
    Presence presence;
    // What is wrong with a value that can be read; empty: nothing. Null: any will do.
    std::string_view (*complaint)(const Member&);
};

template <typename Owner, typename Member>
constexpr Key<Owner, Member> key(std::string_view name, Member Owner::*member,
                                 Presence presence = Presence::Rare,
                                 std::string_view (*complaint)(const Member&) = nullptr) {
    return {name, member, presence, complaint};
}

template <>
struct Form<std::string> {
    static std::string read(const FileValue& value) { return value.text(); }
    static Json write(const std::string& text) { return text; }
};

template <>
struct Form<bool> {
    static bool read(const FileValue& value) { return value.flag(); }
    static Json write(bool flag) { return flag; }
};

template <std::integral T>
struct Form<T> {
    static T read(const FileValue& value) {
        constexpr auto kMost = static_cast<std::int64_t>(
            std::min<std::uint64_t>(std::numeric_limits<T>::max(), INT64_MAX));
        constexpr auto kLeast = static_cast<std::int64_t>(std::numeric_limits<T>::min());
        return static_cast<T>(value.number(kLeast, kMost));
    }
    static Json write(T number) { return number; }
};

template <>
struct Form<sim::Duration> {
    static sim::Duration read(const FileValue& value);  // "1m30s"
    static Json write(sim::Duration duration) { return sim::to_text(duration); }
};

template <>
struct Form<sim::Time> {
    static sim::Time read(const FileValue& value);  // "2026-03-02T18:00:00Z"
    static Json write(sim::Time time) { return sim::to_text(time); }
};

template <typename T>
struct Form<std::vector<T>> {
    static std::vector<T> read(const FileValue& value) {
        std::vector<T> all;
        for (const FileValue& element : value.elements()) all.push_back(Form<T>::read(element));
        return all;
    }
    static Json write(const std::vector<T>& all) {
        Json list = Json::array();
        for (const T& each : all) list.push_back(Form<T>::write(each));
        return list;
    }
};

// Fails with `word` as unknown, what was meant, and all that are known.
[[noreturn]] void fail_as_unknown(const FileValue& value, std::string_view what,
                                  const std::string& word, const std::vector<std::string>& known);

template <typename E>
    requires requires { Words<E>::kAll; }
struct Form<E> {
    static E read(const FileValue& value) {
        const std::string word = value.text();
        std::vector<std::string> known;
        for (const auto& [name, each] : Words<E>::kAll) {
            if (name == word) return each;
            known.emplace_back(name);
        }
        fail_as_unknown(value, Words<E>::kWhat, word, known);
    }
    static Json write(E value) {
        for (const auto& [name, each] : Words<E>::kAll) {
            if (each == value) return name;
        }
        return nullptr;
    }
};

template <typename T>
void for_each_key(const auto& visit) {
    std::apply([&](const auto&... keys) { (visit(keys), ...); }, Keys<T>::kAll);
}

template <typename T>
std::vector<std::string> known_keys() {
    std::vector<std::string> names;
    for_each_key<T>([&](const auto& each) { names.emplace_back(each.name); });
    return names;
}

// Keys beside those of the table, which the form of the whole reads by itself.
template <typename T>
inline constexpr std::array<std::string_view, 0> kFurtherKeys{};

template <typename T>
    requires requires { Keys<T>::kAll; }
struct Form<T> {
    static T read(const FileValue& value) {
        T whole = blank<T>();
        read_into(value, whole);
        return whole;
    }

    // Members whose keys are not there keep what they are.
    static void read_into(const FileValue& value, T& whole) {
        std::vector<std::string> known = known_keys<T>();
        for (const std::string_view further : kFurtherKeys<T>) known.emplace_back(further);
        for (const auto& [name, member] : value.members()) {
            if (std::ranges::find(known, name) != known.end()) continue;
            member.fail_at_key(fmt::format("unknown key{}; known here are {}",
                                           did_you_mean(name, known), fmt::join(known, ", ")));
        }
        for_each_key<T>([&](const auto& each) { read_key(value, each, whole); });
    }

    static Json write(const T& whole) {
        static const T kUsual = blank<T>();
        Json object = Json::object();
        for_each_key<T>([&](const auto& each) {
            const bool rare = each.presence == Presence::Rare;
            if (rare && whole.*each.member == kUsual.*each.member) return;
            using Member = std::remove_cvref_t<decltype(whole.*each.member)>;
            object[std::string(each.name)] = Form<Member>::write(whole.*each.member);
        });
        return object;
    }

private:
    template <typename Member>
    static void read_key(const FileValue& value, const Key<T, Member>& each, T& whole) {
        const auto found = value.find(each.name);
        if (!found) {
            if (each.presence != Presence::Required) return;
            value.fail(fmt::format("\"{}\" is missing", each.name));
        }
        Member member = Form<Member>::read(*found);
        if (each.complaint != nullptr) {
            const std::string_view wrong = each.complaint(member);
            if (!wrong.empty()) found->fail(std::string(wrong));
        }
        whole.*each.member = std::move(member);
    }
};

}  // namespace fencepost::scenarios
