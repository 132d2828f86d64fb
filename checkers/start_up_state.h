// What start-ups have made so far, read record by record: tables with their rows, indexes, the
// version, values in Redis; and how it differs from what they must leave.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/expectations.h"
#include "model/events.h"

namespace fencepost::checkers {

// One difference: of what, and in half a sentence: "row price (basic, 900) is not there".
struct Difference {
    std::string key;
    std::string what;
};

class StartUpProgress {
public:
    explicit StartUpProgress(const StartUpState& expected) : expected_(expected) {}

    void see(const sim::Record& record);

    // All that there is now and that was made or changed since the run began; every column of it.
    [[nodiscard]] StartUpState left() const;

    // The version as committed; 0 before there is one.
    [[nodiscard]] std::int64_t version() const;
    // From what must be there at the end of a start-up; and from what one version must bring.
    [[nodiscard]] std::vector<Difference> differences() const;
    [[nodiscard]] std::vector<Difference> differences(const StartUpVersion& version) const;

private:
    using Row = std::vector<std::string>;

    struct Table {
        std::string name;  // empty when there is none any more
        std::vector<std::string> columns;
        std::vector<Row> rows;
        bool made_in_run = false;
    };
    struct Index {
        std::string table;
        bool made_in_run = false;
    };
    // A key of Redis.
    struct Value {
        std::string text;
        bool lost = false;  // by Redis itself: a cache may be cold
    };

    void change_row(const model::RowChanged& change);
    void change_key(const model::KeyChanged& change);
    [[nodiscard]] const Table* find(std::string_view name) const;
    void compare(const StartUpTable& expected, std::vector<Difference>& out) const;
    void compare_rows(const StartUpTable& expected, const Table& table,
                      std::vector<Difference>& out) const;
    void compare_indexes(std::vector<Difference>& out) const;
    void compare_cached(std::vector<Difference>& out) const;

    const StartUpState& expected_;
    std::vector<Table> tables_;  // by the history's index
    std::map<std::string, Index, std::less<>> indexes_;
    std::map<std::string, Value, std::less<>> cached_;
};

}  // namespace fencepost::checkers
