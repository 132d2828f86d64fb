#include "jobs/task_heartbeat.h"

#include <atomic>
#include <utility>

namespace fencepost::jobs {

// Shared with the renewal, which may outlive the heartbeat by the time it takes to stop.
struct TaskHeartbeat::State {
    Clock& clock;
    sql::Database& database;
    HeldTask task;
    Duration lease;
    std::atomic<MonotonicTime> valid_until;
    std::atomic<bool> lost = false;
    std::atomic<bool> cancel_requested = false;
    std::unique_ptr<sql::Session> session{};

    State(const Ports& ports, HeldTask of, MonotonicTime claimed, Duration lasting)
        : clock(ports.clock),
          database(ports.database),
          task(std::move(of)),
          lease(lasting),
          valid_until(claimed + lasting) {}

    [[nodiscard]] bool held() const { return !lost && clock.monotonic_now() < valid_until.load(); }

    void renew_once() {
        if (session == nullptr) session = database.connect();
        const MonotonicTime sent = clock.monotonic_now();
        switch (tasks::renew(*session, task, lease)) {
            case Renewal::CancelRequested:
                cancel_requested = true;
                valid_until = sent + lease;
                break;
            case Renewal::Held:
                valid_until = sent + lease;
                break;
            case Renewal::Lost:
                lost = true;
                break;
        }
    }

    // A renewal that failed proves nothing: it is tried again until the lease is really over.
    void renew_until_stopped(StopSignal& stop) {
        while (!stop.wait_for(lease / 3) && held()) {
            try {
                renew_once();
            } catch (const AttemptError&) {
                session = nullptr;
            }
        }
        session = nullptr;
    }
};

TaskHeartbeat::TaskHeartbeat(const Ports& ports, const HeldTask& task, MonotonicTime claimed,
                             Duration lease)
    : state_(std::make_shared<State>(ports, task, claimed, lease)),
      renewal_(ports.tasks.spawn("task-renewal", [state = state_](StopSignal& stop) {
          state->renew_until_stopped(stop);
      })) {}

TaskHeartbeat::~TaskHeartbeat() = default;

bool TaskHeartbeat::held() const {
    return state_->held();
}

bool TaskHeartbeat::cancel_requested() const {
    return state_->cancel_requested;
}

}  // namespace fencepost::jobs
