#include "checkers/learnt_start_up.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "checkers/start_up_state.h"

namespace fencepost::checkers {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// The values of one column, in order; nothing when a row was last written before there was such a
// column.
std::optional<std::multiset<std::string>> values_of(const Rows& rows, std::size_t column) {
    std::multiset<std::string> values;
    for (const auto& row : rows) {
        if (column >= row.size()) return std::nullopt;
        values.insert(row[column]);
    }
    return values;
}

Rows of_columns(const Rows& rows, const std::vector<std::size_t>& columns) {
    Rows less;
    for (const auto& row : rows) {
        auto& values = less.emplace_back();
        for (const std::size_t column : columns) values.push_back(row[column]);
    }
    std::ranges::sort(less);
    return less;
}

std::expected<StartUpTable, std::string> in_common(const StartUpTable& one,
                                                   const StartUpTable& other) {
    if (one.columns != other.columns || one.rows.size() != other.rows.size()) {
        return std::unexpected(
            fmt::format("leaves the table {} now so and now otherwise", one.table));
    }
    StartUpTable both{.table = one.table, .columns = one.columns, .compared = {}, .rows = {}};
    std::vector<std::size_t> compared;
    for (std::size_t column = 0; column < one.columns.size(); ++column) {
        const auto values = values_of(one.rows, column);
        if (!values || values != values_of(other.rows, column)) continue;
        compared.push_back(column);
        both.compared.push_back(one.columns[column]);
    }
    both.rows = of_columns(one.rows, compared);
    if (both.rows != of_columns(other.rows, compared)) {
        return std::unexpected(
            fmt::format("leaves the rows of {} now so and now otherwise", one.table));
    }
    const auto twice = std::ranges::adjacent_find(both.rows);
    if (twice != both.rows.end()) {
        return std::unexpected(fmt::format(
            "leaves rows of {} that nothing tells apart but what is another in every run: ({})",
            one.table, fmt::join(*twice, ", ")));
    }
    return both;
}

}  // namespace

StartUpState left_by_start_up(const sim::History& history) {
    const StartUpState nothing;
    StartUpProgress progress{nothing};
    for (sim::RecordId id = 0; id < history.size(); ++id) progress.see(history[id]);
    return progress.left();
}

std::expected<StartUpState, std::string> in_common(const StartUpState& one,
                                                   const StartUpState& other) {
    if (!std::ranges::equal(one.tables, other.tables, {}, &StartUpTable::table,
                            &StartUpTable::table) ||
        !std::ranges::equal(one.indexes, other.indexes, {}, &StartUpIndex::name,
                            &StartUpIndex::name)) {
        return std::unexpected("leaves other tables or indexes each time");
    }
    StartUpState both{.tables = {},
                      .indexes = one.indexes,
                      .cached = {},
                      .version_table = {},
                      .version_column = {},
                      .versions = {}};
    for (std::size_t i = 0; i < one.tables.size(); ++i) {
        auto table = in_common(one.tables[i], other.tables[i]);
        if (!table) return std::unexpected(std::move(table.error()));
        both.tables.push_back(*std::move(table));
    }
    for (const StartUpValue& value : one.cached) {
        const auto same = [&value](const StartUpValue& each) {
            return each.key == value.key && each.value == value.value;
        };
        if (std::ranges::any_of(other.cached, same)) both.cached.push_back(value);
    }
    return both;
}

}  // namespace fencepost::checkers
