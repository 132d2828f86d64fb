// Row locks and unique-key locks of one transaction, with PostgreSQL's row lock modes.
//
// A lock is on a key of a unique index: (table, index, values). A key of the primary key is the
// row. A *written* lock is one of a transaction that inserted, updated or deleted a row with that
// key: whoever wants to insert the key must wait for its end, to know whether the key is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/database/outcome.h"
#include "model/database/schema.h"
#include "model/database/sql_text.h"

namespace fencepost::model::database {

// Advisory locks are keys of a table that nobody has: of their numbers, or of hashtext()'s texts.
inline constexpr TableId kAdvisoryLocks = 0xffff;

// What somebody wants with a key.
struct LockRequest {
    LockMode mode = LockMode::Update;
    // Only asks whether the key is free to insert: waits for written locks alone.
    bool probe = false;
    // Comes from an older version of the row: waits for whoever writes the newest one as well,
    // whatever the modes. (PostgreSQL does so when it follows a row's versions.)
    bool follows = false;

    friend bool operator==(const LockRequest&, const LockRequest&) = default;
};

// PostgreSQL 15 documentation, table 13.3.
[[nodiscard]] bool modes_conflict(LockMode held, LockMode wanted);

// Starts the key (table, index) in `key`, which is emptied.
void start_key(std::string& key, TableId table, std::size_t index);
// Adds a value. Equal numbers of different types are equal.
void append_value(std::string& key, const SqlValue& value);

struct KeyParts {
    TableId table = 0;
    std::size_t index = 0;
    std::string values;  // as people read them: 'k1', 7
};
[[nodiscard]] KeyParts read_key(std::string_view key);

class LockSet {
public:
    [[nodiscard]] bool empty() const { return locks_.empty(); }
    [[nodiscard]] std::size_t size() const { return locks_.size(); }
    // `changes`: how many changes the transaction had made when it took the lock.
    void add(std::string_view key, LockMode mode, bool written, std::size_t changes);
    // Gives back what was added last, down to `size` locks.
    void truncate(std::size_t size);
    void clear() { truncate(0); }

    [[nodiscard]] bool conflicts(std::string_view key, LockRequest request) const;
    // Whether a lock that nothing was written under conflicts, of those taken with at least `first`
    // and at most `last` changes made, without the first `from` locks.
    [[nodiscard]] bool conflicts_between(std::string_view key, LockRequest request,
                                         std::size_t first, std::size_t last,
                                         std::size_t from) const;
    [[nodiscard]] bool touches(TableId table) const;

    // The locks from this one on were taken in a savepoint that has been released.
    void merge(std::size_t from);
    // Whether one of those, from this one on, conflicts.
    [[nodiscard]] bool merged_conflicts(std::string_view key, LockRequest request,
                                        std::size_t from) const;

private:
    struct Lock {
        std::uint64_t hash;
        std::uint32_t begin;
        std::uint32_t size;
        std::int32_t next;  // of the same bucket, or -1
        std::uint32_t changes;
        LockMode mode;
        bool written;
        bool merged = false;
    };
    [[nodiscard]] std::string_view key_of(const Lock& lock) const {
        return std::string_view(bytes_).substr(lock.begin, lock.size);
    }
    [[nodiscard]] bool conflicts(const Lock& lock, std::uint64_t hash, std::string_view key,
                                 LockRequest request) const;
    void index_all();

    std::vector<Lock> locks_;
    std::string bytes_;
    // Few locks are looked through one by one; many get buckets (a power of two of them).
    std::vector<std::int32_t> buckets_;
};

}  // namespace fencepost::model::database
