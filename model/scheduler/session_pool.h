// The connections of a scheduler to its job store, kept for reuse.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/ports/clock.h"
#include "jobs/ports/sql.h"
#include "sim/time.h"

namespace fencepost::model {

class SessionPool {
public:
    // Who wants a new connection while the server refuses waits for up to `patience`, as HikariCP
    // does for 30 s; without any the refusal is passed on at once.
    SessionPool(jobs::sql::Database& database, jobs::Clock& clock,
                sim::Duration patience = sim::Duration::zero())
        : database_(&database), clock_(&clock), patience_(patience) {}

private:
    friend class PooledConnection;
    jobs::sql::Database* database_;
    jobs::Clock* clock_;
    sim::Duration patience_;
    std::vector<std::unique_ptr<jobs::sql::Session>> idle_;
};

// One use of a pooled session, from its first statement on. The first statement is a query or a
// BEGIN: if it meets a connection that broke while it lay idle, it is sent again on another one, as
// a pool that validates its connections would do it. A session that is left within a transaction or
// broken is dropped; the server rolls back.
class PooledConnection {
public:
    explicit PooledConnection(SessionPool& pool) : pool_(&pool) {}
    ~PooledConnection();
    PooledConnection(const PooledConnection&) = delete;
    PooledConnection& operator=(const PooledConnection&) = delete;

    template <typename... Parameters>
    jobs::sql::Result execute(std::string_view statement, Parameters&&... parameters) {
        for (;;) {
            const bool reused = open();
            try {
                auto result = session_->execute(statement, parameters...);
                fresh_ = false;
                return result;
            } catch (const jobs::ConnectionLost&) {
                session_.reset();
                if (!reused) throw;
                // What broke one of them has most likely broken all.
                pool_->idle_.clear();
            }
        }
    }

    void begin();
    void commit();
    // Answers no error: a connection on which it fails is dropped.
    void roll_back();

    // Runs `body` between BEGIN and COMMIT. What leaves the body is rolled back.
    template <typename Body>
    auto transaction(Body body) {
        begin();
        try {
            auto result = body();
            commit();
            return result;
        } catch (const jobs::sql::ServerError&) {
            roll_back();
            throw;
        }
    }

private:
    // True when the session has been used before and not yet by this connection.
    bool open();
    void connect();

    SessionPool* pool_;
    std::unique_ptr<jobs::sql::Session> session_;
    bool fresh_ = true;  // nothing has been answered yet
    bool in_transaction_ = false;
};

}  // namespace fencepost::model
