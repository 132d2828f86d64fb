// The one SQLite connection of an engine, kept for all runs: its content can be replaced in a
// microsecond, and its prepared statements survive that.
//
// What SQLite offers that would make runs differ (its clock, its randomness) is refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/database/change_log.h"
#include "model/database/outcome.h"
#include "model/database/schema.h"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_file;
struct sqlite3_stmt;
struct sqlite3_value;

namespace fencepost::model::database {

// Once per process, before the first connection to any database: no mutexes, no statistics.
void configure_sqlite();

struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const;
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// A set of tables. Tables from the 64th on share a bit, so that an intersection may be a false
// alarm.
using TableSet = std::uint64_t;
[[nodiscard]] constexpr TableSet table_set(TableId table) {
    return TableSet{1} << (table < 63 ? table : 63);
}

struct PreparedText {
    StatementHandle handle;
    TableSet tables = 0;  // read or written
    std::optional<TableId> target;
    std::vector<std::uint16_t> parameters;  // SQLite's first, second, … parameter is $this one
};

// Identity values. Rollbacks do not turn them back.
struct Sequences {
    std::vector<std::int64_t> last;
    // The values that the statement has drawn. A statement that is run again after a wait gets
    // the same ones again.
    std::vector<std::int64_t>* drawn = nullptr;
    std::size_t drawn_again = 0;

    [[nodiscard]] std::int64_t next(std::size_t sequence);
};

class Connection {
public:
    Connection();
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] sqlite3* handle() const { return connection_; }

    // Replaces the whole content. An open transaction is rolled back first.
    void load(std::span<const std::uint8_t> content);

    // A statement that takes more of SQLite's steps from now on is interrupted; 0: none is.
    void limit_steps(std::int64_t steps);
    [[nodiscard]] std::vector<std::uint8_t> content() const;
    // A database without tables.
    [[nodiscard]] static std::vector<std::uint8_t> empty_content();

    // The schema that the content has now; it must outlive its use.
    void use_schema(const Schema* schema);

    [[nodiscard]] std::variant<PreparedText, SqlFailure> prepare(const std::string& sql);
    // Runs one statement without parameters or rows, unguarded.
    [[nodiscard]] std::optional<SqlFailure> run(const std::string& sql);

    // Changes whenever the content's schema does.
    [[nodiscard]] std::int64_t schema_version();

    [[nodiscard]] bool in_transaction() const;
    void begin();
    void commit();
    void rollback();

    // While a log is set, row changes are added to it.
    void record_into(ChangeLog* log) { log_ = log; }
    // Makes a recorded change again.
    void apply(const ChangeLog& log, const ChangeLog::Change& change);
    // Makes it, or its opposite, unless SQLite refuses; answers SQLite's result code.
    [[nodiscard]] int try_apply(const ChangeLog& log, const ChangeLog::Change& change);
    [[nodiscard]] int try_revert(const ChangeLog& log, const ChangeLog::Change& change);
    // Foreign keys are not checked until the end of the open transaction.
    void defer_foreign_keys();

    // What the SQL functions answer from.
    std::int64_t (*clock)(void*) = nullptr;
    void* clock_context = nullptr;
    Sequences sequences;
    bool (*is_candidate)(void*, const std::string& key) = nullptr;
    void* is_candidate_context = nullptr;

private:
    struct RowStatements {
        StatementHandle insert, update, remove;
    };

    static void on_change(void* self, sqlite3* connection, int operation, const char* database,
                          const char* table, long long old_key, long long new_key);
    static int authorize(void* self, int action, const char* first, const char* second,
                         const char* database, const char* trigger);
    static void next_id(sqlite3_context* context, int count, sqlite3_value** arguments);
    static void now_us(sqlite3_context* context, int count, sqlite3_value** arguments);
    static void answer_is_candidate(sqlite3_context* context, int count, sqlite3_value** arguments);

    void define_functions();
    [[nodiscard]] StatementHandle prepare_own(const std::string& sql) const;
    void step_own(sqlite3_stmt* statement);
    RowStatements& row_statements(const TableInfo& table);
    [[nodiscard]] int change_row(const TableInfo& table, std::span<const SqlValue> from,
                                 std::span<const SqlValue> to);
    [[nodiscard]] int insert_row(const TableInfo& table, std::span<const SqlValue> row);
    [[nodiscard]] int update_row(const TableInfo& table, std::span<const SqlValue> from,
                                 std::span<const SqlValue> to);
    [[nodiscard]] int delete_row(const TableInfo& table, std::span<const SqlValue> row);
    [[nodiscard]] const TableInfo* table_named(const char* name);

    sqlite3* connection_ = nullptr;
    std::int64_t steps_left_ = 0;  // in units of the looks at it
    sqlite3_file* file_ = nullptr;
    StatementHandle begin_, commit_, rollback_, look_at_schema_, schema_version_;
    const Schema* schema_ = nullptr;
    std::uint64_t schema_id_ = 0;
    std::vector<RowStatements> row_statements_;
    ChangeLog* log_ = nullptr;
    const TableInfo* last_changed_ = nullptr;
    // While a statement is prepared: what is collected, and what was refused.
    PreparedText* preparing_ = nullptr;
    std::string refused_;
};

// Binds a parameter; text is not copied and must outlive the step.
void bind_value(sqlite3_stmt* statement, int parameter, const SqlValue& value);
// Reads a column of the current row.
[[nodiscard]] SqlValue column_value(sqlite3_stmt* statement, int column);

}  // namespace fencepost::model::database
