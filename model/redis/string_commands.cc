#include <limits>

#include "model/redis/commands.h"
#include "model/redis/text.h"

namespace fencepost::model::redis {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMillisecondsInSecond = 1000;

Reply text_or_nil(const Entry* entry) {
    return entry == nullptr ? Reply::nil() : Reply::bulk(entry->second.text);
}

bool is_hash(const Entry* entry) {
    return entry != nullptr && entry->second.is_hash;
}

struct ExpiryOption {
    std::string_view word;
    ExpiryUnit unit;
    ExpiryBase base;
};

constexpr ExpiryOption kExpiryOptions[] = {
    {"ex", ExpiryUnit::Seconds, ExpiryBase::Now},
    {"px", ExpiryUnit::Milliseconds, ExpiryBase::Now},
    {"exat", ExpiryUnit::Seconds, ExpiryBase::Epoch},
    {"pxat", ExpiryUnit::Milliseconds, ExpiryBase::Epoch},
};

const ExpiryOption* find_expiry_option(std::string_view word) {
    for (const ExpiryOption& option : kExpiryOptions) {
        if (is_word(word, option.word)) return &option;
    }
    return nullptr;
}

struct Options {
    bool if_absent = false;
    bool if_present = false;
    bool get = false;
    bool keep_expiry = false;
    bool persist = false;
    const ExpiryOption* expiry = nullptr;
    const std::string* expiry_text = nullptr;
};

// Redis lets an option come twice, but not together with one that contradicts it.
bool take_set_option(Options& options, std::string_view word) {
    if (is_word(word, "nx") && !options.if_present) return options.if_absent = true;
    if (is_word(word, "xx") && !options.if_absent) return options.if_present = true;
    if (is_word(word, "get")) return options.get = true;
    if (is_word(word, "keepttl") && options.expiry == nullptr) return options.keep_expiry = true;
    return false;
}

bool take_getex_option(Options& options, std::string_view word) {
    return is_word(word, "persist") && options.expiry == nullptr && (options.persist = true);
}

std::optional<Options> parse_options(std::span<const std::string> words,
                                     bool (*take)(Options&, std::string_view)) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (take(options, words[i])) continue;
        const ExpiryOption* expiry = find_expiry_option(words[i]);
        const bool contradicts = options.keep_expiry || options.persist ||
                                 (options.expiry != nullptr && options.expiry != expiry);
        if (expiry == nullptr || contradicts || i + 1 == words.size()) return std::nullopt;
        options.expiry = expiry;
        options.expiry_text = &words[++i];
    }
    return options;
}

Deadline deadline_of(const Execution& execution, const Options& options, std::string_view command) {
    if (options.expiry == nullptr) return {};
    return positive_deadline(
        execution, {*options.expiry_text, options.expiry->unit, options.expiry->base}, command);
}

Reply set_with_expiry(Execution& execution, std::string_view command, ExpiryUnit unit) {
    const auto [expires_ms, error] =
        positive_deadline(execution, {execution.arguments[2], unit, ExpiryBase::Now}, command);
    if (error) return *error;
    Entry* entry = execution.keys.find(execution.key());
    execution.keys.set_text(entry, execution.key(), execution.arguments[3], expires_ms);
    return ok();
}

Reply add(Execution& execution, std::int64_t increment) {
    Entry* entry = execution.keys.find(execution.key());
    if (is_hash(entry)) return wrong_type();
    std::int64_t value = 0;
    if (entry != nullptr) {
        const auto parsed = parse_integer(entry->second.text);
        if (!parsed) return not_an_integer();
        value = *parsed;
    }
    if (__builtin_add_overflow(value, increment, &value) &&
        !execution.keys.has(RedisFlaw::CountersWrap)) {
        return Reply::error("ERR increment or decrement would overflow");
    }
    const std::int64_t expires_ms = entry == nullptr ? kNoExpiry : entry->second.expires_ms;
    execution.keys.set_text(entry, execution.key(), to_text(value), expires_ms);
    return Reply::number(value);
}

}  // namespace

Deadline positive_deadline(const Execution& execution, const ExpiryArgument& argument,
                           std::string_view command) {
    const auto amount = parse_integer(argument.text);
    if (!amount) return {.error = not_an_integer()};
    std::int64_t expires_ms = *amount;
    const bool in_seconds = argument.unit == ExpiryUnit::Seconds;
    if (expires_ms <= 0 || (in_seconds && expires_ms > kMax / kMillisecondsInSecond)) {
        return {.error = invalid_expire_time(command)};
    }
    if (in_seconds) expires_ms *= kMillisecondsInSecond;
    const std::int64_t base = argument.base == ExpiryBase::Now ? execution.now_ms() : 0;
    if (expires_ms > kMax - base) return {.error = invalid_expire_time(command)};
    return {.expires_ms = expires_ms + base, .error = std::nullopt};
}

namespace commands {

Reply set(Execution& execution) {
    const auto options = parse_options(execution.arguments.subspan(3), take_set_option);
    if (!options) return syntax_error();
    auto [deadline, error] = deadline_of(execution, *options, "set");
    if (error) return *error;
    if (execution.keys.has(RedisFlaw::PxIgnored) && options->expiry != nullptr &&
        options->expiry->word == "px") {
        deadline = kNoExpiry;
    }

    Entry* entry = execution.keys.find(execution.key());
    if (options->get && is_hash(entry)) return wrong_type();
    Reply answer = options->get ? text_or_nil(entry) : Reply::nil();
    const bool if_absent = options->if_absent && !execution.keys.has(RedisFlaw::NxIgnored);
    if ((if_absent && entry != nullptr) || (options->if_present && entry == nullptr)) return answer;
    const bool keeps =
        options->keep_expiry && entry != nullptr && !execution.keys.has(RedisFlaw::KeepTtlIgnored);
    execution.keys.set_text(entry, execution.key(), execution.arguments[2],
                            keeps ? entry->second.expires_ms : deadline);
    return options->get ? answer : ok();
}

Reply setnx(Execution& execution) {
    if (execution.keys.find(execution.key()) != nullptr) return Reply::number(0);
    execution.keys.set_text(nullptr, execution.key(), execution.arguments[2], kNoExpiry);
    return Reply::number(1);
}

Reply setex(Execution& execution) {
    return set_with_expiry(execution, "setex", ExpiryUnit::Seconds);
}

Reply psetex(Execution& execution) {
    return set_with_expiry(execution, "psetex", ExpiryUnit::Milliseconds);
}

Reply get(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    if (is_hash(entry) && !execution.keys.has(RedisFlaw::TypesUnchecked)) return wrong_type();
    return text_or_nil(entry);
}

Reply getdel(Execution& execution) {
    Entry* entry = execution.keys.find(execution.key());
    if (is_hash(entry)) return wrong_type();
    Reply answer = text_or_nil(entry);
    if (entry != nullptr) execution.keys.erase(*entry);
    return answer;
}

Reply getex(Execution& execution) {
    const auto options = parse_options(execution.arguments.subspan(2), take_getex_option);
    if (!options) return syntax_error();
    Entry* entry = execution.keys.find(execution.key());
    if (entry == nullptr) return Reply::nil();
    if (is_hash(entry)) return wrong_type();
    const auto [expires_ms, error] = deadline_of(execution, *options, "getex");
    if (error) return *error;

    Reply answer = text_or_nil(entry);
    if (options->expiry != nullptr && expires_ms <= execution.now_ms()) {
        execution.keys.erase(*entry);
    } else if (options->expiry != nullptr) {
        execution.keys.set_expiry(*entry, expires_ms);
    } else if (options->persist && entry->second.expires_ms != kNoExpiry) {
        execution.keys.set_expiry(*entry, kNoExpiry);
    }
    return answer;
}

Reply getset(Execution& execution) {
    Entry* entry = execution.keys.find(execution.key());
    if (is_hash(entry)) return wrong_type();
    Reply answer = text_or_nil(entry);
    execution.keys.set_text(entry, execution.key(), execution.arguments[2], kNoExpiry);
    return answer;
}

Reply mget(Execution& execution) {
    std::vector<Reply> values;
    for (const std::string& key : execution.arguments.subspan(1)) {
        const Entry* entry = execution.keys.find(key);
        values.push_back(is_hash(entry) ? Reply::nil() : text_or_nil(entry));
    }
    return Reply::array(std::move(values));
}

Reply mset(Execution& execution) {
    const auto pairs = execution.arguments.subspan(1);
    if (pairs.size() % 2 != 0) return wrong_arity("mset");
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
        Entry* entry = execution.keys.find(pairs[i]);
        execution.keys.set_text(entry, pairs[i], pairs[i + 1], kNoExpiry);
    }
    return ok();
}

Reply append(Execution& execution) {
    Entry* entry = execution.keys.find(execution.key());
    if (is_hash(entry)) return wrong_type();
    std::string text = entry == nullptr ? std::string{} : entry->second.text;
    text += execution.arguments[2];
    const std::int64_t expires_ms = entry == nullptr ? kNoExpiry : entry->second.expires_ms;
    execution.keys.set_text(entry, execution.key(), text, expires_ms);
    return Reply::number(static_cast<std::int64_t>(text.size()));
}

Reply strlen(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    if (is_hash(entry)) return wrong_type();
    return Reply::number(entry == nullptr ? 0
                                          : static_cast<std::int64_t>(entry->second.text.size()));
}

Reply incr(Execution& execution) {
    return add(execution, 1);
}

Reply decr(Execution& execution) {
    return add(execution, -1);
}

Reply incrby(Execution& execution) {
    const auto increment = parse_integer(execution.arguments[2]);
    return increment ? add(execution, *increment) : not_an_integer();
}

Reply decrby(Execution& execution) {
    const auto decrement = parse_integer(execution.arguments[2]);
    if (!decrement) return not_an_integer();
    if (*decrement == kMin) return Reply::error("ERR decrement would overflow");
    return add(execution, -*decrement);
}

}  // namespace commands
}  // namespace fencepost::model::redis
