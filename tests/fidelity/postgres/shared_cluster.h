// One PostgreSQL cluster for all tests of a program: a cluster takes longer to start than most of
// them to run. Each comparison makes its own database in it.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "tests/fidelity/postgres/cluster.h"

namespace fencepost::fidelity {

// Started when it is first asked for, stopped at the end of the program. The error says why there
// is none.
inline const std::expected<std::unique_ptr<PostgresCluster>, std::string>& shared_cluster() {
    static const auto cluster = PostgresCluster::start();
    return cluster;
}

}  // namespace fencepost::fidelity
