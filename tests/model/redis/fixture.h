// A Redis server with a clock that the test moves.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "model/redis/server.h"

namespace fencepost::jobs::redis {

inline void PrintTo(const Reply& reply, std::ostream* out) {
    switch (reply.kind) {
        case Reply::Kind::Nil:
            *out << "nil";
            break;
        case Reply::Kind::Status:
            *out << "+" << reply.text;
            break;
        case Reply::Kind::Integer:
            *out << ":" << reply.integer;
            break;
        case Reply::Kind::Bulk:
            *out << '"' << reply.text << '"';
            break;
        case Reply::Kind::Error:
            *out << "-" << reply.text;
            break;
        case Reply::Kind::Array:
            *out << "[";
            for (const Reply& element : reply.elements) {
                PrintTo(element, out);
                *out << " ";
            }
            *out << "]";
            break;
    }
}

}  // namespace fencepost::jobs::redis

namespace fencepost::model {

using jobs::redis::Reply;
using namespace std::chrono_literals;

inline constexpr std::int64_t kStartMs = 1'700'000'000'000;

class RedisTest : public ::testing::Test {
protected:
    struct Seen {
        KeyChange::Kind kind;
        std::string key;
        std::string before;
        std::string after;
        std::int64_t expiry_after_ms;
        std::uint32_t client;
        bool operator==(const Seen&) const = default;
    };

    RedisTest() {
        server_.set_observer([this](const KeyChange& change) {
            seen_.push_back({change.kind, std::string(change.key),
                             std::string(change.before.value_or("-")),
                             std::string(change.after.value_or("-")),
                             change.expiry_after_ms.value_or(-1), change.client});
        });
    }

    [[nodiscard]] RedisNow now() const { return {wall_us_, elapsed_}; }
    [[nodiscard]] std::int64_t now_ms() const { return wall_us_ / 1000; }

    void pass(std::chrono::nanoseconds time) {
        elapsed_ += time;
        wall_us_ += std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    }
    void step_wall_clock(std::chrono::microseconds step) { wall_us_ += step.count(); }

    Reply run(std::initializer_list<std::string> arguments) {
        return server_.execute(kClient, arguments, now());
    }
    Reply eval(const std::string& script, std::initializer_list<std::string> keys = {},
               std::initializer_list<std::string> arguments = {}) {
        std::vector<std::string> command = {"EVAL", script, std::to_string(keys.size())};
        command.insert(command.end(), keys.begin(), keys.end());
        command.insert(command.end(), arguments.begin(), arguments.end());
        return server_.execute(kClient, command, now());
    }
    void restart_after(RedisLoss loss, std::chrono::nanoseconds downtime = 1s) {
        server_.crash(now(), loss);
        pass(downtime);
        server_.start(now());
    }

    static constexpr std::uint32_t kClient = 7;

    RedisServer server_;
    std::vector<Seen> seen_;

private:
    std::int64_t wall_us_ = kStartMs * 1000;
    std::chrono::nanoseconds elapsed_{};
};

inline Reply ok() {
    return Reply::status("OK");
}
inline Reply number(std::int64_t value) {
    return Reply::number(value);
}
inline Reply bulk(std::string text) {
    return Reply::bulk(std::move(text));
}
inline Reply nil() {
    return Reply::nil();
}
inline Reply error(std::string text) {
    return Reply::error(std::move(text));
}

}  // namespace fencepost::model
