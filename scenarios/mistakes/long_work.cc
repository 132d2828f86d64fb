// Mistakes about work that lasts: what it shows, how it stops, who takes it up.
#include <algorithm>
#include <atomic>
#include <memory>

#include "scenarios/handlers/batch_import.h"
#include "scenarios/handlers/reconcile.h"
#include "scenarios/handlers/reconcile_versions.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BatchResult;
using jobs::TaskContext;

namespace {

// batch-import with one thing changed.
HandlerSpec import_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                           std::function<std::unique_ptr<Program>(const ProgramSetting&)> program,
                           std::source_location source = std::source_location::current()) {
    HandlerSpec spec = batch_import_handler();
    spec.source = source;
    spec.name = std::move(name);
    spec.lesson = std::move(lesson);
    spec.breaks = std::move(breaks);
    spec.program = std::move(program);
    return spec;
}

// "Whatever happened, the bar must not hang": a batch that does not end sets it to 100 %.
BatchResult fill_the_bar(const jobs::BatchHandler& handler, TaskContext& task) {
    try {
        BatchResult result = handler(task);
        task.ensure_going();
        return result;
    } catch (const jobs::AttemptError&) {
        task.unguarded().execute(
            "UPDATE background_task SET percent = 100 WHERE tenant = $1 AND idempotency_key = $2",
            task.task().id.tenant, task.task().id.key);
        throw;
    }
}

}  // namespace

HandlerSpec hundred_percent_on_failure() {
    return import_mistake(
        "hundred-percent-on-failure",
        "A bar that is filled in every case says that failed and cancelled work was done.",
        {"honest-status"}, [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            ImportParts parts = import_parts(setting);
            parts.handler = [handler = parts.handler](TaskContext& task) {
                return fill_the_bar(handler, task);
            };
            return std::make_unique<ImportProgram>(setting, setting.ports, std::move(parts));
        });
}

HandlerSpec guessed_total() {
    return import_mistake(
        "guessed-total",
        "A total that nobody knows is made up from what has been seen so far, and grows with it.",
        {"honest-status"}, [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            ImportParts parts = import_parts(setting);
            parts.handler = [handler = parts.handler](TaskContext& task) {
                BatchResult result = handler(task);
                if (!result.total) result.total = result.current * 2;
                return result;
            };
            return std::make_unique<ImportProgram>(setting, setting.ports, std::move(parts));
        });
}

namespace {

// Starts the background tasks of a node so that all of them can be told to end at once.
class EndableTasks : public jobs::Tasks {
public:
    explicit EndableTasks(jobs::Tasks& real) : real_(real) {}

    std::unique_ptr<jobs::Task> spawn(std::string name,
                                      std::function<void(jobs::StopSignal&)> body) override {
        if (!name.ends_with("-renewal")) return real_.spawn(std::move(name), std::move(body));
        return real_.spawn(std::move(name),
                           [body = std::move(body), end = end_](jobs::StopSignal& own) {
                               EitherSignal signal{own, *end};
                               body(signal);
                           });
    }
    std::unique_ptr<jobs::Task> spawn_work(std::string name,
                                           std::function<void(jobs::StopSignal&)> body) override {
        return real_.spawn_work(std::move(name), std::move(body));
    }
    void end_renewals() { *end_ = true; }

private:
    class EitherSignal : public jobs::StopSignal {
    public:
        EitherSignal(jobs::StopSignal& own, const std::atomic<bool>& all) : own_(own), all_(all) {}
        [[nodiscard]] bool requested() const override { return all_ || own_.requested(); }
        bool wait_for(jobs::Duration duration) override { return own_.wait_for(duration) || all_; }

    private:
        jobs::StopSignal& own_;
        const std::atomic<bool>& all_;
    };

    jobs::Tasks& real_;
    std::shared_ptr<std::atomic<bool>> end_ = std::make_shared<std::atomic<bool>>(false);
};

// "Stop whatever runs in the background, then wait for the work": in the wrong order.
class HeartbeatFirstProgram : public Program {
public:
    explicit HeartbeatFirstProgram(const ProgramSetting& setting)
        : tasks_(setting.ports.tasks),
          program_(setting, with_tasks(setting.ports, tasks_), import_parts(setting)) {}

    void start() override { program_.start(); }
    std::string handle(const jobs::Fire& fire) override { return program_.handle(fire); }
    void stop() override {
        tasks_.end_renewals();
        program_.stop();
    }

private:
    static jobs::Ports with_tasks(const jobs::Ports& ports, jobs::Tasks& tasks) {
        return {ports.node, ports.clock, ports.database, ports.redis, tasks, ports.ids};
    }

    EndableTasks tasks_;
    ImportProgram program_;
};

// Waits for the work to end before it tells anybody that no more is wanted.
class AcceptingProgram : public ImportProgram {
public:
    explicit AcceptingProgram(const ProgramSetting& setting)
        : ImportProgram(setting), clock_(setting.ports.clock) {}

    void stop() override {
        clock_.sleep_for(std::chrono::minutes{3});
        ImportProgram::stop();
    }

private:
    jobs::Clock& clock_;
};

}  // namespace

HandlerSpec stop_heartbeat_first() {
    return import_mistake("stop-heartbeat-first",
                          "Heartbeats that end before the work let its lease run out, and another "
                          "node begins what is still going on.",
                          {"drain"}, [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
                              return std::make_unique<HeartbeatFirstProgram>(setting);
                          });
}

HandlerSpec accepts_while_stopping() {
    return import_mistake("accepts-while-stopping",
                          "A node that drains before it refuses new work is never empty: it is "
                          "killed in the midst of what it took last.",
                          {"drain"}, [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
                              return std::make_unique<AcceptingProgram>(setting);
                          });
}

namespace {

// Version 2 is as it should be. Version 1 ends what it does not know as if there were nothing to
// do.
class DiscardingProgram : public WorkerProgram {
public:
    explicit DiscardingProgram(const ProgramSetting& setting)
        : WorkerProgram(setting, [old = jobs_known_to(1, setting.due),
                                  handler = reconcile_of(setting)](jobs::JobContext& job) {
              const bool known = std::ranges::find(old, job.fire().job) != old.end();
              return known ? handler(job) : jobs::Outcome::succeeded();
          }) {}
};

}  // namespace

HandlerSpec old_version_discards() {
    HandlerSpec spec = reconcile_handler();
    spec.source = std::source_location::current();
    spec.name = "old-version-discards";
    spec.lesson =
        "An old version that drops jobs which it does not know loses what a newer one would do.";
    spec.breaks = {"once", "honest-status"};
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        if (setting.version >= 2) return std::make_unique<ReconcileProgram>(setting);
        return std::make_unique<DiscardingProgram>(setting);
    };
    return spec;
}

}  // namespace fencepost::scenarios
