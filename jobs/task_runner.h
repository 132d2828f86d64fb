// The runner of background tasks: looks for work, does one batch at a time, and gives the row back.
//
//   look       nothing to do: again after a while
//   claim      the row is ours for a lease that the heartbeat renews
//   share      tasks of one concurrency key do not run at once; busy: back, no attempt is used up
//   batch      the handler; then its effects, its checkpoint and what becomes of the row are
//              committed together, under the fence
//   otherwise  cancelled, retried after a bounded back-off, or put before a person
//
// Stop: first no new work, then the batch that is running may end within the time to drain, and
// past that is given back at its next step. Its heartbeat and its lease end with it, last of all.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "jobs/backoff.h"
#include "jobs/lease.h"
#include "jobs/ports/ports.h"
#include "jobs/task_context.h"
#include "jobs/task_table.h"

namespace fencepost::jobs {

struct TaskRunnerOptions {
    std::int64_t version = 1;  // of this program: work that asks for a newer one is left alone
    Duration lease = std::chrono::seconds{90};
    Duration poll = std::chrono::seconds{5};
    Duration deferral = std::chrono::seconds{5};
    Backoff backoff{.first = std::chrono::seconds{5}, .last = std::chrono::seconds{300}};
    // What a batch has left when the process is asked to end, and when others may go on with it.
    Duration drain = std::chrono::seconds{20};
    Duration handed_on_after = std::chrono::seconds{5};
};

class TaskRunner {
public:
    // `before_look`, if given, is called before each look, for what else must be found out then. It
    // may throw AttemptError.
    TaskRunner(Ports ports, TaskRunnerOptions options, BatchHandler handler,
               std::function<void(sql::Session&)> before_look = {});

    void start();
    // Drains; returns when nothing runs any more.
    void stop();

private:
    Duration look_once();
    void execute(const HeldTask& task, MonotonicTime claimed, Duration& until_next);
    // Returns after how long the next look makes sense.
    Duration work(const HeldTask& task, MonotonicTime claimed);
    Duration run_batch(const HeldTask& task, const TaskHeartbeat& heartbeat, const Lease* lease);
    [[nodiscard]] std::unique_ptr<Lease> share(const HeldTask& task);
    void write(const std::function<void(sql::Session&)>& end);
    [[nodiscard]] sql::Session& session();
    [[nodiscard]] bool must_end() const;

    Ports ports_;
    TaskRunnerOptions options_;
    BatchHandler handler_;
    std::function<void(sql::Session&)> before_look_;
    Leases leases_;
    std::unique_ptr<sql::Session> session_;  // of whichever of the runner's tasks is at work
    std::atomic<bool> stopping_ = false;
    std::atomic<MonotonicTime> drained_until_{};
    std::unique_ptr<Task> loop_;
};

}  // namespace fencepost::jobs
