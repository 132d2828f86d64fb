#include "model/redis/keyspace.h"

#include <algorithm>
#include <map>

#include "sim/require.h"

namespace fencepost::model::redis {
namespace {

constexpr std::size_t kSmallLog = 1024;

std::optional<std::string_view> text_of(const Value& value) {
    if (value.is_hash) return std::nullopt;
    return value.text;
}

std::optional<std::int64_t> deadline(std::int64_t expires_ms) {
    if (expires_ms == kNoExpiry) return std::nullopt;
    return expires_ms;
}

}  // namespace

const Field* find_field(const Value& value, std::string_view name) {
    for (const Field& field : value.fields) {
        if (field.name == name) return &field;
    }
    return nullptr;
}

void Keyspace::clear() {
    entries_.clear();
    logged_ = 0;
    log_limit_ = kSmallLog;
    change_ = {};
    left_ = {{}, kNoExpiry};
}

Entry* Keyspace::find(const std::string& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    Entry& entry = *found;
    if (!is_past(entry.second)) return &entry;
    if (instance_ != RedisInstance::Replica) erase(entry, KeyChange::Kind::Expired);
    return nullptr;
}

bool Keyspace::has_expired(const std::string& key) const {
    const auto found = entries_.find(key);
    return found != entries_.end() && is_past(found->second);
}

Keyspace::LogRecord& Keyspace::next_log_record(const std::string& key, bool existed) {
    sim::require(logged_ == 0 || log_[logged_ - 1].elapsed <= change_.elapsed,
                 "the changes of a Redis come in order of time");
    if (logged_ == log_.size()) log_.emplace_back();
    LogRecord& record = log_[logged_++];
    record.elapsed = change_.elapsed;
    record.key = key;
    record.existed = existed;
    return record;
}

void Keyspace::report(KeyChange change, std::string_view key, std::int64_t expiry_before,
                      std::int64_t expiry_after) const {
    change.instance = instance_;
    change.client = change_.client;
    change.key = key;
    change.expiry_before_ms = deadline(expiry_before);
    change.expiry_after_ms = deadline(expiry_after);
    (*observer_)(change);
}

void Keyspace::set_text(Entry* entry, const std::string& key, std::string_view text,
                        std::int64_t expires_ms) {
    if (has(RedisFlaw::DelLeavesTheDeadline) && expires_ms == kNoExpiry && key == left_.first) {
        expires_ms = left_.second;
    }
    LogRecord& record = next_log_record(key, entry != nullptr);
    if (entry == nullptr) {
        entry = &*entries_.try_emplace(key).first;
    } else {
        // Swapped, not copied: the record's old buffers serve the new value.
        std::swap(record.before, entry->second);
    }
    Value& value = entry->second;
    value.is_hash = false;
    value.text = text;
    value.fields.clear();
    value.expires_ms = expires_ms;
    if (!is_observed()) return;
    KeyChange change{.kind = KeyChange::Kind::Set};
    if (record.existed) change.before = text_of(record.before);
    change.after = value.text;
    report(change, key, record.existed ? record.before.expires_ms : kNoExpiry, expires_ms);
}

void Keyspace::set_expiry(Entry& entry, std::int64_t expires_ms) {
    auto& [key, value] = entry;
    LogRecord& record = next_log_record(key, true);
    record.before = value;
    value.expires_ms = expires_ms;
    if (!is_observed()) return;
    report({.kind = KeyChange::Kind::ExpirySet, .before = text_of(value), .after = text_of(value)},
           key, record.before.expires_ms, expires_ms);
}

bool Keyspace::set_field(Entry* entry, const std::string& key, std::string_view name,
                         std::string_view value) {
    LogRecord& record = next_log_record(key, entry != nullptr);
    if (entry == nullptr) {
        entry = &*entries_.try_emplace(key).first;
        entry->second.is_hash = true;
    } else {
        record.before = entry->second;
    }
    auto& fields = entry->second.fields;
    const auto found = std::ranges::find(fields, name, &Field::name);
    const bool added = found == fields.end();
    if (added) {
        fields.push_back({std::string(name), std::string(value)});
    } else {
        found->value = value;
    }
    if (!is_observed()) return added;
    KeyChange change{.kind = KeyChange::Kind::Set, .field = name, .after = value};
    if (!added) change.before = find_field(record.before, name)->value;
    report(change, key, entry->second.expires_ms, entry->second.expires_ms);
    return added;
}

bool Keyspace::remove_field(Entry& entry, std::string_view name) {
    auto& fields = entry.second.fields;
    const auto found = std::ranges::find(fields, name, &Field::name);
    if (found == fields.end()) return false;
    LogRecord& record = next_log_record(entry.first, true);
    record.before = entry.second;
    fields.erase(found);
    if (is_observed()) {
        report({.kind = KeyChange::Kind::Deleted,
                .field = name,
                .before = find_field(record.before, name)->value},
               entry.first, entry.second.expires_ms, entry.second.expires_ms);
    }
    if (fields.empty()) erase(entry);
    return true;
}

void Keyspace::erase(Entry& entry, KeyChange::Kind kind) {
    LogRecord& record = next_log_record(entry.first, true);
    std::swap(record.before, entry.second);
    entries_.erase(record.key);
    if (!is_observed()) return;
    report({.kind = kind, .before = text_of(record.before)}, record.key, record.before.expires_ms,
           kNoExpiry);
}

void Keyspace::erase_all(KeyChange::Kind kind) {
    for (const std::string& key : sorted_keys()) erase(*entries_.find(key), kind);
}

void Keyspace::erase_expired() {
    for (const std::string& key : sorted_keys()) (void)find(key);
}

void Keyspace::postpone_all(std::chrono::milliseconds by) {
    for (const std::string& key : sorted_keys()) {
        Entry& entry = *entries_.find(key);
        if (entry.second.expires_ms == kNoExpiry) continue;
        set_expiry(entry, entry.second.expires_ms + by.count());
    }
}

std::vector<std::string> Keyspace::sorted_keys() const {
    std::vector<std::string> keys;
    keys.reserve(entries_.size());
    // The map's own order must reach nobody.
    for (const auto& [key, value] : entries_) keys.push_back(key);
    std::ranges::sort(keys);
    return keys;
}

void Keyspace::go_back_to(std::chrono::nanoseconds horizon) {
    struct Past {
        bool existed = false;
        Value value;
    };
    std::map<std::string, Past> earlier;
    for (std::size_t i = logged_; i > 0 && log_[i - 1].elapsed > horizon; --i) {
        const LogRecord& record = log_[i - 1];
        earlier[record.key] = {record.existed, record.existed ? record.before : Value{}};
    }
    for (auto& [key, past] : earlier) restore(key, past.existed, std::move(past.value));
}

void Keyspace::restore(const std::string& key, bool exists, Value value) {
    const auto found = entries_.find(key);
    const bool existed = found != entries_.end();
    if (existed ? exists && found->second == value : !exists) return;
    if (!exists) {
        erase(*found, KeyChange::Kind::Lost);
        return;
    }
    LogRecord& record = next_log_record(key, existed);
    Value& current = entries_[key];
    std::swap(record.before, current);
    current = std::move(value);
    if (!is_observed()) return;
    KeyChange change{.kind = KeyChange::Kind::Lost};
    if (existed) change.before = text_of(record.before);
    change.after = text_of(current);
    report(change, key, existed ? record.before.expires_ms : kNoExpiry, current.expires_ms);
}

void Keyspace::forget_log_before(std::chrono::nanoseconds horizon) {
    const auto end = log_.begin() + static_cast<std::ptrdiff_t>(logged_);
    const auto first = std::find_if(
        log_.begin(), end, [&](const LogRecord& record) { return record.elapsed > horizon; });
    logged_ = 0;
    for (auto kept = first; kept != end; ++kept) std::swap(log_[logged_++], *kept);
    log_limit_ = std::max(kSmallLog, logged_ * 2);
}

}  // namespace fencepost::model::redis
