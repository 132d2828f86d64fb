// The data of one Redis process: keys with values and absolute deadlines, and a log of how each key
// was before every change.
//
// The log is what persistence and replication need: going back to an earlier moment of it is what a
// restart that lost the last second sees, and what a replica with lag has. A key whose deadline has
// passed is deleted and reported when a command comes upon it, never earlier, as in Redis; the
// model has no active expiry cycle, since clients cannot tell.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/redis/flaw.h"
#include "model/redis/key_change.h"

namespace fencepost::model::redis {

inline constexpr std::int64_t kNoExpiry = -1;

struct Field {
    std::string name;
    std::string value;
    bool operator==(const Field&) const = default;
};

struct Value {
    bool is_hash = false;
    std::string text;           // of a string
    std::vector<Field> fields;  // of a hash, in order of insertion
    std::int64_t expires_ms = kNoExpiry;
    bool operator==(const Value&) const = default;
};

using Entry = std::pair<const std::string, Value>;

// Under whose name and at what time the following changes happen.
struct Change {
    std::chrono::nanoseconds elapsed{};
    std::int64_t now_ms = 0;
    std::uint32_t client = kNoClient;
};

class Keyspace {
public:
    void clear();
    void observe(const KeyObserver* observer) { observer_ = observer; }
    void become(RedisInstance instance) { instance_ = instance; }
    void begin(const Change& change) { change_ = change; }
    void plant(RedisFlaw flaw) { flaw_ = flaw; }
    [[nodiscard]] bool has(RedisFlaw flaw) const { return flaw_ == flaw; }

    // The live entry, or null. Deletes one whose deadline has passed (now > deadline), except on a
    // replica, which only hides it.
    [[nodiscard]] Entry* find(const std::string& key);

    // Whether there is an entry whose deadline has passed; leaves it there.
    [[nodiscard]] bool has_expired(const std::string& key) const;

    // `entry` is what find(key) gave. The entry stays where it is until it is erased.
    void set_text(Entry* entry, const std::string& key, std::string_view text,
                  std::int64_t expires_ms);
    void set_expiry(Entry& entry, std::int64_t expires_ms);
    // Adds the field or replaces its value in place. True when it was added.
    bool set_field(Entry* entry, const std::string& key, std::string_view name,
                   std::string_view value);
    // False when there is no such field. The entry goes with its last field.
    bool remove_field(Entry& entry, std::string_view name);
    void erase(Entry& entry, KeyChange::Kind kind = KeyChange::Kind::Deleted);
    void erase_all(KeyChange::Kind kind);
    void erase_expired();

    // Expired keys that nobody has come upon are still counted, as DBSIZE does.
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] std::vector<std::string> sorted_keys() const;

    // Undoes every change made after `horizon`, as changes of their own, of the kind Lost.
    void go_back_to(std::chrono::nanoseconds horizon);
    // Changes up to `horizon` need not be undone any more. Cheap to call often.
    void forget_log_before(std::chrono::nanoseconds horizon);
    void forget_log() { logged_ = 0; }
    [[nodiscard]] bool log_has_grown() const { return logged_ >= log_limit_; }

    // What only planted flaws do.
    void let_a_millisecond_pass() { ++change_.now_ms; }
    void postpone_all(std::chrono::milliseconds by);
    void leave_deadline(const Entry& entry) { left_ = {entry.first, entry.second.expires_ms}; }

private:
    struct LogRecord {
        std::chrono::nanoseconds elapsed{};
        std::string key;
        bool existed = false;
        Value before;
    };

    [[nodiscard]] bool is_past(const Value& value) const {
        if (value.expires_ms == kNoExpiry) return false;
        if (has(RedisFlaw::GoneAtTheDeadline)) return change_.now_ms >= value.expires_ms;
        return change_.now_ms > value.expires_ms;
    }
    LogRecord& next_log_record(const std::string& key, bool existed);
    void restore(const std::string& key, bool exists, Value value);
    [[nodiscard]] bool is_observed() const { return observer_ != nullptr && *observer_; }
    void report(KeyChange change, std::string_view key, std::int64_t expiry_before,
                std::int64_t expiry_after) const;

    // Only sorted copies of its keys are gone through: never iterated otherwise.
    std::unordered_map<std::string, Value> entries_;
    std::vector<LogRecord> log_;  // The first `logged_` count; the rest are kept for their memory.
    std::size_t logged_ = 0;
    std::size_t log_limit_ = 0;
    Change change_;
    const KeyObserver* observer_ = nullptr;
    RedisInstance instance_ = RedisInstance::Primary;
    RedisFlaw flaw_ = RedisFlaw::None;
    std::pair<std::string, std::int64_t> left_{{}, kNoExpiry};
};

[[nodiscard]] const Field* find_field(const Value& value, std::string_view name);

}  // namespace fencepost::model::redis
