// The rows that a waiting statement had found in its snapshot, by their keys, in the order in which
// it had found them. When it goes on, it locks them one after the other and looks at their new
// versions; rows that it had not found are not for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/database/sql_text.h"

namespace fencepost::model::database {

class Candidates {
public:
    // Rows are locked in this mode.
    explicit Candidates(LockMode mode) : mode_(mode) {}

    [[nodiscard]] LockMode mode() const { return mode_; }
    void strengthen(LockMode mode) { mode_ = std::max(mode_, mode); }

    // Adds the next row found. Call sort() after the last.
    void add(std::string key) {
        rows_.push_back({std::move(key), static_cast<std::uint32_t>(rows_.size())});
    }
    void sort() {
        std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
            return std::tie(a.key, a.place) < std::tie(b.key, b.place);
        });
    }

    [[nodiscard]] bool contains(std::string_view key) const {
        const auto row = find(key);
        return row != rows_.end() && row->key == key;
    }
    // The row is gone.
    void remove(std::string_view key) { rows_.erase(find(key)); }
    // The row has another key.
    void move(std::string_view from, std::string to) {
        const std::uint32_t place = find(from)->place;
        remove(from);
        const auto at = find(to);
        rows_.insert(at, {std::move(to), place});
    }
    [[nodiscard]] std::vector<std::string> in_order() const {
        std::vector<Row> rows = rows_;
        std::sort(rows.begin(), rows.end(),
                  [](const Row& a, const Row& b) { return a.place < b.place; });
        std::vector<std::string> keys;
        for (Row& row : rows) keys.push_back(std::move(row.key));
        return keys;
    }

private:
    struct Row {
        std::string key;
        std::uint32_t place;
    };
    [[nodiscard]] std::vector<Row>::const_iterator find(std::string_view key) const {
        return std::lower_bound(rows_.begin(), rows_.end(), key,
                                [](const Row& row, std::string_view k) { return row.key < k; });
    }

    LockMode mode_;
    std::vector<Row> rows_;  // sorted by key
};

}  // namespace fencepost::model::database
