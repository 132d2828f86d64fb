#include "sim/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fencepost::sim {
namespace {

bool has_ended(const Task& task) {
    return !task.fiber->active() || task.fiber->abandoned();
}

// What a task starts in the background works for it; what "main" starts works for itself.
TaskId root_of(const Task* starter, const Incarnation& incarnation, TaskKind kind) {
    const bool for_another = starter != nullptr && starter->incarnation == &incarnation &&
                             kind == TaskKind::Daemon && !starter->is_main;
    return for_another ? starter->root : kNoTask;
}

}  // namespace

Kernel::Kernel() {
    history_.clear();
}

Kernel::~Kernel() {
    end_run();
}

void Kernel::reset(std::uint64_t seed, Time start) {
    end_run();
    queue_.clear();
    history_.clear();
    incarnations_.clear();
    nodes_.clear();
    closures_.clear();
    end_observers_.clear();
    exact_.clear();
    patterns_.clear();
    struck_.clear();
    effective_.clear();
    timed_pending_ = 0;
    plan_ = nullptr;
    striker_ = nullptr;
    random_ = Random{seed};
    now_ = start;
    steps_ = 0;
    stop_requested_ = false;
}

void Kernel::end_run() {
    ending_ = true;
    while (used_tasks_ > 0) {
        Task& task = tasks_[--used_tasks_];
        current_ = &task;
        task.fiber->kill();
        current_ = nullptr;
        // What an abandoned fiber owned is lost on purpose.
        if (task.fiber->abandoned()) task.fiber = std::make_unique<Fiber>(stacks_);
        task.joiners.clear();
    }
    foreground_ = 0;
    ending_ = false;
}

void Kernel::schedule(Time at, std::function<void()> closure) {
    closures_.push_back(std::move(closure));
    schedule(at, Action{[](void* target, std::uint64_t) {
                            (*static_cast<std::function<void()>*>(target))();
                        },
                        &closures_.back(), 0});
}

RunEnd Kernel::run(Time deadline, std::uint64_t step_limit) {
    stop_requested_ = false;
    while (!stop_requested_) {
        if (queue_.empty()) return RunEnd::Deadlock;
        if (queue_.next_time() > deadline) {
            now_ = std::max(now_, deadline);
            return RunEnd::Deadline;
        }
        if (steps_ >= step_limit) return RunEnd::StepLimit;
        ++steps_;
        const Event event = queue_.pop();
        now_ = event.at;
        event.action();
        if (watcher_) watcher_();
    }
    return RunEnd::Quiet;
}

// --- tasks

Task& Kernel::self() const {
    require(current_ != nullptr, "only a task may do this");
    return *current_;
}

Task& Kernel::spawn(Incarnation& incarnation, std::string_view name, TaskKind kind,
                    Fiber::Body body) {
    require(incarnation.alive(), "a process that has ended starts no task");
    if (used_tasks_ == tasks_.size()) tasks_.emplace_back(stacks_);
    Task& task = tasks_[used_tasks_++];
    const std::uint64_t hash = hash_of(name);
    task.name = name;
    const auto known = std::ranges::find(incarnation.names_, hash,
                                         &std::pair<std::uint64_t, std::uint32_t>::first);
    if (known == incarnation.names_.end()) {
        incarnation.names_.emplace_back(hash, 1);
    } else {
        task.name += fmt::format("~{}", ++known->second);
    }
    const Node& node = incarnation.node();
    task.incarnation = &incarnation;
    task.kind = kind;
    task.point_key =
        combine(combine(hash_of(node.name()), incarnation.number()), hash_of(task.name));
    task.calls.clear();
    task.waits_for = nullptr;
    task.last_record = current_ != nullptr ? current_->last_record : kNoRecord;
    task.is_main = incarnation.tasks_.empty() && incarnation.names_.size() == 1;
    task.root = root_of(current_, incarnation, kind);
    task.id = history_.add_task({task.name, node.party(), incarnation.number(), task.root});
    if (task.root == kNoTask) task.root = task.id;
    incarnation.tasks_.push_back(&task);
    if (kind == TaskKind::Foreground) ++foreground_;
    record_for(task, TaskStarted{kind == TaskKind::Foreground});
    task.fiber->start(std::move(body));
    wake_at(now_, task, ++task.suspension);
    return task;
}

void Kernel::wait(const WaitReason& reason) {
    Task& task = self();
    if (dead_call()) return;
    task.waits_for = &reason;
    task.waits_since = now_;
    task.fiber->suspend();
    task.waits_for = nullptr;
}

void Kernel::wake_at(Time at, Task& task, std::uint64_t suspension) {
    // Tasks outlive the run's events, so the suspension's number is enough to void a late wake-up.
    struct Waker {
        static void run(void* target, std::uint64_t number) {
            auto* woken = static_cast<Task*>(target);
            woken->incarnation->node().kernel().wake(*woken, number);
        }
    };
    schedule(at, Action{&Waker::run, &task, suspension});
}

void Kernel::wake(Task& task, std::uint64_t suspension) {
    const Node& node = task.incarnation->node();
    if (now_ < node.slow_until_) {
        schedule(later(now_, node.slowness_),
                 Action{[](void* target, std::uint64_t number) {
                            auto* woken = static_cast<Task*>(target);
                            woken->incarnation->node().kernel().deliver(*woken, number);
                        },
                        &task, suspension});
    } else if (current_ != nullptr) {
        wake_at(now_, task, suspension);
    } else {
        deliver(task, suspension);
    }
}

void Kernel::deliver(Task& task, std::uint64_t suspension) {
    if (has_ended(task) || task.suspension != suspension || !task.incarnation->alive()) return;
    Node& node = task.incarnation->node();
    if (node.paused()) {
        node.deferred_.emplace_back(&task, suspension);
    } else {
        resume(task);
    }
}

void Kernel::resume(Task& task) {
    ++task.suspension;
    current_ = &task;
    task.fiber->resume();
    current_ = nullptr;
    if (has_ended(task)) task_ended(task);
}

void Kernel::task_ended(Task& task) {
    if (task.kind == TaskKind::Foreground) --foreground_;
    const auto joiners = std::move(task.joiners);
    task.joiners.clear();
    if (ending_ || !task.incarnation->alive()) return;
    std::erase(task.incarnation->tasks_, &task);
    record_for(task, TaskEnded{});
    if (task.fiber->failure()) {
        std::string how = "uncaught exception in " + task.name;
        try {
            std::rethrow_exception(task.fiber->failure());
        } catch (const BrokenInvariant&) {
            throw;
        } catch (const std::exception& error) {
            how += std::string(": ") + error.what();
        } catch (...) {
        }
        current_ = &task;  // what ends its node
        crash(task.incarnation->node(), std::nullopt, how);
        current_ = nullptr;
        return;
    }
    for (const auto& [joiner, suspension] : joiners) wake(*joiner, suspension);
}

void Kernel::sleep(Duration duration) {
    if (dead_call()) return;
    Task& task = self();
    if (duration <= Duration::zero()) return;
    wake_at(task.incarnation->node().clock.after(now_, duration), task, task.suspension);
    static const WaitText kReason{"its timer"};
    wait(kReason);
}

void Kernel::join(Task& task) {
    if (dead_call()) return;
    while (!has_ended(task)) {
        task.joiners.emplace_back(current_, current_->suspension);
        const WaitText reason{task.name};
        wait(reason);
        if (dead_call()) return;
    }
}

void Kernel::kill(Task& task) {
    require(&task != current_, "a task does not kill itself");
    if (has_ended(task)) return;
    require(current_ == nullptr, "tasks are killed by the loop");
    ++task.suspension;
    current_ = &task;
    task.fiber->kill();
    current_ = nullptr;
    task_ended(task);
}

bool Kernel::dead_call() {
    Fiber* fiber = Fiber::current();
    return fiber != nullptr && fiber->dead_call();
}

std::vector<const Task*> Kernel::tasks() const {
    std::vector<const Task*> alive;
    for (std::size_t i = 0; i < used_tasks_; ++i) {
        if (!has_ended(tasks_[i])) alive.push_back(&tasks_[i]);
    }
    return alive;
}

std::vector<std::string> Kernel::waiters(bool foreground_only) const {
    std::vector<std::string> lines;
    for (const Task* task : tasks()) {
        if (task->waits_for == nullptr) continue;
        if (foreground_only && task->kind != TaskKind::Foreground) continue;
        lines.push_back(fmt::format("{}: has waited {} for {}", history_.actor(task->id),
                                    to_text(now_ - task->waits_since),
                                    task->waits_for->describe()));
    }
    return lines;
}

}  // namespace fencepost::sim
