// What a database answered to a statement, in a form that the model's and the server's answers
// share, and what could be seen after a step of an interleaving.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fencepost::fidelity {

struct Answer {
    std::string sqlstate;      // of an error; empty for a success
    std::string tag;           // ROLLBACK for a COMMIT of a failed transaction, else empty
    std::int64_t changed = 0;  // rows inserted, updated or deleted
    bool has_rows = false;
    std::vector<std::string> rows;  // "1|NULL|x"; sorted where SQL gives no order

    friend bool operator==(const Answer&, const Answer&) = default;
    [[nodiscard]] std::string text() const;
};

// Sessions are numbered from 0 (A).
struct Waiting {
    std::size_t session = 0;
    // Who must end a transaction before it can go on, waiting sessions replaced by those that they
    // wait for themselves. Ascending.
    std::vector<std::size_t> roots;
};

struct Observation {
    // The answers that came with the step, the step's own first if it has one.
    std::vector<std::pair<std::size_t, Answer>> answers;
    std::vector<Waiting> waiting;  // ascending

    [[nodiscard]] std::string text() const;
};

// Whether the model may stand for the server. PostgreSQL waits for one holder of a shared lock
// after the other, where the model names them all: the server's roots are some of the model's.
[[nodiscard]] bool agree(const Observation& model, const Observation& server);

[[nodiscard]] inline char session_name(std::size_t session) {
    return static_cast<char>('A' + session);
}

}  // namespace fencepost::fidelity
