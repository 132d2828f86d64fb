// The SQL of a run on bare SQLite: what a run would cost if it were nothing but its statements.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenarios/runner.h"

struct sqlite3;

namespace fencepost::bench {

class BareSql {
public:
    // A database with that schema, as SQLite has it, and the statements to run on it.
    BareSql(const std::vector<std::string>& schema,
            std::vector<scenarios::ExecutedStatement> statements);
    ~BareSql();
    BareSql(const BareSql&) = delete;
    BareSql& operator=(const BareSql&) = delete;

    // Restores the fresh image and runs every statement, prepared once, on one connection.
    void run();
    // Restores the fresh image alone.
    void restore();
    // Opens a connection and runs the schema, as one would without an image.
    void open_and_build() const;

    [[nodiscard]] std::size_t statements() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace fencepost::bench
