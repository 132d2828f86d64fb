// Nodes, their incarnations and their tasks, as the kernel keeps them.
//
// A node is a place with clocks; an incarnation is one life of its process; a task is a fiber of an
// incarnation. All of them live until the run ends, so that late events may refer to the dead.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fiber.h"
#include "sim/history.h"
#include "sim/random.h"
#include "sim/time.h"

namespace fencepost::sim {

class Incarnation;
class Kernel;
class Node;

// What a suspended task waits for, in words: "the answer to db.commit/2". Lives on the waiter's
// stack.
class WaitReason {
public:
    virtual ~WaitReason() = default;
    [[nodiscard]] virtual std::string describe() const = 0;
};

// A fixed reason.
class WaitText : public WaitReason {
public:
    explicit WaitText(std::string_view text) : text_(text) {}
    [[nodiscard]] std::string describe() const override { return std::string(text_); }

private:
    std::string_view text_;
};

// Foreground tasks are work that must end (a job's run); daemons go on for the life of a process.
enum class TaskKind : std::uint8_t { Foreground, Daemon };

struct Task {
    explicit Task(FiberStackPool& pool) : fiber(std::make_unique<Fiber>(pool)) {}

    std::unique_ptr<Fiber> fiber;
    TaskId id = kNoTask;
    TaskId root = kNoTask;
    Incarnation* incarnation = nullptr;
    std::uint64_t point_key = 0;  // of (node, incarnation, name): the address up to the operation
    std::string name;
    TaskKind kind = TaskKind::Daemon;
    bool is_main = false;              // the first of its process
    RecordId last_record = kNoRecord;  // the cause of what it does next

    // A wake-up counts only if it carries the number of the suspension that it is for.
    std::uint64_t suspension = 0;
    const WaitReason* waits_for = nullptr;
    Time waits_since{};

    struct Count {
        std::uint64_t operation = 0;
        std::uint32_t calls = 0;
    };
    std::vector<Count> calls;                              // ordinals so far, by operation
    std::vector<std::pair<Task*, std::uint64_t>> joiners;  // (task, suspension) to wake at the end
};

// The clock of a party: what it shows for a true time.
class DriftingClock {
public:
    void reset(Time start) { *this = DriftingClock{start}; }
    DriftingClock() = default;
    explicit DriftingClock(Time start) : base_true_(start), base_local_(start) {}

    [[nodiscard]] Time wall(Time now) const { return steady(now) + jumped_; }
    // Without the jumps: the monotonic clock of the machine.
    [[nodiscard]] Time steady(Time now) const {
        const Duration passed = now - base_true_;
        return base_local_ + passed + drift(passed);
    }
    // How much true time it takes for this clock to advance by `local`, which is not negative.
    // Rounded up, and never nothing: who sleeps until a deadline finds that it has come nearer.
    [[nodiscard]] Duration true_duration(Duration local) const {
        if (ppm_ == 0) return local;
        __extension__ using Wide = __int128;
        const Wide rate = 1'000'000 + ppm_;
        const Wide passed = (Wide{local.count()} * 1'000'000 + rate - 1) / rate;
        const Wide most = Duration::max().count();
        return Duration{static_cast<Duration::rep>(passed < most ? passed : most)};
    }
    // The first true time at which this clock has advanced by `local` since `now`.
    [[nodiscard]] Time after(Time now, Duration local) const {
        Time at = later(now, true_duration(local));
        const Time due = later(steady(now), local);
        if (ppm_ != 0 && at != Time::max() && due != Time::max()) {
            while (steady(at) < due) at += Duration{1};  // the rounding of the drift: twice at most
        }
        return at;
    }
    void jump(Duration by) { jumped_ += by; }
    void set_drift(Time now, std::int64_t ppm) {
        base_local_ = steady(now);
        base_true_ = now;
        ppm_ = ppm;
    }

private:
    [[nodiscard]] Duration drift(Duration passed) const {
        if (ppm_ == 0) return Duration::zero();
        __extension__ using Wide = __int128;
        return Duration{static_cast<Duration::rep>(Wide{passed.count()} * ppm_ / 1'000'000)};
    }

    Time base_true_{};
    Time base_local_{};
    Duration jumped_{};
    std::int64_t ppm_ = 0;
};

// One life of a node's process.
class Incarnation {
public:
    Incarnation(Node& node, std::uint32_t number) : node_(&node), number_(number) {}

    [[nodiscard]] Node& node() const { return *node_; }
    [[nodiscard]] std::uint32_t number() const { return number_; }
    [[nodiscard]] bool alive() const { return alive_; }
    [[nodiscard]] bool stopping() const { return stopping_; }

    // Called by the process when it is asked to stop gracefully, on a task of its own.
    // When it returns, the process ends.
    void on_stop(std::function<void()> handler) { stop_handler_ = std::move(handler); }

    // What lives as long as the process, for a Boot that waits for ever with nothing on its stack:
    // destroyed where the main task ends.
    void keep(std::shared_ptr<void> belongings) { *belongings_ = std::move(belongings); }

private:
    friend class Kernel;
    Node* node_;
    std::uint32_t number_;
    bool alive_ = true;
    bool stopping_ = false;
    std::vector<Task*> tasks_;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> names_;  // (hash, how often) of task names
    std::function<void()> stop_handler_;
    std::shared_ptr<void>* belongings_ = nullptr;  // in the body of the main task
};

class Node {
public:
    // Sets up a process: called on the first task ("main") of each incarnation. It starts the
    // others and may wait for ever; what it keeps on its stack lives as long as the process.
    using Boot = std::function<void(Incarnation&)>;

    Node(Kernel& kernel, std::string name, PartyId party, Boot boot)
        : kernel_(&kernel), name_(std::move(name)), party_(party), boot_(std::move(boot)) {}

    [[nodiscard]] Kernel& kernel() const { return *kernel_; }

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] PartyId party() const { return party_; }
    [[nodiscard]] bool up() const { return current_ != nullptr; }
    [[nodiscard]] bool paused() const { return pauses_ > 0; }
    [[nodiscard]] Incarnation* current() const { return current_; }
    [[nodiscard]] std::uint32_t incarnations() const { return incarnations_; }
    DriftingClock clock;

private:
    friend class Kernel;
    Kernel* kernel_;
    std::string name_;
    PartyId party_;
    Boot boot_;
    Incarnation* current_ = nullptr;
    std::uint32_t incarnations_ = 0;
    int pauses_ = 0;                 // pauses in force
    std::uint64_t pause_epoch_ = 0;  // grows when all pauses end at once
    std::uint64_t life_ = 0;         // grows with every start and end; voids planned restarts
    std::vector<std::pair<Task*, std::uint64_t>> deferred_;  // wake-ups that came while paused
    Duration slowness_{};
    Time slow_until_{};
};

}  // namespace fencepost::sim
