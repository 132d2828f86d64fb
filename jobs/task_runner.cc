#include "jobs/task_runner.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "jobs/error_class.h"

namespace fencepost::jobs {

TaskRunner::TaskRunner(Ports ports, TaskRunnerOptions options, BatchHandler handler,
                       std::function<void(sql::Session&)> before_look)
    : ports_(ports),
      options_(options),
      handler_(std::move(handler)),
      before_look_(std::move(before_look)),
      leases_(ports, LeaseOptions{.ttl = options.lease}) {}

void TaskRunner::start() {
    loop_ = ports_.tasks.spawn("task-runner", [this](StopSignal& stop) {
        Duration wait = options_.poll;
        while (!stop.wait_for(wait) && !stopping_) {
            try {
                wait = look_once();
            } catch (const AttemptError&) {
                session_ = nullptr;
                wait = options_.poll;
            }
        }
        session_ = nullptr;
    });
}

void TaskRunner::stop() {
    drained_until_ = ports_.clock.monotonic_now() + options_.drain;
    stopping_ = true;
    if (loop_ == nullptr) return;
    loop_->request_stop();
    loop_->join();
    loop_ = nullptr;
}

bool TaskRunner::must_end() const {
    return stopping_ && ports_.clock.monotonic_now() >= drained_until_.load();
}

sql::Session& TaskRunner::session() {
    if (session_ == nullptr) session_ = ports_.database.connect();
    return *session_;
}

// How long to wait before the next look.
Duration TaskRunner::look_once() {
    if (before_look_) before_look_(session());
    const auto found = tasks::look(session(), options_.version);
    if (!found) return options_.poll;
    if (found->need != FoundTask::Need::Run) {
        tasks::settle(session(), *found);
        return Duration::zero();
    }
    if (stopping_) return Duration::zero();
    const MonotonicTime claimed = ports_.clock.monotonic_now();
    const auto task = tasks::claim(session(), *found, ports_.ids.next(), options_.lease);
    if (!task) return Duration::zero();
    Duration until_next = options_.poll;
    const auto execution = ports_.tasks.spawn_work(
        "run:" + task->id.key,
        [this, &task, claimed, &until_next](StopSignal&) { execute(*task, claimed, until_next); });
    execution->join();
    return until_next;
}

void TaskRunner::execute(const HeldTask& task, MonotonicTime claimed, Duration& until_next) {
    try {
        until_next = std::min(options_.poll, work(task, claimed));
    } catch (const Fenced&) {
        // Somebody else goes on with it.
        until_next = Duration::zero();
    } catch (const AttemptError&) {
        // What became of the row could not be written: its lease in the table ends that.
        session_ = nullptr;
    }
}

Duration TaskRunner::work(const HeldTask& task, MonotonicTime claimed) {
    const TaskHeartbeat heartbeat{ports_, task, claimed, options_.lease};
    std::unique_ptr<Lease> lease;
    if (!task.concurrency.empty()) {
        lease = share(task);
        if (lease == nullptr) {
            write([&](sql::Session& db) { tasks::defer(db, task, options_.deferral); });
            return options_.deferral;
        }
    }
    std::string error;
    try {
        return run_batch(task, heartbeat, lease.get());
    } catch (const Fenced&) {
        throw;
    } catch (const TaskCanceled&) {
        write([&](sql::Session& db) { tasks::cancel(db, task); });
        return Duration::zero();
    } catch (const HostStopping&) {
        write([&](sql::Session& db) { tasks::defer(db, task, options_.handed_on_after); });
        return options_.handed_on_after;
    } catch (const std::exception& caught) {
        error = caught.what();
        if (class_of(caught) == ErrorClass::Permanent) {
            write([&](sql::Session& db) { tasks::fail(db, task, error); });
            return Duration::zero();
        }
    }
    session_ = nullptr;
    const Duration delay = options_.backoff.before_attempt(task.attempts + 2);
    write([&](sql::Session& db) { tasks::retry(db, task, delay, error); });
    return delay;
}

// Nothing when another task of the same concurrency key is running, or when Redis cannot tell:
// then it is not run at all.
std::unique_ptr<Lease> TaskRunner::share(const HeldTask& task) {
    try {
        return leases_.try_acquire(task.concurrency);
    } catch (const ConnectionLost&) {
    } catch (const redis::ServerError&) {
    }
    return nullptr;
}

Duration TaskRunner::run_batch(const HeldTask& task, const TaskHeartbeat& heartbeat,
                               const Lease* lease) {
    const std::function<bool()> must_end = [this] { return this->must_end(); };
    TaskContext context{task, ports_.clock, session(), heartbeat, lease, must_end};
    const BatchResult result = handler_(context);
    context.ensure_going();
    const BatchEnd end{.has_more = result.has_more,
                       .checkpoint = result.checkpoint,
                       .progress = {.current = result.current, .total = result.total},
                       .next_delay = std::chrono::seconds{result.next_delay_seconds}};
    sql::Transaction transaction{session()};
    tasks::end_batch(transaction, task, end);
    if (result.effects) result.effects(transaction);
    transaction.commit();
    if (!result.has_more) return Duration::zero();
    return std::max<Duration>(end.next_delay, std::chrono::seconds{1});
}

// On a new connection when the old one has failed; more is not tried: a row that nobody gives back
// is found when its lease is over.
void TaskRunner::write(const std::function<void(sql::Session&)>& end) {
    if (session_ != nullptr) {
        try {
            end(*session_);
            return;
        } catch (const ConnectionLost&) {
            session_ = nullptr;
        }
    }
    end(session());
}

}  // namespace fencepost::jobs
