// The SQL port: sessions on a client/server database with PostgreSQL's dialect and behaviour.
//
// Statement text is what the server gets, with $1, $2, … for parameters. Text that is executed
// often should have a stable address or at least stable content: adapters prepare it once and keep
// it. A Session belongs to one task at a time. Every execute() or run() may suspend the caller: for
// the network, or for a row or unique-key lock that another transaction holds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "jobs/ports/errors.h"

namespace fencepost::jobs::sql {

// NULL, BIGINT (and BOOLEAN as 0 or 1), DOUBLE PRECISION, TEXT.
using Null = std::monostate;
using Value = std::variant<Null, std::int64_t, double, std::string>;

// The rows that a statement returned, in order, and how many rows it inserted, updated or deleted.
class Result {
public:
    Result() = default;
    Result(std::size_t columns, std::vector<Value> values, std::int64_t affected)
        : columns_(columns), values_(std::move(values)), affected_(affected) {}

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
    [[nodiscard]] bool empty() const { return values_.empty(); }
    [[nodiscard]] std::int64_t affected() const { return affected_; }

    [[nodiscard]] const Value& at(std::size_t row, std::size_t column) const {
        return values_.at(row * columns_ + column);
    }
    // These throw std::bad_variant_access when the value is NULL or of another type.
    [[nodiscard]] std::int64_t integer(std::size_t row, std::size_t column) const {
        return std::get<std::int64_t>(at(row, column));
    }
    [[nodiscard]] const std::string& text(std::size_t row, std::size_t column) const {
        return std::get<std::string>(at(row, column));
    }
    [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const {
        return std::holds_alternative<Null>(at(row, column));
    }

private:
    std::size_t columns_ = 0;
    std::vector<Value> values_;
    std::int64_t affected_ = 0;
};

// What the server answered instead of a result. The statement had no effect; inside a transaction
// the whole transaction is aborted and only ROLLBACK (or ROLLBACK TO a savepoint) is accepted.
class ServerError : public AttemptError {
public:
    ServerError(std::string sqlstate, const std::string& message)
        : AttemptError(message, Effect::None), sqlstate_(std::move(sqlstate)) {}
    [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }

private:
    std::string sqlstate_;
};

// The SQLSTATE classes that somebody acts on (PostgreSQL 15, appendix A).
inline constexpr std::string_view kUniqueViolation = "23505";
inline constexpr std::string_view kForeignKeyViolation = "23503";
inline constexpr std::string_view kSerializationFailure = "40001";
inline constexpr std::string_view kDeadlockDetected = "40P01";
inline constexpr std::string_view kLockNotAvailable = "55P03";
inline constexpr std::string_view kInFailedTransaction = "25P02";

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

class Session {
public:
    // Closes the session; an open transaction is rolled back by the server. Never throws.
    virtual ~Session() = default;

    // Runs one statement, transaction control (BEGIN, COMMIT, ROLLBACK, SAVEPOINT …) included.
    // Throws ServerError, ConnectionLost, or for COMMIT CommitOutcomeUnknown.
    virtual Result run(std::string_view statement, std::span<const Value> parameters) = 0;

    // The same, with each argument converted: execute("… WHERE id = $1", account.id). An empty
    // optional is NULL.
    template <typename... Parameters>
    Result execute(std::string_view statement, Parameters&&... parameters) {
        if constexpr (sizeof...(Parameters) == 0) {
            return run(statement, {});
        } else {
            const Value values[] = {to_value(std::forward<Parameters>(parameters))...};
            return run(statement, values);
        }
    }

private:
    template <typename Parameter>
    static Value to_value(Parameter&& parameter) {
        using Plain = std::remove_cvref_t<Parameter>;
        if constexpr (std::is_same_v<Plain, Value>) {
            return std::forward<Parameter>(parameter);
        } else if constexpr (kIsOptional<Plain>) {
            return parameter ? to_value(*std::forward<Parameter>(parameter)) : Value{Null{}};
        } else if constexpr (std::is_integral_v<Plain>) {
            return Value{static_cast<std::int64_t>(parameter)};
        } else if constexpr (std::is_floating_point_v<Plain>) {
            return Value{static_cast<double>(parameter)};
        } else if constexpr (std::is_same_v<Plain, Null> || std::is_same_v<Plain, std::nullptr_t>) {
            return Value{Null{}};
        } else {
            return Value{std::string{std::forward<Parameter>(parameter)}};
        }
    }
};

class Database {
public:
    virtual ~Database() = default;
    // Opens a session. Throws ConnectionLost (Effect::None) when the server cannot be reached.
    virtual std::unique_ptr<Session> connect() = 0;
};

}  // namespace fencepost::jobs::sql
