// The row changes of one transaction, in order, as the pre-update hook reported them. A log keeps
// its memory when it is emptied.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/database/schema.h"

namespace fencepost::model::database {

class ChangeLog {
public:
    struct Change {
        RowChange::Kind kind;
        TableId table;
        bool cascaded;  // made by SQLite for a foreign key, not by the statement itself
        std::uint16_t columns;
        std::uint32_t first_value;
    };

    [[nodiscard]] bool empty() const { return changes_.empty(); }
    [[nodiscard]] std::size_t size() const { return changes_.size(); }
    [[nodiscard]] const Change& operator[](std::size_t index) const { return changes_[index]; }

    [[nodiscard]] std::span<const SqlValue> before(const Change& change) const {
        if (change.kind == RowChange::Kind::Insert) return {};
        return {values_.data() + change.first_value, change.columns};
    }
    [[nodiscard]] std::span<const SqlValue> after(const Change& change) const {
        if (change.kind == RowChange::Kind::Delete) return {};
        const std::size_t skip = change.kind == RowChange::Kind::Update ? change.columns : 0;
        return {values_.data() + change.first_value + skip, change.columns};
    }

    // Adds a change whose values are still to be set. The span is valid until the next one.
    std::span<SqlValue> add(RowChange::Kind kind, TableId table, std::uint16_t columns,
                            bool cascaded) {
        const std::size_t count = kind == RowChange::Kind::Update ? 2U * columns : columns;
        changes_.push_back({kind, table, cascaded, columns, static_cast<std::uint32_t>(used_)});
        if (used_ + count > values_.size()) values_.resize(used_ + count);
        const std::span<SqlValue> values{values_.data() + used_, count};
        used_ += count;
        return values;
    }

    void truncate(std::size_t size) {
        if (size >= changes_.size()) return;
        used_ = changes_[size].first_value;
        changes_.resize(size);
    }
    void clear() {
        changes_.clear();
        used_ = 0;
    }

private:
    std::vector<Change> changes_;
    // Beyond used_, old values stay to lend their memory to the next ones.
    std::vector<SqlValue> values_;
    std::size_t used_ = 0;
};

}  // namespace fencepost::model::database
