// Random interleavings of two and three sessions on the database model and on a real PostgreSQL 15:
// rows, row counts, SQLSTATEs, who waits for whom after every step, and the tables at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/database/flaw.h"
#include "model/database/outcome.h"
#include "tests/fidelity/comparisons.h"
#include "tests/fidelity/postgres/cluster.h"

namespace fencepost::fidelity {

struct PostgresOptions {
    std::int64_t cases = 1000;
    std::uint64_t seed = 1;
    // Stop at the first difference instead of counting all.
    bool first_only = false;
    bool shrink = true;
    model::IsolationLevel level = model::IsolationLevel::ReadCommitted;
    // What the model is made to do wrong, for tests of the comparison.
    model::DatabaseFlaw flaw = model::DatabaseFlaw::None;
    // Where it makes a database; without one it starts a cluster of its own.
    PostgresCluster* cluster = nullptr;
    // Called after each case; what it throws ends the comparison.
    std::function<void(const Progress&)> progress = [](const Progress&) {};
};

struct PostgresComparison : Comparison {
    std::map<std::string, std::int64_t> seen{};  // kinds of events that the server has shown
};

[[nodiscard]] PostgresComparison compare_postgres(const PostgresOptions& options);

}  // namespace fencepost::fidelity
