// Plays short dialogues of sessions with the engine, and writes its answers as people read them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/database/engine.h"

namespace fencepost::model {

inline std::string text_of(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
    return "NULL";
}

// A result with rows as "a|1 b|2", one without as the number of rows affected, a failure as its
// code, a wait as "waits".
inline std::string text_of(const SqlResult& result) {
    if (result.columns() == 0) return std::to_string(result.affected());
    std::string text;
    for (std::size_t row = 0; row < result.rows(); ++row) {
        if (row > 0) text += " ";
        for (std::size_t column = 0; column < result.columns(); ++column) {
            text += (column > 0 ? "|" : "") + text_of(result.at(row, column));
        }
    }
    return text.empty() ? "no rows" : text;
}
inline std::string text_of(const SqlAnswer& answer) {
    if (const auto* failure = std::get_if<SqlFailure>(&answer)) return failure->sqlstate;
    return text_of(std::get<SqlResult>(answer));
}
inline std::string text_of(const Outcome& outcome) {
    if (std::holds_alternative<Blocked>(outcome)) return "waits";
    if (const auto* failure = std::get_if<SqlFailure>(&outcome)) return failure->sqlstate;
    return text_of(std::get<SqlResult>(outcome));
}

class DatabaseTest : public testing::Test {
protected:
    void start(const std::string& script) {
        engine.reset(DatabaseImage::build(script));
        sessions.clear();
    }

    // The session with this name, opened when it is first named.
    SessionId of(char name) {
        SessionId& id = sessions[name];
        if (id == 0) id = engine.open();
        return id;
    }
    std::string run(char name, std::string_view sql, const std::vector<SqlValue>& parameters = {}) {
        return text_of(engine.execute(of(name), sql, parameters));
    }
    // "B: 1, C: 23505": what has gone on since, in order.
    std::string gone_on() {
        std::string text;
        for (const Completion& completion : engine.take_completions()) {
            for (const auto& [name, id] : sessions) {
                if (id == completion.session)
                    text += (text.empty() ? "" : ", ") + std::string(1, name);
            }
            text += ": " + text_of(completion.answer);
        }
        return text;
    }

    DatabaseEngine engine;
    std::map<char, SessionId> sessions;
};

}  // namespace fencepost::model
