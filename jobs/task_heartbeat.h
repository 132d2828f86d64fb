// The heartbeat of a task that is being worked on: renews its lease in the table for as long as it
// lives, and learns what its holder must know: that an operator wants it cancelled, or that it is
// somebody else's by now.
#pragma once

#include <memory>

#include "jobs/ports/ports.h"
#include "jobs/task_table.h"

namespace fencepost::jobs {

class TaskHeartbeat {
public:
    // `claimed` is the moment before the claim was sent: the lease is counted from there, on the
    // monotonic clock. Renews every third of the lease, on a session of its own.
    TaskHeartbeat(const Ports& ports, const HeldTask& task, MonotonicTime claimed, Duration lease);
    ~TaskHeartbeat();
    TaskHeartbeat(const TaskHeartbeat&) = delete;
    TaskHeartbeat& operator=(const TaskHeartbeat&) = delete;

    // False once the lease may have run out or somebody else was seen to hold the task.
    [[nodiscard]] bool held() const;
    [[nodiscard]] bool cancel_requested() const;

private:
    struct State;
    std::shared_ptr<State> state_;
    std::unique_ptr<Task> renewal_;
};

}  // namespace fencepost::jobs
