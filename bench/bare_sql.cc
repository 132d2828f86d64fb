#include "bench/bare_sql.h"

#include <sqlite3.h>

#include <cstring>
#include <regex>
#include <stdexcept>

namespace fencepost::bench {
namespace {

void check(int code, sqlite3* connection, const char* what) {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
        throw std::runtime_error(std::string(what) + ": " + sqlite3_errmsg(connection));
    }
}

// The few words of PostgreSQL's dialect that SQLite does not know.
std::string for_sqlite(std::string sql) {
    static const std::regex kLocking{R"( FOR UPDATE( NOWAIT| SKIP LOCKED)?)"};
    static const std::regex kIdentity{
        R"(BIGINT GENERATED (BY DEFAULT|ALWAYS) AS IDENTITY PRIMARY KEY)"};
    sql = std::regex_replace(sql, kLocking, "");
    return std::regex_replace(sql, kIdentity, "INTEGER PRIMARY KEY AUTOINCREMENT");
}

sqlite3* open() {
    sqlite3* connection = nullptr;
    check(sqlite3_open(":memory:", &connection), connection, "open");
    check(sqlite3_exec(connection, "PRAGMA page_size = 1024", nullptr, nullptr, nullptr),
          connection, "page size");
    check(sqlite3_create_function(
              connection, "db_now_us", 0, SQLITE_UTF8, nullptr,
              [](sqlite3_context* context, int, sqlite3_value**) {
                  sqlite3_result_int64(context, 1'772'474'400'000'000);
              },
              nullptr, nullptr),
          connection, "db_now_us");
    return connection;
}

struct Prepared {
    sqlite3_stmt* statement = nullptr;
    std::vector<int> parameters;  // for each of SQLite's, the index of ours
};

}  // namespace

struct BareSql::State {
    std::vector<std::string> schema;
    std::vector<scenarios::ExecutedStatement> statements;
    sqlite3* connection = nullptr;
    std::vector<unsigned char> image;
    std::vector<Prepared> prepared;
    std::uint32_t change_counter = 1;

    void bind_and_step(const Prepared& one, const std::vector<jobs::sql::Value>& values) const {
        for (std::size_t i = 0; i < one.parameters.size(); ++i) {
            const auto index = static_cast<int>(i + 1);
            const auto& value = values.at(static_cast<std::size_t>(one.parameters[i]));
            if (const auto* integer = std::get_if<std::int64_t>(&value)) {
                sqlite3_bind_int64(one.statement, index, *integer);
            } else if (const auto* text = std::get_if<std::string>(&value)) {
                sqlite3_bind_text(one.statement, index, text->data(),
                                  static_cast<int>(text->size()), SQLITE_STATIC);
            } else {
                sqlite3_bind_null(one.statement, index);
            }
        }
        while (sqlite3_step(one.statement) == SQLITE_ROW) {
        }
        sqlite3_reset(one.statement);
    }
};

BareSql::BareSql(const std::vector<std::string>& schema,
                 std::vector<scenarios::ExecutedStatement> statements)
    : state_(std::make_unique<State>()) {
    for (const std::string& script : schema) state_->schema.push_back(for_sqlite(script));
    state_->statements = std::move(statements);
    state_->connection = open();
    for (const std::string& script : state_->schema) {
        check(sqlite3_exec(state_->connection, script.c_str(), nullptr, nullptr, nullptr),
              state_->connection, "schema");
    }
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(state_->connection, "main", &size, 0);
    state_->image.assign(bytes, bytes + size);
    sqlite3_free(bytes);
    restore();
    for (const auto& statement : state_->statements) {
        Prepared one;
        const std::string sql = for_sqlite(statement.text);
        check(sqlite3_prepare_v3(state_->connection, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                                 &one.statement, nullptr),
              state_->connection, sql.c_str());
        for (int i = 1; i <= sqlite3_bind_parameter_count(one.statement); ++i) {
            one.parameters.push_back(std::atoi(sqlite3_bind_parameter_name(one.statement, i) + 1) -
                                     1);
        }
        state_->prepared.push_back(std::move(one));
    }
}

BareSql::~BareSql() {
    for (const Prepared& one : state_->prepared) sqlite3_finalize(one.statement);
    sqlite3_close(state_->connection);
}

std::size_t BareSql::statements() const {
    return state_->statements.size();
}

void BareSql::restore() {
    // Another change counter, or the page cache of the last image would be believed.
    ++state_->change_counter;
    for (const std::size_t at : {24U, 92U}) {
        for (std::size_t i = 0; i < 4; ++i) {
            state_->image[at + i] =
                static_cast<unsigned char>(state_->change_counter >> (24 - 8 * i));
        }
    }
    const auto size = static_cast<sqlite3_int64>(state_->image.size());
    const sqlite3_int64 room = size * 2;
    auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(static_cast<sqlite3_uint64>(room)));
    std::memcpy(copy, state_->image.data(), state_->image.size());
    check(sqlite3_deserialize(state_->connection, "main", copy, size, room,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
          state_->connection, "deserialize");
}

void BareSql::run() {
    restore();
    bool in_transaction = false;
    for (std::size_t i = 0; i < state_->statements.size(); ++i) {
        const auto& statement = state_->statements[i];
        // Two sessions' transactions overlap on a real server; one connection has one at a time.
        if (statement.text.starts_with("BEGIN")) {
            if (in_transaction) continue;
            in_transaction = true;
        } else if (statement.text.starts_with("COMMIT") || statement.text.starts_with("ROLLBACK")) {
            if (!in_transaction) continue;
            in_transaction = false;
        }
        state_->bind_and_step(state_->prepared[i], statement.parameters);
    }
    if (in_transaction) sqlite3_exec(state_->connection, "COMMIT", nullptr, nullptr, nullptr);
}

void BareSql::open_and_build() const {
    sqlite3* connection = open();
    for (const std::string& script : state_->schema) {
        check(sqlite3_exec(connection, script.c_str(), nullptr, nullptr, nullptr), connection,
              "schema");
    }
    sqlite3_close(connection);
}

}  // namespace fencepost::bench
