// Random interleavings of sessions over a few small tables: the tables, the statements, and how a
// case is drawn, cut down and written for a reader.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/database/outcome.h"

namespace fencepost::fidelity {

// t: two rows, two unique keys. child and kid refer to it; kid's rows go with theirs. log: ids
// alone.
[[nodiscard]] std::string_view tables_script();
// Rows at the start of each case, and how to empty the tables and turn the sequences back (the
// server's alone: the model starts afresh).
[[nodiscard]] std::string_view rows_script();
[[nodiscard]] std::string_view clearing_script();
// A query over each table, and over what the sequences give next.
[[nodiscard]] const std::vector<std::string>& final_queries();

struct Step {
    std::size_t session = 0;
    std::size_t statement = 0;  // of the list of statements
    int key = 1;                // 1, 2, 3
    int number = 0;             // 0, 1, 2

    // Nothing if the session is killed instead.
    [[nodiscard]] std::string sql() const;
    [[nodiscard]] bool kills() const { return sql().empty(); }
};

struct Case {
    std::size_t sessions = 2;
    std::vector<Step> steps;  // before them, every session says BEGIN if begin is set
    bool begin = true;
    bool commit = true;  // how open transactions end after the last step

    [[nodiscard]] std::string text() const;
};

[[nodiscard]] rc::Gen<Case> any_case(model::IsolationLevel level);

}  // namespace fencepost::fidelity
