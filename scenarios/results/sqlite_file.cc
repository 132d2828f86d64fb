#include "scenarios/results/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "model/database/connection.h"
#include "sim/plan.h"

namespace fencepost::scenarios {
namespace {

constexpr int kMostMillisecondsLocked = 60'000;

[[noreturn]] void refused(sqlite3* connection, std::string_view path) {
    const char* hint = "";
    switch (sqlite3_errcode(connection)) {
        case SQLITE_BUSY:
            hint = ": another process works with it; wait for it, or name another folder";
            break;
        case SQLITE_CONSTRAINT:
            hint = ": another process has stored the same seeds, or the file is damaged";
            break;
        case SQLITE_FULL:
        case SQLITE_IOERR:
            hint = ": is the disk full, or the folder gone? What was stored before is kept";
            break;
        default:
            break;
    }
    throw sim::PlanError(fmt::format("{}: {}{}", path, sqlite3_errmsg(connection), hint));
}

struct Bind {
    sqlite3_stmt* statement;
    int parameter;

    int operator()(std::monostate) const { return sqlite3_bind_null(statement, parameter); }
    int operator()(std::int64_t value) const {
        return sqlite3_bind_int64(statement, parameter, value);
    }
    int operator()(double value) const { return sqlite3_bind_double(statement, parameter, value); }
    int operator()(std::string_view value) const {
        return sqlite3_bind_text(statement, parameter, value.data(), static_cast<int>(value.size()),
                                 SQLITE_STATIC);
    }
};

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* connection, std::string_view path, std::string_view sql)
    : connection_(connection), path_(path) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &statement,
                           nullptr) != SQLITE_OK) {
        refused(connection, path_);
    }
    statement_.reset(statement);
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

void SqliteStatement::run(std::span<const SqliteValue> values) {
    bind(values);
    (void)step();
}

void SqliteStatement::bind(std::span<const SqliteValue> values) {
    sqlite3_reset(statement_.get());
    int parameter = 0;
    for (const SqliteValue& value : values) {
        if (std::visit(Bind{statement_.get(), ++parameter}, value) != SQLITE_OK)
            refused(connection_, path_);
    }
}

bool SqliteStatement::step() {
    const int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) refused(connection_, path_);
    sqlite3_reset(statement_.get());
    return false;
}

int SqliteStatement::columns() const {
    return sqlite3_column_count(statement_.get());
}

std::int64_t SqliteStatement::number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return text == nullptr ? std::string{} : std::string{text, static_cast<std::size_t>(size)};
}

bool SqliteStatement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

SqliteFile::SqliteFile(std::string path, Access access) : path_(std::move(path)) {
    // The databases of the runs would come too late, in the workers.
    model::database::configure_sqlite();
    sqlite3* connection = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | (access == Access::Create ? SQLITE_OPEN_CREATE : 0);
    const int result = sqlite3_open_v2(path_.c_str(), &connection, flags, nullptr);
    connection_.reset(connection);
    if (result != SQLITE_OK) refused(connection, path_);
    sqlite3_busy_timeout(connection, kMostMillisecondsLocked);
}

void SqliteFile::Close::operator()(sqlite3* connection) const {
    sqlite3_close_v2(connection);
}

void SqliteFile::execute(const std::string& sql) {
    if (sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        refused(connection_.get(), path_);
}

SqliteStatement SqliteFile::prepare(std::string_view sql) const {
    return {connection_.get(), path_, sql};
}

std::int64_t SqliteFile::number(std::string_view sql) const {
    SqliteStatement statement = prepare(sql);
    return statement.step() ? statement.number(0) : 0;
}

}  // namespace fencepost::scenarios
