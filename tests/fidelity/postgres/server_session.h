// One session on a real PostgreSQL, driven without threads: a statement is sent, and settle() waits
// until it is answered or stands at a lock.
//
// A backend says by itself that it waits: with log_lock_waits and client_min_messages=log it sends
// "process … still waiting for …" to its own client once the wait has outlived deadlock_timeout and
// no deadlock was found. That message is exact, unlike a guess from the time that has passed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fidelity/postgres/answer.h"

struct pg_conn;
struct pg_result;

namespace fencepost::fidelity {

// The server is gone, or does not answer: the comparison itself is broken.
class ServerLost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class ServerSession {
public:
    explicit ServerSession(const std::string& connection_info);
    ~ServerSession();
    ServerSession(const ServerSession&) = delete;
    ServerSession& operator=(const ServerSession&) = delete;

    [[nodiscard]] pid_t process() const { return process_; }
    // Between BEGIN and its end, failed or not, as of its last answer.
    [[nodiscard]] bool in_transaction() const;

    void send(const std::string& sql);
    // The answer, or nothing if the statement waits for a lock.
    [[nodiscard]] std::optional<Answer> settle();
    // Forgets the last "still waiting": the lock that it was about has been granted.
    void expect_to_go_on() { waiting_ = false; }
    // Until the backend is gone; for one that was told to end.
    void wait_for_end();

    // Sends and waits for the answer; the statement must not stand at a lock. With several
    // statements, the answer to the last.
    Answer run(const std::string& sql);
    // The same with the answers to all statements.
    std::vector<Answer> run_each(const std::string& sql);

private:
    static void on_notice(void* self, const pg_result* notice);
    void wait_readable();
    void read_results();

    pg_conn* connection_ = nullptr;
    pid_t process_ = 0;
    bool waiting_ = false;
    std::optional<Answer> answer_;
    std::vector<Answer> answers_;  // of the statements that were sent together
};

}  // namespace fencepost::fidelity
