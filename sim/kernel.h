// The kernel of a simulated world: virtual time, pending events, nodes and tasks, faults, history.
//
// The main loop takes the earliest event and runs it; an event may resume one task, which runs
// until it waits again. Nothing else moves time. One kernel serves any number of runs, one after
// the other: reset() starts the next with the same memory.
//
// Ordering. Events at one instant run in the order in which they were scheduled. A crash ends the
// incarnation at once; its tasks are unwound by the next event of the loop, youngest first, and
// until then none of them runs.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/event_queue.h"
#include "sim/events.h"
#include "sim/fault.h"
#include "sim/history.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/random.h"

namespace fencepost::sim {

// What the call-level faults that have struck a call ask for.
struct CallFaults {
    bool lose_request = false;
    bool lose_answer = false;
    bool duplicate = false;
    bool reset = false;
    bool refuse = false;
    std::optional<FaultKind> server_error;  // SerializationFailure or DeadlockVictim
    Duration delay_request{};
    Duration delay_answer{};
};

// One call of a task across a port, on its way through the phases.
struct Call {
    Task* task = nullptr;
    std::string_view operation;  // lives as long as the run
    std::uint32_t ordinal = 0;
    std::uint64_t key = 0;  // of the point's address; for keyed draws
    RecordId record = kNoRecord;
    std::vector<std::uint16_t> faults;  // indices into the plan; mostly none
    CallFaults asked;                   // by the faults that have struck so far
};

// Carries out the faults that are not the call's own: on nodes, links, servers, clocks, the
// scheduler.
class FaultStriker {
public:
    virtual ~FaultStriker() = default;
    // `origin` is the node at whose fault point it struck; null for a fault at a time.
    virtual void strike(std::uint32_t index, const Fault& fault, Node* origin) = 0;
};

enum class RunEnd : std::uint8_t {
    Quiet,      // the world asked to stop: stop()
    Deadline,   // the virtual deadline came
    StepLimit,  // too many events: something loops without getting anywhere
    Deadlock,   // nothing is pending and yet tasks wait
};

constexpr std::string_view name_of(RunEnd end) {
    switch (end) {
        case RunEnd::Quiet:
            return "quiet";
        case RunEnd::Deadline:
            return "virtual deadline";
        case RunEnd::StepLimit:
            return "step limit";
        case RunEnd::Deadlock:
            return "deadlock";
    }
    return "?";
}

class Kernel {
public:
    Kernel();
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    // Forgets the last run, its tasks included, and starts the next at `start`.
    void reset(std::uint64_t seed, Time start);

    // Unwinds every task that is left, youngest first, without a trace in the history.
    void end_run();

    // --- time and events
    [[nodiscard]] Time now() const { return now_; }
    [[nodiscard]] const Random& random() const { return random_; }
    void schedule(Time at, Action action) { queue_.push(at < now_ ? now_ : at, action); }
    // For what is not on the hot path: the closure lives until the run ends.
    void schedule(Time at, std::function<void()> closure);

    // The main loop: events up to `deadline` and at most `step_limit` of them, until stop().
    RunEnd run(Time deadline, std::uint64_t step_limit);
    void stop() { stop_requested_ = true; }
    // Calls `watcher` after each event of the main loop, outside any task; empty: nobody watches.
    // It may look and must change nothing; an exception that it throws leaves run(). Outlives
    // reset().
    void watch(std::function<void()> watcher) { watcher_ = std::move(watcher); }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    // Stacks of fibers that were ever made: what many runs in one kernel must not raise.
    [[nodiscard]] std::size_t stacks_created() const { return stacks_.created(); }

    // --- history
    [[nodiscard]] History& history() { return history_; }
    [[nodiscard]] const History& history() const { return history_; }
    // Records what the running task does (or the world, outside any), caused by what it did before.
    template <EventType E>
    RecordId record(const E& event) {
        if (current_ == nullptr) return history_.append(now_, kWorld, kNoTask, kNoRecord, event);
        return record_for(*current_, event);
    }
    template <EventType E>
    RecordId record_for(Task& task, const E& event) {
        task.last_record = history_.append(now_, task.incarnation->node().party(), task.id,
                                           task.last_record, event);
        return task.last_record;
    }
    // Records what a server or the world does because of an earlier record.
    template <EventType E>
    RecordId record_at(PartyId party, RecordId cause, const E& event, TaskId task = kNoTask) {
        return history_.append(now_, party, task, cause, event);
    }

    // --- nodes
    PartyId add_party(std::string_view name) { return history_.add_party(name); }
    Node& add_node(std::string name, Node::Boot boot);
    [[nodiscard]] std::deque<Node>& nodes() { return nodes_; }
    [[nodiscard]] Node* find_node(std::string_view name);
    void boot(Node& node);
    // Each returns whether it changed anything: a node that is down cannot crash.
    bool crash(Node& node, std::optional<Duration> restart_after, std::string_view how = "crash");
    bool pause(Node& node, Duration duration);
    bool slow(Node& node, Duration by, Duration lasting);
    bool stop_gracefully(Node& node, Duration grace, std::optional<Duration> restart_after);
    // Ends every pause and slowness and boots every node that is down.
    void heal_nodes();
    // Called when an incarnation ends, before anything else happens.
    void on_incarnation_end(std::function<void(Incarnation&)> observer);

    // --- tasks
    Task& spawn(Incarnation& incarnation, std::string_view name, TaskKind kind, Fiber::Body body);
    // The running task; null outside any.
    [[nodiscard]] Task* current() const { return current_; }
    // The running task, for code that only tasks run.
    [[nodiscard]] Task& self() const;
    // Suspends the running task until somebody wakes it; returns at once for a task being unwound.
    void wait(const WaitReason& reason);
    // Wakes `task` from that suspension, now if possible; void when it has gone on or died since.
    void wake(Task& task, std::uint64_t suspension);
    void wake_at(Time at, Task& task, std::uint64_t suspension);
    // Suspends the running task for a duration on its node's monotonic clock.
    void sleep(Duration duration);
    // Waits until `task` has ended.
    void join(Task& task);
    // Unwinds one task; not the running one.
    void kill(Task& task);
    // True when the running task is being unwound and the caller must do nothing (see
    // Fiber::dead_call).
    [[nodiscard]] bool dead_call();
    [[nodiscard]] std::size_t foreground_tasks() const { return foreground_; }
    // Those that have not ended, in the order in which they were started.
    [[nodiscard]] std::vector<const Task*> tasks() const;
    // "A#1/daily-reconcile@…: waits since 3.2s for the answer to db.execute/2 (…)", one a waiter.
    [[nodiscard]] std::vector<std::string> waiters(bool foreground_only) const;

    // --- faults
    // Arms the plan's faults; those at a time are scheduled. The plan outlives the run.
    void arm(const Plan& plan, FaultStriker& striker);
    // Gives the running task's next call of that operation its address.
    Call begin_call(std::string_view operation);
    // Strikes the faults that are due at that phase; what the call-level ones ask for is added to
    // call.asked. On the caller's own task it may not return (crash), or return late (pause).
    void reach(Call& call, Phase phase) {
        history_.note_phase(call.record, phase);
        if (!call.faults.empty()) strike_due(call, phase);
    }
    void fault_took_effect(std::uint32_t index, std::string_view on);
    // The same for every call-level fault that has struck `call` in `phase`.
    void call_faults_took_effect(const Call& call, Phase phase);
    [[nodiscard]] bool fault_struck(std::uint32_t index) const { return struck_.at(index); }
    [[nodiscard]] bool fault_had_effect(std::uint32_t index) const { return effective_.at(index); }
    // Faults at a time that are still to come.
    [[nodiscard]] std::size_t faults_pending() const { return timed_pending_; }

private:
    struct Armed {
        std::uint64_t key = 0;
        std::uint16_t index = 0;
        auto operator<=>(const Armed&) const = default;
    };
    // What is cheap to compare comes first: the whole address is only written where these fit.
    struct Pattern {
        std::uint16_t index = 0;
        std::string_view operation;  // of the plan's text
        std::uint32_t ordinal = 0;   // 0: any
    };

    static Pattern pattern_of(std::uint16_t index, const Fault& fault);
    void strike_due(Call& call, Phase phase);
    void deliver(Task& task, std::uint64_t suspension);
    void resume(Task& task);
    void task_ended(Task& task);
    void reap(Incarnation& incarnation);
    void end_incarnation(Node& node, std::string_view how);
    void finish_pause(Node& node);
    void strike(std::uint32_t index, Node* origin, RecordId cause);
    void wait_out_own_faults();

    Time now_{};
    Random random_;
    EventQueue queue_;
    History history_;
    FiberStackPool stacks_;
    std::deque<Task> tasks_;  // the first used_tasks_ belong to this run
    std::size_t used_tasks_ = 0;
    std::deque<Node> nodes_;
    std::deque<Incarnation> incarnations_;
    std::deque<std::function<void()>> closures_;
    std::vector<std::function<void(Incarnation&)>> end_observers_;
    Task* current_ = nullptr;
    std::size_t foreground_ = 0;
    std::uint64_t steps_ = 0;
    bool stop_requested_ = false;
    bool ending_ = false;
    std::function<void()> watcher_;

    const Plan* plan_ = nullptr;
    FaultStriker* striker_ = nullptr;
    std::vector<Armed> exact_;       // sorted by key
    std::vector<Pattern> patterns_;  // faults whose address has a '*'
    std::vector<char> struck_;
    std::vector<char> effective_;
    std::size_t timed_pending_ = 0;
};

}  // namespace fencepost::sim
