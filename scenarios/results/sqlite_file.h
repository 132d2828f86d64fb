// A SQLite file and its statements, for the results store. Whatever SQLite refuses is a
// sim::PlanError with the path: a full disk, a file that is no database, a missing permission.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace fencepost::scenarios {

// NULL, a number, a real number or a text. The text must live until the statement was stepped.
using SqliteValue = std::variant<std::monostate, std::int64_t, double, std::string_view>;

class SqliteStatement {
public:
    SqliteStatement(SqliteStatement&&) noexcept = default;
    ~SqliteStatement() = default;

    // For a statement that gives no rows.
    void run(std::span<const SqliteValue> values);
    void run(std::initializer_list<SqliteValue> values) {
        run(std::span{values.begin(), values.size()});
    }
    // For one that does: bind the values, then step as long as there is a row.
    void bind(std::span<const SqliteValue> values);
    void bind(std::initializer_list<SqliteValue> values) {
        bind(std::span{values.begin(), values.size()});
    }
    bool step();
    [[nodiscard]] int columns() const;
    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] bool is_null(int column) const;

private:
    friend class SqliteFile;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    SqliteStatement(sqlite3* connection, std::string_view path, std::string_view sql);

    sqlite3* connection_;
    std::string path_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class SqliteFile {
public:
    enum class Access : std::uint8_t { Existing, Create };

    // Both may write: what a killed process has left half done is undone by whoever opens the file
    // next. Who finds it locked waits.
    SqliteFile(std::string path, Access access);

    [[nodiscard]] const std::string& path() const { return path_; }
    // Statements without rows or values, one after the other.
    void execute(const std::string& sql);
    [[nodiscard]] SqliteStatement prepare(std::string_view sql) const;
    // The first column of the first row.
    [[nodiscard]] std::int64_t number(std::string_view sql) const;

private:
    struct Close {
        void operator()(sqlite3* connection) const;
    };
    std::string path_;
    std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace fencepost::scenarios
