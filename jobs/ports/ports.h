// Everything that a job may touch of the world around it. No other clock, thread, connection or
// random source is used by jobs/, so that the same object code runs in production and in a test
// world.
#pragma once

#include <cstdint>
#include <string>

#include "jobs/ports/broker.h"
#include "jobs/ports/clock.h"
#include "jobs/ports/gateway.h"
#include "jobs/ports/redis.h"
#include "jobs/ports/sql.h"
#include "jobs/ports/tasks.h"

namespace fencepost::jobs {

// Unique strings: every call gives another one, also across nodes and restarts. For owners and
// attempt ids only; never for an idempotency key.
class UniqueIds {
public:
    virtual ~UniqueIds() = default;
    virtual std::string next() = 0;
};

// References to the adapters of one node. They outlive every task of the node's process.
struct Ports {
    std::string node;  // the node's name, for people
    Clock& clock;
    sql::Database& database;
    redis::Client& redis;
    Tasks& tasks;
    UniqueIds& ids;
    broker::Client* broker = nullptr;    // null: the process has none
    gateway::Client* gateway = nullptr;  // null: the process has none
};

}  // namespace fencepost::jobs
