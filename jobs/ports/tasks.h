// The task port: background work of a node, such as the renewal of a lease.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "jobs/ports/time.h"

namespace fencepost::jobs {

// How a background task learns that it should end.
class StopSignal {
public:
    virtual ~StopSignal() = default;
    [[nodiscard]] virtual bool requested() const = 0;
    // Suspends for `duration`, or until a stop is requested; true when it was.
    virtual bool wait_for(Duration duration) = 0;
};

// A running background task. Destroying it requests a stop and does not wait.
class Task {
public:
    virtual ~Task() = default;
    virtual void request_stop() = 0;
    // Suspends the caller until the task has ended.
    virtual void join() = 0;
};

class Tasks {
public:
    virtual ~Tasks() = default;
    // Starts `body` concurrently. An exception that leaves it ends the process, as with
    // std::thread.
    [[nodiscard]] virtual std::unique_ptr<Task> spawn(std::string name,
                                                      std::function<void(StopSignal&)> body) = 0;
    // The same for one piece of work, which ends by itself and which people want to tell from the
    // background.
    [[nodiscard]] virtual std::unique_ptr<Task> spawn_work(std::string name,
                                                           std::function<void(StopSignal&)> body) {
        return spawn(std::move(name), std::move(body));
    }
};

}  // namespace fencepost::jobs
