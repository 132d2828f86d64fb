#include "model/database/connection.h"

// Debian's library has the pre-update hook; its header shows it only on demand.
#ifndef SQLITE_ENABLE_PREUPDATE_HOOK
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#endif
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "model/database/ddl.h"
#include "model/database/lock_set.h"
#include "model/database/sql_errors.h"
#include "sim/require.h"

namespace fencepost::model::database {

namespace {

using sim::require;

constexpr int kChangeCounterAt = 24;
constexpr int kVersionValidForAt = 92;

void assign_text(SqlValue& to, std::string_view characters) {
    if (auto* text = std::get_if<std::string>(&to)) {
        text->assign(characters);
    } else {
        to.emplace<std::string>(characters);
    }
}

// REAL columns may hold whole numbers as integers; outside they are always doubles.
void assign_value(SqlValue& to, sqlite3_value* from, ColumnInfo::Affinity affinity) {
    switch (sqlite3_value_type(from)) {
        case SQLITE_INTEGER:
            if (affinity == ColumnInfo::Affinity::Real) {
                to = static_cast<double>(sqlite3_value_int64(from));
            } else {
                to = static_cast<std::int64_t>(sqlite3_value_int64(from));
            }
            break;
        case SQLITE_FLOAT:
            to = sqlite3_value_double(from);
            break;
        case SQLITE_NULL:
            to = jobs::sql::Null{};
            break;
        default: {
            // As text it would be copied first, to end with a zero. Null when it is empty.
            const auto* bytes = static_cast<const char*>(sqlite3_value_blob(from));
            const auto size = static_cast<std::size_t>(sqlite3_value_bytes(from));
            assign_text(to, bytes == nullptr ? std::string_view{} : std::string_view{bytes, size});
        }
    }
}

constexpr std::array kRefusedFunctions = {
    "random",         "randomblob",        "current_timestamp",
    "current_date",   "current_time",      "date",
    "time",           "datetime",          "julianday",
    "strftime",       "unixepoch",         "changes",
    "total_changes",  "last_insert_rowid", "load_extension",
    "sqlite_version", "sqlite_source_id"};

Connection& self_of(sqlite3_context* context) {
    return *static_cast<Connection*>(sqlite3_user_data(context));
}

}  // namespace

constexpr int kLongestValue = 64 << 20;
constexpr int kStepsBetweenLooks = 100'000;

void configure_sqlite() {
    static const bool done = [] {
        sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        return true;
    }();
    require(done, "SQLite is configured");
}

void FinalizeStatement::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

void bind_value(sqlite3_stmt* statement, int parameter, const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        sqlite3_bind_int64(statement, parameter, *integer);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        sqlite3_bind_text(statement, parameter, text->data(), static_cast<int>(text->size()),
                          SQLITE_STATIC);
    } else if (const auto* real = std::get_if<double>(&value)) {
        sqlite3_bind_double(statement, parameter, *real);
    } else {
        sqlite3_bind_null(statement, parameter);
    }
}

SqlValue column_value(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER:
            return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
        case SQLITE_FLOAT:
            return sqlite3_column_double(statement, column);
        case SQLITE_NULL:
            return jobs::sql::Null{};
        default: {
            const auto* text =
                reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
            return SqlValue(std::in_place_type<std::string>, text,
                            static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
        }
    }
}

Connection::Connection() {
    configure_sqlite();
    require(sqlite3_open(":memory:", &connection_) == SQLITE_OK, "SQLite opens a database");
    define_functions();
    sqlite3_preupdate_hook(connection_, &Connection::on_change, this);
    sqlite3_set_authorizer(connection_, &Connection::authorize, this);
    sqlite3_limit(connection_, SQLITE_LIMIT_LENGTH, kLongestValue);
}

void Connection::limit_steps(std::int64_t steps) {
    steps_left_ = steps / kStepsBetweenLooks;
    const auto look = [](void* left) { return --*static_cast<std::int64_t*>(left) < 0 ? 1 : 0; };
    sqlite3_progress_handler(connection_, steps == 0 ? 0 : kStepsBetweenLooks, look, &steps_left_);
}

Connection::~Connection() {
    row_statements_.clear();
    begin_.reset();
    commit_.reset();
    rollback_.reset();
    look_at_schema_.reset();
    schema_version_.reset();
    sqlite3_close_v2(connection_);
}

void Connection::define_functions() {
    const auto define = [&](const char* name, int arguments,
                            void (*function)(sqlite3_context*, int, sqlite3_value**)) {
        const int result =
            sqlite3_create_function_v2(connection_, name, arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS,
                                       this, function, nullptr, nullptr, nullptr);
        require(result == SQLITE_OK, "SQLite takes a function");
    };
    define(kNextIdFunction, 2, &Connection::next_id);
    define("db_now_us", 0, &Connection::now_us);
    define(kIsCandidateFunction, -1, &Connection::answer_is_candidate);
}

std::vector<std::uint8_t> Connection::empty_content() {
    configure_sqlite();
    sqlite3* fresh = nullptr;
    require(sqlite3_open(":memory:", &fresh) == SQLITE_OK, "SQLite opens a database");
    sqlite3_exec(fresh,
                 "PRAGMA page_size=1024; PRAGMA auto_vacuum=0; CREATE TABLE t(a); DROP TABLE t",
                 nullptr, nullptr, nullptr);
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(fresh, "main", &size, 0);
    require(bytes != nullptr, "SQLite serializes an empty database");
    std::vector<std::uint8_t> result(bytes, bytes + size);
    sqlite3_free(bytes);
    sqlite3_close(fresh);
    return result;
}

std::vector<std::uint8_t> Connection::content() const {
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(connection_, "main", &size, 0);
    require(bytes != nullptr, "SQLite serializes a database");
    std::vector<std::uint8_t> result(bytes, bytes + size);
    sqlite3_free(bytes);
    return result;
}

// The first content is deserialized; later ones are written over it through SQLite's own file
// object, which leaves the connection and its statements as they are. The page cache notices by the
// change counter, which must differ from the one that it has seen last.
void Connection::load(std::span<const std::uint8_t> content) {
    const auto size = static_cast<sqlite3_int64>(content.size());
    if (file_ == nullptr) {
        auto* bytes = static_cast<unsigned char*>(sqlite3_malloc64(content.size()));
        std::copy(content.begin(), content.end(), bytes);
        const unsigned flags = SQLITE_DESERIALIZE_RESIZEABLE | SQLITE_DESERIALIZE_FREEONCLOSE;
        require(sqlite3_deserialize(connection_, "main", bytes, size, size, flags) == SQLITE_OK,
                "SQLite deserializes a database");
        for (const char* pragma : {"PRAGMA journal_mode=MEMORY", "PRAGMA synchronous=OFF",
                                   "PRAGMA secure_delete=OFF", "PRAGMA foreign_keys=ON"}) {
            require(!run(pragma), "SQLite takes a setting");
        }
        sqlite3_file_control(connection_, "main", SQLITE_FCNTL_FILE_POINTER, &file_);
        begin_ = prepare_own("BEGIN");
        commit_ = prepare_own("COMMIT");
        rollback_ = prepare_own("ROLLBACK");
        look_at_schema_ = prepare_own("SELECT 1 FROM sqlite_schema LIMIT 1");
        schema_version_ = prepare_own("PRAGMA schema_version");
        return;
    }
    if (in_transaction()) rollback();
    std::array<std::uint8_t, 4> counter{};
    const sqlite3_io_methods& methods = *file_->pMethods;
    methods.xRead(file_, counter.data(), 4, kChangeCounterAt);
    for (std::size_t i = 4; i-- > 0 && ++counter[i] == 0;) {
    }
    bool done = methods.xWrite(file_, content.data(), static_cast<int>(size), 0) == SQLITE_OK;
    done = done && methods.xTruncate(file_, size) == SQLITE_OK;
    done = done && methods.xWrite(file_, counter.data(), 4, kChangeCounterAt) == SQLITE_OK;
    done = done && methods.xWrite(file_, counter.data(), 4, kVersionValidForAt) == SQLITE_OK;
    require(done, "SQLite's file takes new content");
}

void Connection::use_schema(const Schema* schema) {
    schema_ = schema;
    last_changed_ = nullptr;
    if (schema_id_ == schema->id) return;
    schema_id_ = schema->id;
    row_statements_.clear();
    row_statements_.resize(schema->tables.size());
    // Reading makes SQLite notice that its own idea of the schema is old.
    sqlite3_step(look_at_schema_.get());
    sqlite3_reset(look_at_schema_.get());
}

StatementHandle Connection::prepare_own(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    require(result == SQLITE_OK, "SQLite prepares a statement of the engine");
    return StatementHandle(statement);
}

void Connection::step_own(sqlite3_stmt* statement) {
    sqlite3_step(statement);
    require(sqlite3_reset(statement) == SQLITE_OK, "a statement of the engine itself fails");
}

std::variant<PreparedText, SqlFailure> Connection::prepare(const std::string& sql) {
    PreparedText prepared;
    preparing_ = &prepared;
    refused_.clear();
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    preparing_ = nullptr;
    prepared.handle.reset(statement);
    if (!refused_.empty()) {
        return SqlFailure{"0A000",
                          refused_ +
                              "() is not available in the simulated database, because "
                              "runs must repeat: use db_now_us() for the time, or a parameter"};
    }
    if (result != SQLITE_OK) return prepare_failure(sqlite3_errmsg(connection_));
    require(statement != nullptr, "a prepared statement is not empty");
    const int count = sqlite3_bind_parameter_count(statement);
    for (int i = 1; i <= count; ++i) {
        const char* name = sqlite3_bind_parameter_name(statement, i);
        const long number = name == nullptr ? 0 : std::strtol(name + 1, nullptr, 10);
        require(number >= 1 && number <= 65535, "parameters are numbered");
        prepared.parameters.push_back(static_cast<std::uint16_t>(number));
    }
    return prepared;
}

std::optional<SqlFailure> Connection::run(const std::string& sql) {
    if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
        return std::nullopt;
    }
    if ((sqlite3_errcode(connection_) & 0xff) == SQLITE_CONSTRAINT) {
        return SqlFailure{
            "23505", std::string("could not create unique index: ") + sqlite3_errmsg(connection_)};
    }
    return prepare_failure(sqlite3_errmsg(connection_));
}

std::int64_t Connection::schema_version() {
    sqlite3_step(schema_version_.get());
    const std::int64_t version = sqlite3_column_int64(schema_version_.get(), 0);
    sqlite3_reset(schema_version_.get());
    return version;
}

bool Connection::in_transaction() const {
    return sqlite3_get_autocommit(connection_) == 0;
}
void Connection::begin() {
    step_own(begin_.get());
}
void Connection::commit() {
    step_own(commit_.get());
}
void Connection::rollback() {
    step_own(rollback_.get());
}

const TableInfo* Connection::table_named(const char* name) {
    if (last_changed_ == nullptr || last_changed_->name != name) {
        last_changed_ = schema_ == nullptr ? nullptr : schema_->find(name);
    }
    return last_changed_;
}

void Connection::on_change(void* self, sqlite3* connection, int operation, const char*,
                           const char* table_name, long long, long long) {
    Connection& me = *static_cast<Connection*>(self);
    if (me.log_ == nullptr) return;
    const TableInfo* table = me.table_named(table_name);
    if (table == nullptr) return;
    const auto columns = static_cast<std::uint16_t>(table->columns.size());
    const RowChange::Kind kind = operation == SQLITE_INSERT   ? RowChange::Kind::Insert
                                 : operation == SQLITE_UPDATE ? RowChange::Kind::Update
                                                              : RowChange::Kind::Delete;
    const std::span<SqlValue> values =
        me.log_->add(kind, table->id, columns, sqlite3_preupdate_depth(connection) > 0);
    std::size_t at = 0;
    sqlite3_value* value = nullptr;
    if (kind != RowChange::Kind::Insert) {
        for (int i = 0; i < columns; ++i, ++at) {
            sqlite3_preupdate_old(connection, i, &value);
            assign_value(values[at], value, table->columns[static_cast<std::size_t>(i)].affinity);
        }
    }
    if (kind != RowChange::Kind::Delete) {
        for (int i = 0; i < columns; ++i, ++at) {
            sqlite3_preupdate_new(connection, i, &value);
            assign_value(values[at], value, table->columns[static_cast<std::size_t>(i)].affinity);
        }
    }
}

int Connection::authorize(void* self, int action, const char* first, const char* second,
                          const char*, const char*) {
    Connection& me = *static_cast<Connection*>(self);
    if (me.preparing_ == nullptr) return SQLITE_OK;
    if (action == SQLITE_FUNCTION && second != nullptr) {
        for (const char* name : kRefusedFunctions) {
            if (sqlite3_stricmp(second, name) != 0) continue;
            me.refused_ = name;
            return SQLITE_DENY;
        }
        return SQLITE_OK;
    }
    const bool writes =
        action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE;
    if ((!writes && action != SQLITE_READ) || me.schema_ == nullptr || first == nullptr) {
        return SQLITE_OK;
    }
    const TableInfo* table = me.schema_->find(first);
    if (table == nullptr) return SQLITE_OK;
    me.preparing_->tables |= table_set(table->id);
    if (writes && !me.preparing_->target) me.preparing_->target = table->id;
    return SQLITE_OK;
}

std::int64_t Sequences::next(std::size_t sequence) {
    if (drawn != nullptr && drawn_again < drawn->size()) return (*drawn)[drawn_again++];
    if (sequence >= last.size()) last.resize(sequence + 1);
    const std::int64_t id = ++last[sequence];
    if (drawn != nullptr) {
        drawn->push_back(id);
        ++drawn_again;
    }
    return id;
}

void Connection::next_id(sqlite3_context* context, int, sqlite3_value** arguments) {
    const auto number = static_cast<std::size_t>(sqlite3_value_int64(arguments[0]));
    sqlite3_result_int64(context, self_of(context).sequences.next(number));
}

void Connection::now_us(sqlite3_context* context, int, sqlite3_value**) {
    const Connection& me = self_of(context);
    if (me.clock == nullptr) {
        sqlite3_result_error(context, "db_now_us() has no clock to read here", -1);
    } else {
        sqlite3_result_int64(context, me.clock(me.clock_context));
    }
}

void Connection::answer_is_candidate(sqlite3_context* context, int count,
                                     sqlite3_value** arguments) {
    const Connection& me = self_of(context);
    std::string key;
    start_key(key, static_cast<TableId>(sqlite3_value_int64(arguments[0])), 0);
    SqlValue value;
    for (int i = 1; i < count; ++i) {
        assign_value(value, arguments[i], ColumnInfo::Affinity::Blob);
        append_value(key, value);
    }
    const bool holds = me.is_candidate == nullptr || me.is_candidate(me.is_candidate_context, key);
    sqlite3_result_int(context, holds ? 1 : 0);
}

Connection::RowStatements& Connection::row_statements(const TableInfo& table) {
    RowStatements& statements = row_statements_[table.id];
    if (statements.insert) return statements;
    std::string values, assignments, condition;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string parameter = "?" + std::to_string(i + 1);
        values += (i > 0 ? ", " : "") + parameter;
        assignments += (i > 0 ? ", " : "") + quoted(table.columns[i].name) + " = " + parameter;
    }
    std::size_t parameter = table.columns.size();
    for (const std::uint16_t column : table.primary_key()) {
        condition += (condition.empty() ? "" : " AND ") + quoted(table.columns[column].name) +
                     " = ?" + std::to_string(++parameter);
    }
    const std::string name = quoted(table.name);
    statements.insert = prepare_own("INSERT INTO " + name + " VALUES (" + values + ")");
    statements.update =
        prepare_own("UPDATE " + name + " SET " + assignments + " WHERE " + condition);
    statements.remove = prepare_own("DELETE FROM " + name + " WHERE " + condition);
    return statements;
}

namespace {

// Steps to the end; answers SQLite's extended result code.
int finish(sqlite3_stmt* statement) {
    const int code = sqlite3_step(statement);
    const int extended = sqlite3_extended_errcode(sqlite3_db_handle(statement));
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : extended;
}

}  // namespace

int Connection::insert_row(const TableInfo& table, std::span<const SqlValue> row) {
    sqlite3_stmt* statement = row_statements(table).insert.get();
    for (std::size_t i = 0; i < row.size(); ++i)
        bind_value(statement, static_cast<int>(i) + 1, row[i]);
    return finish(statement);
}

int Connection::update_row(const TableInfo& table, std::span<const SqlValue> from,
                           std::span<const SqlValue> to) {
    sqlite3_stmt* statement = row_statements(table).update.get();
    int parameter = 0;
    for (const SqlValue& value : to) bind_value(statement, ++parameter, value);
    for (const std::uint16_t column : table.primary_key()) {
        bind_value(statement, ++parameter, from[column]);
    }
    return finish(statement);
}

int Connection::delete_row(const TableInfo& table, std::span<const SqlValue> row) {
    sqlite3_stmt* statement = row_statements(table).remove.get();
    int parameter = static_cast<int>(table.columns.size());
    for (const std::uint16_t column : table.primary_key()) {
        bind_value(statement, ++parameter, row[column]);
    }
    return finish(statement);
}

int Connection::change_row(const TableInfo& table, std::span<const SqlValue> from,
                           std::span<const SqlValue> to) {
    if (from.empty()) return insert_row(table, to);
    return to.empty() ? delete_row(table, from) : update_row(table, from, to);
}

int Connection::try_apply(const ChangeLog& log, const ChangeLog::Change& change) {
    return change_row(schema_->tables[change.table], log.before(change), log.after(change));
}

int Connection::try_revert(const ChangeLog& log, const ChangeLog::Change& change) {
    return change_row(schema_->tables[change.table], log.after(change), log.before(change));
}

void Connection::apply(const ChangeLog& log, const ChangeLog::Change& change) {
    require(try_apply(log, change) == SQLITE_OK,
            "a change of an open transaction can be made again");
    require(change.kind != RowChange::Kind::Update || sqlite3_changes(connection_) == 1,
            "a row of an open transaction is gone");
}

void Connection::defer_foreign_keys() {
    require(!run("PRAGMA defer_foreign_keys = ON"), "SQLite takes a setting");
}

}  // namespace fencepost::model::database
