#include "model/scheduler/session_pool.h"

namespace fencepost::model {

PooledConnection::~PooledConnection() {
    if (session_ != nullptr && !in_transaction_) pool_->idle_.push_back(std::move(session_));
}

bool PooledConnection::open() {
    if (session_ != nullptr) return false;
    if (!fresh_) throw jobs::ConnectionLost{"the connection is gone", jobs::Effect::None};
    if (!pool_->idle_.empty()) {
        session_ = std::move(pool_->idle_.back());
        pool_->idle_.pop_back();
        return true;
    }
    connect();
    return false;
}

void PooledConnection::connect() {
    constexpr sim::Duration kBetweenTries = std::chrono::milliseconds{250};
    for (sim::Duration waited{}; session_ == nullptr; waited += kBetweenTries) {
        try {
            session_ = pool_->database_->connect();
        } catch (const jobs::ConnectionLost&) {
            if (waited >= pool_->patience_) throw;
            pool_->clock_->sleep_for(kBetweenTries);
        }
    }
}

void PooledConnection::begin() {
    execute("BEGIN");
    in_transaction_ = true;
}

void PooledConnection::commit() {
    execute("COMMIT");
    in_transaction_ = false;
}

void PooledConnection::roll_back() {
    if (session_ == nullptr) return;
    try {
        execute("ROLLBACK");
        in_transaction_ = false;
    } catch (const jobs::AttemptError&) {
        session_.reset();
    }
}

}  // namespace fencepost::model
