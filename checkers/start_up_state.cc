#include "checkers/start_up_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "checkers/identity.h"

namespace fencepost::checkers {
namespace {

std::vector<std::string> names_in(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        names.emplace_back(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return names;
}

// A row that was read before a column was added does not have it: the history does not tell which
// default it got.
bool same_row(const std::vector<std::string>& known, const std::vector<std::string>& row) {
    const auto common = static_cast<std::ptrdiff_t>(std::min(known.size(), row.size()));
    return std::equal(known.begin(), known.begin() + common, row.begin());
}

std::vector<std::string> texts_of(const model::Cells& cells) {
    std::vector<std::string> row;
    row.reserve(cells.size());
    for (const model::Cell& cell : cells) row.push_back(text_of(cell));
    return row;
}

std::string row_text(std::string_view table, const std::vector<std::string>& values) {
    return fmt::format("{} ({})", table, fmt::join(values, ", "));
}

}  // namespace

void StartUpProgress::see(const sim::Record& record) {
    if (const auto table = record.as<model::TableKnown>()) {
        if (table->index >= tables_.size()) tables_.resize(table->index + 1);
        Table& known = tables_[table->index];
        if (known.name != table->name) {
            known = {.name = std::string(table->name),
                     .columns = {},
                     .rows = {},
                     .made_in_run = record.task() != sim::kNoTask};
        }
        known.columns = names_in(table->columns);
    } else if (const auto index = record.as<model::IndexKnown>()) {
        indexes_[std::string(index->name)] = {.table = std::string(index->table),
                                              .made_in_run = record.task() != sim::kNoTask};
    } else if (const auto dropped = record.as<model::RelationDropped>()) {
        if (const auto gone = indexes_.find(dropped->name); gone != indexes_.end()) {
            indexes_.erase(gone);
        }
        for (Table& known : tables_) {
            if (known.name == dropped->name) known = {};
        }
    } else if (record.kind() == model::RowChanged::kKind) {
        change_row(*record.as<model::RowChanged>());
    } else if (const auto key = record.as<model::KeyChanged>()) {
        change_key(*key);
    }
}

void StartUpProgress::change_row(const model::RowChanged& change) {
    sim::require(change.table < tables_.size(), "a row of a table that nobody knows");
    std::vector<Row>& rows = tables_[change.table].rows;
    if (!change.before.empty()) {
        const Row before = texts_of(change.before);
        const auto old =
            std::ranges::find_if(rows, [&](const Row& row) { return same_row(row, before); });
        if (old != rows.end()) rows.erase(old);
    }
    if (!change.after.empty()) rows.push_back(texts_of(change.after));
}

void StartUpProgress::change_key(const model::KeyChanged& change) {
    Value& value = cached_[std::string(change.key)];
    value.text = change.after;
    value.lost = change.change == model::KeyChangeKind::Lost ||
                 change.change == model::KeyChangeKind::Evicted ||
                 change.change == model::KeyChangeKind::Expired;
}

const StartUpProgress::Table* StartUpProgress::find(std::string_view name) const {
    const auto found = std::ranges::find(tables_, name, &Table::name);
    return found == tables_.end() || name.empty() ? nullptr : &*found;
}

StartUpState StartUpProgress::left() const {
    StartUpState state;
    for (const Table& table : tables_) {
        if (table.name.empty() || (!table.made_in_run && table.rows.empty())) continue;
        state.tables.push_back({.table = table.name,
                                .columns = table.columns,
                                .compared = table.columns,
                                .rows = table.rows});
    }
    for (const auto& [name, index] : indexes_) {
        if (index.made_in_run) state.indexes.push_back({name, index.table});
    }
    for (const auto& [key, value] : cached_) {
        if (!value.lost && !value.text.empty()) state.cached.push_back({key, value.text});
    }
    return state;
}

std::int64_t StartUpProgress::version() const {
    const Table* table = find(expected_.version_table);
    if (table == nullptr || table->rows.empty()) return 0;
    const auto column = static_cast<std::size_t>(
        std::ranges::find(table->columns, expected_.version_column) - table->columns.begin());
    std::int64_t version = 0;
    const Row& row = table->rows.front();
    if (column < row.size()) {
        std::from_chars(row[column].data(), row[column].data() + row[column].size(), version);
    }
    return version;
}

std::vector<Difference> StartUpProgress::differences() const {
    std::vector<Difference> out;
    for (const StartUpTable& table : expected_.tables) compare(table, out);
    for (const Table& table : tables_) {
        if (!table.made_in_run ||
            std::ranges::find(expected_.tables, table.name, &StartUpTable::table) !=
                expected_.tables.end()) {
            continue;
        }
        out.push_back(
            {table.name, fmt::format("table {} is there, which nobody expects", table.name)});
    }
    compare_indexes(out);
    compare_cached(out);
    return out;
}

std::vector<Difference> StartUpProgress::differences(const StartUpVersion& version) const {
    std::vector<Difference> out;
    for (const StartUpTable& table : version.tables) compare(table, out);
    return out;
}

void StartUpProgress::compare(const StartUpTable& expected, std::vector<Difference>& out) const {
    const Table* table = find(expected.table);
    if (table == nullptr) {
        out.push_back({expected.table, fmt::format("table {} is not there", expected.table)});
        return;
    }
    for (const std::string& column : expected.columns) {
        if (std::ranges::find(table->columns, column) != table->columns.end()) continue;
        out.push_back({expected.table + "." + column,
                       fmt::format("column {} of {} is not there", column, expected.table)});
    }
    compare_rows(expected, *table, out);
}

void StartUpProgress::compare_rows(const StartUpTable& expected, const Table& table,
                                   std::vector<Difference>& out) const {
    std::vector<std::size_t> places;
    for (const std::string& column : expected.compared) {
        const auto found = std::ranges::find(table.columns, column);
        if (found == table.columns.end()) return;  // has been said
        places.push_back(static_cast<std::size_t>(found - table.columns.begin()));
    }
    const auto matches = [&](const Row& row, const std::vector<std::string>& values) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i] < row.size() && row[places[i]] != values[i]) return false;
        }
        return true;
    };
    for (const std::vector<std::string>& values : expected.rows) {
        const auto count =
            std::ranges::count_if(table.rows, [&](const Row& row) { return matches(row, values); });
        if (count == 1) continue;
        const std::string row = row_text(expected.table, values);
        out.push_back({row, count == 0 ? fmt::format("row {} is not there", row)
                                       : fmt::format("row {} is there {} times", row, count)});
    }
    for (const Row& row : table.rows) {
        if (std::ranges::any_of(expected.rows,
                                [&](const auto& values) { return matches(row, values); })) {
            continue;
        }
        Row shown;
        for (const std::size_t place : places) {
            if (place < row.size()) shown.push_back(row[place]);
        }
        const std::string text = row_text(expected.table, shown);
        out.push_back({text, fmt::format("row {} is there, which nobody expects", text)});
    }
}

void StartUpProgress::compare_indexes(std::vector<Difference>& out) const {
    for (const StartUpIndex& expected : expected_.indexes) {
        const auto index = indexes_.find(expected.name);
        if (index != indexes_.end() && index->second.table == expected.table) continue;
        out.push_back({expected.name,
                       fmt::format("index {} on {} is not there", expected.name, expected.table)});
    }
    for (const auto& [name, index] : indexes_) {
        if (!index.made_in_run || std::ranges::find(expected_.indexes, name, &StartUpIndex::name) !=
                                      expected_.indexes.end()) {
            continue;
        }
        out.push_back({name, fmt::format("index {} on {} is there, which nobody expects", name,
                                         index.table)});
    }
}

void StartUpProgress::compare_cached(std::vector<Difference>& out) const {
    for (const StartUpValue& expected : expected_.cached) {
        const auto value = cached_.find(expected.key);
        if (value == cached_.end()) {
            out.push_back({expected.key, fmt::format("{} has not been cached", expected.key)});
        } else if (!value->second.lost && value->second.text != expected.value) {
            out.push_back(
                {expected.key, fmt::format("{} is cached as \"{}\" and should be \"{}\"",
                                           expected.key, value->second.text, expected.value)});
        }
    }
}

}  // namespace fencepost::checkers
