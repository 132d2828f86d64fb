#include <limits>

#include "model/redis/commands.h"
#include "model/redis/glob.h"
#include "model/redis/text.h"

namespace fencepost::model::redis {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMillisecondsInSecond = 1000;
constexpr std::int64_t kNoSuchKey = -2;
constexpr std::int64_t kWithoutDeadline = -1;

struct ExpireOptions {
    bool if_none = false;
    bool if_any = false;
    bool if_later = false;
    bool if_earlier = false;
    std::optional<Reply> error{};
};

ExpireOptions parse_expire_options(std::span<const std::string> words) {
    ExpireOptions options;
    for (const std::string& word : words) {
        if (is_word(word, "nx")) {
            options.if_none = true;
        } else if (is_word(word, "xx")) {
            options.if_any = true;
        } else if (is_word(word, "gt")) {
            options.if_later = true;
        } else if (is_word(word, "lt")) {
            options.if_earlier = true;
        } else {
            options.error =
                Reply::error(one_line("ERR Unsupported option " + quoted_part(word, word.size())));
            return options;
        }
    }
    if (options.if_none && (options.if_any || options.if_later || options.if_earlier)) {
        options.error =
            Reply::error("ERR NX and XX, GT or LT options at the same time are not compatible");
    } else if (options.if_later && options.if_earlier) {
        options.error = Reply::error("ERR GT and LT options at the same time are not compatible");
    }
    return options;
}

// A key without a deadline counts as one with an infinitely late one.
bool applies(const ExpireOptions& options, std::int64_t expires_ms, std::int64_t current_ms) {
    const bool never = current_ms == kNoExpiry;
    if (options.if_none && !never) return false;
    if (options.if_any && never) return false;
    if (options.if_later && (never || expires_ms <= current_ms)) return false;
    return !(options.if_earlier && !never && expires_ms >= current_ms);
}

struct ExpireVariant {
    std::string_view command;
    ExpiryUnit unit;
    ExpiryBase base;
};

Reply expire_as(Execution& execution, const ExpireVariant& variant) {
    const ExpireOptions options = parse_expire_options(execution.arguments.subspan(3));
    if (options.error) return *options.error;
    const auto amount = parse_integer(execution.arguments[2]);
    if (!amount) return not_an_integer();
    std::int64_t expires_ms = *amount;
    if (variant.unit == ExpiryUnit::Seconds) {
        if (expires_ms > kMax / kMillisecondsInSecond ||
            expires_ms < kMin / kMillisecondsInSecond) {
            return invalid_expire_time(variant.command);
        }
        expires_ms *= kMillisecondsInSecond;
    }
    const std::int64_t base = variant.base == ExpiryBase::Now ? execution.now_ms() : 0;
    if (expires_ms > kMax - base) return invalid_expire_time(variant.command);
    expires_ms += base;

    Entry* entry = execution.keys.find(execution.key());
    if (entry == nullptr || !applies(options, expires_ms, entry->second.expires_ms)) {
        return Reply::number(0);
    }
    if (expires_ms <= execution.now_ms()) {
        execution.keys.erase(*entry);
    } else {
        execution.keys.set_expiry(*entry, expires_ms);
    }
    return Reply::number(1);
}

std::int64_t rounded_seconds(std::int64_t milliseconds) {
    return (milliseconds + kMillisecondsInSecond / 2) / kMillisecondsInSecond;
}

struct DeadlineQuery {
    ExpiryUnit unit;
    ExpiryBase base;
};

Reply deadline_as(Execution& execution, const DeadlineQuery& query) {
    const Entry* entry = execution.keys.find(execution.key());
    if (entry == nullptr) return Reply::number(kNoSuchKey);
    const std::int64_t expires_ms = entry->second.expires_ms;
    if (expires_ms == kNoExpiry) return Reply::number(kWithoutDeadline);
    const std::int64_t base = query.base == ExpiryBase::Now ? execution.now_ms() : 0;
    const std::int64_t milliseconds = std::max<std::int64_t>(0, expires_ms - base);
    return Reply::number(query.unit == ExpiryUnit::Seconds ? rounded_seconds(milliseconds)
                                                           : milliseconds);
}

}  // namespace

namespace commands {

Reply del(Execution& execution) {
    std::int64_t deleted = 0;
    for (const std::string& key : execution.arguments.subspan(1)) {
        Entry* entry = execution.keys.find(key);
        if (entry == nullptr) continue;
        if (execution.keys.has(RedisFlaw::DelLeavesTheDeadline)) {
            execution.keys.leave_deadline(*entry);
        }
        execution.keys.erase(*entry);
        ++deleted;
    }
    return Reply::number(deleted);
}

Reply exists(Execution& execution) {
    std::int64_t found = 0;
    for (const std::string& key : execution.arguments.subspan(1)) {
        if (execution.keys.find(key) != nullptr) ++found;
    }
    return Reply::number(found);
}

Reply type(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    if (entry == nullptr) return Reply::status("none");
    return Reply::status(entry->second.is_hash ? "hash" : "string");
}

Reply expire(Execution& execution) {
    return expire_as(execution, {"expire", ExpiryUnit::Seconds, ExpiryBase::Now});
}

Reply pexpire(Execution& execution) {
    return expire_as(execution, {"pexpire", ExpiryUnit::Milliseconds, ExpiryBase::Now});
}

Reply expireat(Execution& execution) {
    return expire_as(execution, {"expireat", ExpiryUnit::Seconds, ExpiryBase::Epoch});
}

Reply pexpireat(Execution& execution) {
    return expire_as(execution, {"pexpireat", ExpiryUnit::Milliseconds, ExpiryBase::Epoch});
}

Reply persist(Execution& execution) {
    Entry* entry = execution.keys.find(execution.key());
    if (entry == nullptr || entry->second.expires_ms == kNoExpiry) return Reply::number(0);
    execution.keys.set_expiry(*entry, kNoExpiry);
    return Reply::number(1);
}

Reply ttl(Execution& execution) {
    return deadline_as(execution, {ExpiryUnit::Seconds, ExpiryBase::Now});
}

Reply pttl(Execution& execution) {
    return deadline_as(execution, {ExpiryUnit::Milliseconds, ExpiryBase::Now});
}

Reply expiretime(Execution& execution) {
    return deadline_as(execution, {ExpiryUnit::Seconds, ExpiryBase::Epoch});
}

Reply pexpiretime(Execution& execution) {
    return deadline_as(execution, {ExpiryUnit::Milliseconds, ExpiryBase::Epoch});
}

// In the order of the names; Redis promises none. Leaves out what has expired and lets it lie.
Reply keys(Execution& execution) {
    std::vector<Reply> matching;
    for (std::string& key : execution.keys.sorted_keys()) {
        if (!matches_glob(key, execution.arguments[1])) continue;
        if (execution.keys.has_expired(key)) continue;
        matching.push_back(Reply::bulk(std::move(key)));
    }
    return Reply::array(std::move(matching));
}

Reply dbsize(Execution& execution) {
    return Reply::number(static_cast<std::int64_t>(execution.keys.size()));
}

Reply flushall(Execution& execution) {
    const auto options = execution.arguments.subspan(1);
    const bool understood =
        options.empty() ||
        (options.size() == 1 && (is_word(options[0], "sync") || is_word(options[0], "async")));
    if (!understood) return syntax_error();
    execution.keys.erase_all(KeyChange::Kind::Deleted);
    return ok();
}

}  // namespace commands
}  // namespace fencepost::model::redis
