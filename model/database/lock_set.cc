#include "model/database/lock_set.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace fencepost::model::database {

namespace {

constexpr std::size_t kFew = 24;

template <typename T>
void append_raw(std::string& key, const T& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T read_raw(std::string_view key, std::size_t& at) {
    T value;
    std::memcpy(&value, key.data() + at, sizeof value);
    at += sizeof value;
    return value;
}

// FNV-1a over words of eight bytes; only equality of hashes matters.
std::uint64_t hash_of(std::string_view key) {
    std::uint64_t hash = 0xcbf29ce484222325ULL ^ key.size();
    std::size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, key.data() + at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    for (; at < key.size(); ++at) {
        hash = (hash ^ static_cast<unsigned char>(key[at])) * 0x100000001b3ULL;
    }
    return hash ^ (hash >> 32);
}

}  // namespace

bool modes_conflict(LockMode held, LockMode wanted) {
    constexpr std::array<std::uint8_t, 4> kConflicts = {0b1000, 0b1100, 0b1110, 0b1111};
    return (kConflicts[static_cast<std::size_t>(held)] >> static_cast<unsigned>(wanted) & 1U) != 0;
}

void start_key(std::string& key, TableId table, std::size_t index) {
    key.clear();
    append_raw(key, table);
    key += static_cast<char>(index);
}

void append_value(std::string& key, const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        key += '\1';
        append_raw(key, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
        if (std::trunc(*real) == *real && std::abs(*real) < 9.0e15) {
            return append_value(key, static_cast<std::int64_t>(*real));
        }
        key += '\2';
        append_raw(key, *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        key += '\3';
        append_raw(key, static_cast<std::uint32_t>(text->size()));
        key += *text;
    } else {
        key += '\0';
    }
}

KeyParts read_key(std::string_view key) {
    KeyParts parts;
    std::size_t at = 0;
    parts.table = read_raw<TableId>(key, at);
    parts.index = static_cast<unsigned char>(key[at++]);
    while (at < key.size()) {
        if (!parts.values.empty()) parts.values += ", ";
        const char tag = key[at++];
        if (tag == '\1') {
            parts.values += std::to_string(read_raw<std::int64_t>(key, at));
        } else if (tag == '\2') {
            parts.values += std::to_string(read_raw<double>(key, at));
        } else if (tag == '\3') {
            const auto size = read_raw<std::uint32_t>(key, at);
            parts.values += "'" + std::string(key.substr(at, size)) + "'";
            at += size;
        } else {
            parts.values += "NULL";
        }
    }
    return parts;
}

void LockSet::add(std::string_view key, LockMode mode, bool written, std::size_t changes) {
    Lock lock{hash_of(key),
              static_cast<std::uint32_t>(bytes_.size()),
              static_cast<std::uint32_t>(key.size()),
              -1,
              static_cast<std::uint32_t>(changes),
              mode,
              written};
    bytes_ += key;
    if (!buckets_.empty() && locks_.size() < buckets_.size()) {
        std::int32_t& bucket = buckets_[lock.hash & (buckets_.size() - 1)];
        lock.next = bucket;
        bucket = static_cast<std::int32_t>(locks_.size());
    }
    locks_.push_back(lock);
    if (locks_.size() > kFew && locks_.size() > buckets_.size()) index_all();
}

void LockSet::truncate(std::size_t size) {
    if (size >= locks_.size()) return;
    bytes_.resize(locks_[size].begin);
    locks_.resize(size);
    buckets_.clear();
    if (size > kFew) index_all();
}

void LockSet::index_all() {
    std::size_t count = 64;
    while (count < locks_.size() * 2) count *= 2;
    buckets_.assign(count, -1);
    for (std::size_t i = 0; i < locks_.size(); ++i) {
        std::int32_t& bucket = buckets_[locks_[i].hash & (count - 1)];
        locks_[i].next = bucket;
        bucket = static_cast<std::int32_t>(i);
    }
}

bool LockSet::conflicts(const Lock& lock, std::uint64_t hash, std::string_view key,
                        LockRequest request) const {
    if (lock.hash != hash || key_of(lock) != key) return false;
    if (request.probe) return lock.written;
    return modes_conflict(lock.mode, request.mode) || (request.follows && lock.written);
}

bool LockSet::conflicts(std::string_view key, LockRequest request) const {
    const std::uint64_t hash = hash_of(key);
    if (buckets_.empty()) {
        for (const Lock& lock : locks_) {
            if (conflicts(lock, hash, key, request)) return true;
        }
        return false;
    }
    for (std::int32_t i = buckets_[hash & (buckets_.size() - 1)]; i >= 0;) {
        const Lock& lock = locks_[static_cast<std::size_t>(i)];
        if (conflicts(lock, hash, key, request)) return true;
        i = lock.next;
    }
    return false;
}

bool LockSet::conflicts_between(std::string_view key, LockRequest request, std::size_t first,
                                std::size_t last, std::size_t from) const {
    const std::uint64_t hash = hash_of(key);
    const auto begin = locks_.begin() + static_cast<std::ptrdiff_t>(std::min(from, locks_.size()));
    return std::any_of(begin, locks_.end(), [&](const Lock& lock) {
        return !lock.written && lock.changes >= first && lock.changes <= last &&
               conflicts(lock, hash, key, request);
    });
}

void LockSet::merge(std::size_t from) {
    for (std::size_t i = from; i < locks_.size(); ++i) locks_[i].merged = true;
}

bool LockSet::merged_conflicts(std::string_view key, LockRequest request, std::size_t from) const {
    const std::uint64_t hash = hash_of(key);
    for (std::size_t i = from; i < locks_.size(); ++i) {
        if (locks_[i].merged && conflicts(locks_[i], hash, key, request)) return true;
    }
    return false;
}

bool LockSet::touches(TableId table) const {
    for (const Lock& lock : locks_) {
        std::size_t at = 0;
        if (read_raw<TableId>(key_of(lock), at) == table) return true;
    }
    return false;
}

}  // namespace fencepost::model::database
