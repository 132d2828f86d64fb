// Advisory locks: numbers that a transaction holds until it ends, whatever they mean to those who
// agree on them (PostgreSQL 15 documentation, 13.3.5).

#include <charconv>

#include "model/database/engine_state.h"

namespace fencepost::model {

using database::AdvisoryLock;
using database::IsBlocked;

namespace {

// The value of the argument; a failure if it is not of the type that the function takes.
std::variant<SqlValue, SqlFailure> value_of(const AdvisoryLock& lock,
                                            std::span<const SqlValue> parameters) {
    const std::string& text = lock.argument;
    if (text.front() != '$' && lock.hashes) return SqlValue{text};
    const bool is_parameter = text.front() == '$';
    std::int64_t number = 0;
    const auto read =
        std::from_chars(text.data() + (is_parameter ? 1 : 0), text.data() + text.size(), number);
    const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    if (!is_parameter && whole) return SqlValue{number};
    if (!is_parameter) return SqlFailure{"42883", "function does not take " + text};
    SqlValue value = parameters[static_cast<std::size_t>(number) - 1];
    const bool fits = lock.hashes ? std::holds_alternative<std::string>(value)
                                  : std::holds_alternative<std::int64_t>(value);
    if (!fits) {
        return SqlFailure{"22P02", "the argument of an advisory lock is of another type"};
    }
    return value;
}

}  // namespace

DatabaseEngine::State::Attempt DatabaseEngine::State::run_advisory_lock(
    SessionState& session, const KeptStatement& statement, Parameters parameters) {
    const AdvisoryLock& lock = *statement.parsed.advisory_lock;
    if (parameters.size() != statement.parsed.parameter_count) {
        return SqlFailure{"08P01", "bind message supplies " + std::to_string(parameters.size()) +
                                       " parameters, but prepared statement requires " +
                                       std::to_string(statement.parsed.parameter_count)};
    }
    auto value = value_of(lock, parameters);
    if (auto* failure = std::get_if<SqlFailure>(&value)) return std::move(*failure);
    database::start_key(key_buffer, database::kAdvisoryLocks, 0);
    database::append_value(key_buffer, std::get<SqlValue>(value));
    const LockRequest request{LockMode::Update, false};
    if (is_held(session, key_buffer, request)) {
        if (lock.tries) return SqlResult(1, {SqlValue{std::int64_t{0}}}, 0);
        session.wait.key = key_buffer;
        session.wait.request = request;
        return IsBlocked{};
    }
    if (session.in_block) {
        session.holdings.locks.add(key_buffer, request.mode, false, session.holdings.log.size());
        note_holding(session);
    }
    // The one without "try" answers a row with nothing in it (of type void).
    return SqlResult(1, {lock.tries ? SqlValue{std::int64_t{1}} : SqlValue{std::string{}}}, 0);
}

}  // namespace fencepost::model
