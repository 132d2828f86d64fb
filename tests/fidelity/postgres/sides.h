// The two sides of a comparison, with one interface: sessions that run statements one step after
// the other, and what can be seen after each.
//
// Both follow two rules that make the real side repeatable:
// - A step ends when every statement is answered or waits for a lock.
// - Sessions that are freed go on one after the other, in the order in which they began to wait. On
//   the server, which would let them race, their processes are stopped and continued in that order.
// - A deadlock is found by whoever begins to wait last: all others have waited for longer than
//   deadlock_timeout by then, and a PostgreSQL backend looks for a deadlock once in a wait.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/database/engine.h"
#include "tests/fidelity/postgres/answer.h"
#include "tests/fidelity/postgres/server_session.h"

namespace fencepost::fidelity {

class ModelSide {
public:
    ModelSide(model::IsolationLevel level, model::DatabaseFlaw flaw);

    // A fresh database with open sessions.
    void reset(std::size_t sessions);
    [[nodiscard]] bool waiting(std::size_t session) const;
    [[nodiscard]] bool in_transaction(std::size_t session) const;
    [[nodiscard]] bool failed(std::size_t session) const;
    [[nodiscard]] bool order_decided() const { return engine_.order_decided(); }
    Observation step(std::size_t session, const std::string& sql);
    // The session ends in the middle of whatever it does; a new one takes its place.
    Observation kill(std::size_t session);
    [[nodiscard]] std::vector<std::string> tables();

private:
    void take_completions(Observation& seen);
    void break_deadlocks(Observation& seen);
    void note_waits(Observation& seen) const;
    [[nodiscard]] std::size_t index_of(model::SessionId id) const;

    model::DatabaseEngine engine_;
    model::DatabaseImage image_;
    std::vector<model::SessionId> sessions_;
    std::vector<bool> ordered_;  // whether the statement gives its rows an order
};

class ServerSide {
public:
    ServerSide(const std::string& connection_info, model::IsolationLevel level);

    [[nodiscard]] std::string version();
    void reset(std::size_t sessions);
    [[nodiscard]] bool waiting(std::size_t session) const;
    Observation step(std::size_t session, const std::string& sql);
    Observation kill(std::size_t session);
    [[nodiscard]] std::vector<std::string> tables();

private:
    struct Ungranted {
        pid_t process;
        std::vector<pid_t> blockers;
    };
    void add_answer(Observation& seen, std::size_t session, Answer answer) const;
    void hold_waiters();
    std::vector<Ungranted> let_go_on(Observation& seen);
    void note_waits(Observation& seen, const std::vector<Ungranted>& blocked);
    [[nodiscard]] std::vector<Ungranted> ungranted();
    [[nodiscard]] std::size_t index_of(pid_t process) const;
    void terminate(std::size_t session);

    std::size_t truncates_after_;  // so many resets
    std::string connection_info_;  // of the sessions
    ServerSession monitor_;
    std::vector<std::unique_ptr<ServerSession>> sessions_;
    std::vector<std::size_t> waiters_;  // in the order in which they began to wait
    std::vector<bool> ordered_;
    std::vector<bool> stopped_;
    std::size_t resets_ = 0;
};

// As PostgreSQL writes it.
[[nodiscard]] std::string_view name_of(model::IsolationLevel level);

// Whether a statement gives its rows an order.
[[nodiscard]] bool gives_order(std::string_view sql);

}  // namespace fencepost::fidelity
