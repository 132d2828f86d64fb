// What the handler of a background task sees, and what it answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "jobs/lease.h"
#include "jobs/ports/clock.h"
#include "jobs/reading_session.h"
#include "jobs/task_heartbeat.h"
#include "jobs/task_table.h"

namespace fencepost::jobs {

// An operator wants the task cancelled: nothing of the batch is committed.
class TaskCanceled : public AttemptError {
public:
    explicit TaskCanceled(const std::string& message) : AttemptError(message, Effect::None) {}
};

// The process ends before the batch can: nothing of it is committed, another node goes on.
class HostStopping : public AttemptError {
public:
    explicit HostStopping(const std::string& message) : AttemptError(message, Effect::None) {}
};

// The answer to one call of a handler: one batch.
struct BatchResult {
    bool has_more = false;
    Checkpoint checkpoint;              // where the next batch goes on
    std::int64_t current = 0;           // items done so far, this batch included
    std::optional<std::int64_t> total;  // only if it is known
    std::int64_t next_delay_seconds = 1;
    // Writes the batch, in the transaction that commits the checkpoint under the fence.
    std::function<void(sql::Transaction&)> effects;
};

class TaskContext {
public:
    // `concurrency` may be null: the task shares with everybody. `must_end`: the process does.
    TaskContext(const HeldTask& task, Clock& clock, sql::Session& session,
                const TaskHeartbeat& heartbeat, const Lease* concurrency,
                const std::function<bool()>& must_end)
        : task_(task),
          clock_(clock),
          session_(session),
          reading_(session),
          heartbeat_(heartbeat),
          concurrency_(concurrency),
          must_end_(must_end) {}

    [[nodiscard]] const HeldTask& task() const { return task_; }
    [[nodiscard]] FencingToken token() const { return task_.token; }
    // The last committed position, whoever committed it.
    [[nodiscard]] const std::optional<Checkpoint>& checkpoint() const { return task_.checkpoint; }
    // The key of one effect: unique in its table, the same on every rerun.
    [[nodiscard]] std::string effect_key(std::int64_t number) const {
        return task_.id.key + "/" + std::to_string(number);
    }

    [[nodiscard]] Clock& clock() { return clock_; }
    // For reading; throws Misuse for a statement that writes. Effects go into the result.
    [[nodiscard]] sql::Session& db() { return reading_; }
    // For what is to go past the fence: nothing holds a stale holder's write back then.
    [[nodiscard]] sql::Session& unguarded() { return session_; }

    // To be asked between the steps of a long batch. Throws TaskCanceled, HostStopping or
    // LeaseLost: let them pass.
    void ensure_going() const {
        if (!heartbeat_.held())
            throw LeaseLost("the task " + task_.id.key + " is not held any more");
        if (heartbeat_.cancel_requested())
            throw TaskCanceled("an operator cancels " + task_.id.key);
        if (concurrency_ != nullptr) concurrency_->ensure_held();
        if (must_end_()) throw HostStopping("the process ends within the batch");
    }

private:
    const HeldTask& task_;
    Clock& clock_;
    sql::Session& session_;
    ReadingSession reading_;
    const TaskHeartbeat& heartbeat_;
    const Lease* concurrency_;
    const std::function<bool()>& must_end_;
};

// The body of a task: called for one batch at a time. Ordinary blocking code; what it throws is
// classed (jobs/error_class.h).
using BatchHandler = std::function<BatchResult(TaskContext&)>;

}  // namespace fencepost::jobs
