#include "scenarios/search/workers.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "scenarios/search/worker_process.h"
#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

using Milliseconds = std::chrono::milliseconds;
using RealClock = std::chrono::steady_clock;

constexpr Milliseconds kTick{50};
constexpr const char* kInterrupted = "interrupted";  // the text of a call that was

volatile sig_atomic_t interrupted = 0;

void note_interrupt(int) {
    interrupted = 1;
}

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
std::array<struct sigaction, kSignals.size()> previous_actions;
int guards = 0;

// Large enough that handing out costs nothing, small enough that the end is balanced; the same for
// any number of workers.
std::uint64_t usual_range_size(std::uint64_t items) {
    return std::clamp<std::uint64_t>(items / 64, 1, 64);
}

struct Assignment {
    ItemRange range;
    std::optional<Mishap> earlier;  // of the single item, which is tried once more
};

struct Outcome {
    ItemRange range;
    std::optional<std::string> result;
    std::optional<Mishap> mishap;
};

struct Lane {
    std::unique_ptr<WorkerProcess> process;
    std::optional<Assignment> at_work;
    std::uint64_t heartbeat = 0;
    Milliseconds without_progress{0};
    std::uint64_t base_memory = 0;
    // Given to the worker that takes the place of one that died.
    std::optional<Assignment> next;
};

class Pool {
public:
    Pool(std::uint64_t items, const MakeSession& make_session, const PoolCallbacks& callbacks,
         const PoolOptions& options)
        : items_(items),
          make_session_(make_session),
          callbacks_(callbacks),
          options_(options),
          range_size_(options.range_size != 0 ? options.range_size : usual_range_size(items)),
          lanes_(lane_count()),
          slots_(lanes_.size()) {}

    PoolReport run() {
        const InterruptionGuard guard;
        if (interrupted != 0) finish(PoolEnd::Interrupted);
        for (std::size_t i = 0; i < lanes_.size() && !over_; ++i) start(i);
        last_watch_ = RealClock::now();
        while (report_.items < items_ && !over_) {
            wait();
            for (std::size_t i = 0; i < lanes_.size() && !over_; ++i) listen(i);
            // What a dead worker has left over may be for one that had nothing more to do.
            for (Lane& lane : lanes_) {
                if (!lane.at_work && !over_) hand_out(lane);
            }
            const auto now = RealClock::now();
            const auto passed = std::chrono::duration_cast<Milliseconds>(now - last_watch_);
            if (passed >= kTick) {
                last_watch_ = now;
                // Time in which this process did not run either is nobody's fault.
                watch(std::min(passed, 4 * kTick));
            }
            call_back();
            if (interrupted != 0) finish(PoolEnd::Interrupted);
        }
        lanes_.clear();
        if (report_.end == PoolEnd::Interrupted) interrupted = 0;
        return report_;
    }

private:
    [[nodiscard]] std::size_t lane_count() const {
        const auto wanted =
            static_cast<std::uint64_t>(options_.jobs > 0 ? options_.jobs : processors());
        return static_cast<std::size_t>(
            std::clamp<std::uint64_t>(wanted, 1, (items_ + range_size_ - 1) / range_size_));
    }

    void finish(PoolEnd end) {
        if (over_) return;
        over_ = true;
        report_.end = end;
    }

    // --- handing out

    void start(std::size_t index) {
        Lane& lane = lanes_[index];
        lane.process.reset();
        std::vector<WorkerProcess*> alive;
        for (const Lane& other : lanes_) {
            if (other.process != nullptr) alive.push_back(other.process.get());
        }
        try {
            lane.process = std::make_unique<WorkerProcess>(slots_[index], make_session_, alive);
        } catch (const std::system_error& error) {
            report_.problem = fmt::format(
                "{} (number {} of {}); ask for fewer by --jobs, or for more files and processes by "
                "ulimit",
                error.what(), alive.size() + 1, lanes_.size());
            finish(PoolEnd::CouldNotStart);
            return;
        }
        lane.at_work.reset();
        lane.heartbeat = 0;
        lane.without_progress = Milliseconds{0};
        lane.base_memory = 0;
        hand_out(lane);
    }

    void hand_out(Lane& lane) {
        std::optional<Assignment> assignment = std::exchange(lane.next, std::nullopt);
        if (!assignment && !again_.empty()) {
            assignment = Assignment{*again_.begin(), {}};
            again_.erase(again_.begin());
        }
        if (!assignment && next_item_ < items_) {
            const std::uint64_t last = std::min(items_, next_item_ + range_size_);
            assignment = Assignment{{next_item_, last}, {}};
            next_item_ = last;
        }
        lane.at_work = assignment;
        // A worker that is dead already is found out when it is listened to.
        if (assignment) (void)lane.process->send(assignment->range);
    }

    // --- taking in

    void wait() {
        std::vector<pollfd> polled;
        for (const Lane& lane : lanes_) polled.push_back({lane.process->results(), POLLIN, 0});
        ::poll(polled.data(), polled.size(), static_cast<int>(kTick.count()));
    }

    void listen(std::size_t index) {
        Lane& lane = lanes_[index];
        const bool alive = lane.process->receive();
        std::string result;
        if (lane.at_work && lane.process->take_result(result)) {
            Assignment& done = *lane.at_work;
            if (done.earlier) done.earlier->again = false;
            // A hang that does not repeat was a slow machine, and memory that is not used up again
            // was used up by others: neither says anything about this item.
            if (done.earlier && (done.earlier->kind == MishapKind::Hung ||
                                 done.earlier->kind == MishapKind::OutOfMemory)) {
                done.earlier.reset();
            }
            add({done.range, std::move(result), std::move(done.earlier)});
            lane.at_work.reset();
            lane.without_progress = Milliseconds{0};
            if (alive) hand_out(lane);
        }
        if (!alive) replace(index, lane.process->end(), std::nullopt);
    }

    void watch(Milliseconds passed) {
        for (std::size_t i = 0; i < lanes_.size() && !over_; ++i) {
            Lane& lane = lanes_[i];
            if (!lane.at_work) continue;
            WorkerSlot& slot = lane.process->slot();
            const std::uint64_t heartbeat = slot.heartbeat.load(std::memory_order_relaxed);
            const bool moved = heartbeat != lane.heartbeat;
            lane.heartbeat = heartbeat;
            lane.without_progress = moved ? Milliseconds{0} : lane.without_progress + passed;
            if (lane.without_progress > options_.run_timeout) {
                replace(i, lane.process->end_with_note(), MishapKind::Hung);
                continue;
            }
            const std::uint64_t memory = lane.process->resident();
            if (lane.base_memory == 0) lane.base_memory = memory;
            if (memory > lane.base_memory + options_.memory_growth_limit) {
                replace(i, lane.process->end_with_note(), MishapKind::OutOfMemory);
            }
        }
        if (callbacks_.progress) callbacks_.progress(done_items_, items_);
    }

    // --- mishaps

    // The worker has ended, by itself or because of `reason`; a fresh one takes over.
    void replace(std::size_t index, ProcessEnd end, std::optional<MishapKind> reason) {
        Lane& lane = lanes_[index];
        WorkerSlot& slot = lane.process->slot();
        ++report_.workers_replaced;
        if (slot.state.load() == WorkerState::Starting) {
            report_.problem = sentence(mishap_of(slot, end, reason), options_);
            finish(PoolEnd::CouldNotStart);
            return;
        }
        if (lane.at_work) {
            const Assignment lost = std::move(*lane.at_work);
            Mishap mishap = mishap_of(slot, end, reason);
            // It may have died before it looked at the new range.
            if (slot.state.load() != WorkerState::Running || mishap.item < lost.range.first ||
                mishap.item >= lost.range.last) {
                mishap.item = lost.range.first;
            }
            mishap.text = sentence(mishap, options_);
            const ItemRange item{mishap.item, mishap.item + 1};
            if (lost.earlier) {
                add({item, std::nullopt, std::move(mishap)});
            } else {
                lane.next = Assignment{item, std::move(mishap)};
            }
            if (lost.range.first < item.first) again_.insert({lost.range.first, item.first});
            if (item.last < lost.range.last) again_.insert({item.last, lost.range.last});
        }
        start(index);
    }

    static Mishap mishap_of(const WorkerSlot& slot, ProcessEnd end,
                            std::optional<MishapKind> reason) {
        Mishap mishap;
        mishap.item = slot.item.load();
        mishap.in_task = slot.in_task.load();
        mishap.task = slot.task;
        if (reason) {
            mishap.kind = *reason;
        } else if (slot.failed.load()) {
            mishap.kind = MishapKind::HarnessError;
            mishap.text = slot.text;
        } else if (const int noted = slot.signal.load(); noted != 0 || end.signal != 0) {
            mishap.kind = MishapKind::Crashed;
            mishap.signal = noted != 0 ? noted : end.signal;
        } else {
            // The program itself calls no exit() in the midst of a run.
            mishap.kind = MishapKind::Exited;
            mishap.exit_code = end.exit_code;
            mishap.in_task |= slot.state.load() == WorkerState::Running && !slot.leaving.load();
        }
        return mishap;
    }

    static std::string sentence(const Mishap& mishap, const PoolOptions& options) {
        const std::string where =
            !mishap.in_task ? ""
                            : " in " + (mishap.task.empty() ? "a simulated task" : mishap.task);
        switch (mishap.kind) {
            case MishapKind::Crashed:
                return fmt::format("killed by {}{}", signal_name(mishap.signal), where);
            case MishapKind::Exited:
                return fmt::format("the process ended by exit({}){}", mishap.exit_code, where);
            case MishapKind::Hung:
                return fmt::format("no progress for {} s of real time{}",
                                   options.run_timeout.count() / 1000.0, where);
            case MishapKind::OutOfMemory:
                return fmt::format("took more than {} MiB of memory{}",
                                   options.memory_growth_limit >> 20U, where);
            case MishapKind::HarnessError:
                return mishap.text;
        }
        return "?";
    }

    // --- in order

    void add(Outcome outcome) {
        done_items_ += outcome.range.size();
        const std::uint64_t first = outcome.range.first;
        outcomes_.emplace(first, std::move(outcome));
    }

    void call_back() {
        while (!over_ && !outcomes_.empty() && outcomes_.begin()->first == report_.items) {
            const Outcome outcome = std::move(outcomes_.begin()->second);
            outcomes_.erase(outcomes_.begin());
            report_.items = outcome.range.last;
            bool go_on = true;
            if (outcome.result) go_on = callbacks_.result(outcome.range, *outcome.result);
            if (outcome.mishap && go_on) go_on = callbacks_.mishap(*outcome.mishap);
            if (!go_on && report_.items < items_) finish(PoolEnd::Stopped);
        }
    }

    struct ByFirst {
        bool operator()(const ItemRange& a, const ItemRange& b) const { return a.first < b.first; }
    };

    const std::uint64_t items_;
    const MakeSession& make_session_;
    const PoolCallbacks& callbacks_;
    const PoolOptions options_;
    const std::uint64_t range_size_;
    std::vector<Lane> lanes_;
    SharedSlots slots_;
    std::uint64_t next_item_ = 0;
    std::set<ItemRange, ByFirst> again_;  // left over from workers that died
    std::map<std::uint64_t, Outcome> outcomes_;
    std::uint64_t done_items_ = 0;
    RealClock::time_point last_watch_;
    bool over_ = false;
    PoolReport report_;
};

Mishap harness_error(std::uint64_t item, std::string text) {
    Mishap mishap;
    mishap.item = item;
    mishap.kind = MishapKind::HarnessError;
    mishap.text = std::move(text);
    return mishap;
}

PoolReport run_in_process(std::uint64_t items, const MakeSession& make_session,
                          const PoolCallbacks& callbacks) {
    PoolReport report;
    std::unique_ptr<WorkSession> session = make_session();
    for (std::uint64_t item = 0; item < items; ++item) {
        std::optional<Mishap> mishap;
        try {
            session->run(item);
        } catch (const std::exception& error) {
            mishap = harness_error(item, error.what());
            session = make_session();
        }
        report.items = item + 1;
        const bool go_on = mishap ? callbacks.mishap(*mishap)
                                  : callbacks.result({item, item + 1}, session->take());
        if (callbacks.progress) callbacks.progress(item + 1, items);
        if (!go_on && report.items < items) {
            report.end = PoolEnd::Stopped;
            break;
        }
    }
    return report;
}

// Calls one function.
class CallSession : public WorkSession {
public:
    explicit CallSession(const std::function<std::string()>& function) : function_(function) {}
    void run(std::uint64_t) override { result_ = function_(); }
    std::string take() override { return std::move(result_); }

private:
    const std::function<std::string()>& function_;
    std::string result_;
};

}  // namespace

InterruptionGuard::InterruptionGuard() {
    if (guards++ > 0) return;
    interrupted = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        struct sigaction action {};
        action.sa_handler = kSignals[i] == SIGPIPE ? SIG_IGN : note_interrupt;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(kSignals[i], &action, &previous_actions[i]);
        // Who called the program by nohup wants it to go on without a terminal.
        if (kSignals[i] == SIGHUP && previous_actions[i].sa_handler == SIG_IGN)
            ::sigaction(SIGHUP, &previous_actions[i], nullptr);
    }
}

InterruptionGuard::~InterruptionGuard() {
    if (--guards > 0) return;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        ::sigaction(kSignals[i], &previous_actions[i], nullptr);
}

PoolReport run_in_workers(std::uint64_t items, const MakeSession& make_session,
                          const PoolCallbacks& callbacks, const PoolOptions& options) {
    sim::require(callbacks.result && callbacks.mishap, "a pool calls back results and mishaps");
    if (items == 0) return {};
    if (options.in_process) return run_in_process(items, make_session, callbacks);
    return Pool(items, make_session, callbacks, options).run();
}

std::expected<std::string, Mishap> call_in_worker(const std::function<std::string()>& function,
                                                  const PoolOptions& options) {
    std::expected<std::string, Mishap> answer = std::unexpected(harness_error(0, kInterrupted));
    PoolCallbacks callbacks;
    callbacks.result = [&](ItemRange, std::string_view result) {
        answer = std::string(result);
        return true;
    };
    callbacks.mishap = [&](const Mishap& mishap) {
        if (mishap.again) answer = std::unexpected(mishap);
        return true;
    };
    const PoolReport report = run_in_workers(
        1, [&] { return std::make_unique<CallSession>(function); }, callbacks, options);
    if (report.end == PoolEnd::CouldNotStart) answer.error().text = report.problem;
    return answer;
}

bool is_interruption(const Mishap& mishap) {
    return mishap.kind == MishapKind::HarnessError && mishap.text == kInterrupted;
}

int processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

std::string signal_name(int signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    return abbreviation != nullptr ? "SIG" + std::string(abbreviation)
                                   : fmt::format("signal {}", signal);
}

}  // namespace fencepost::scenarios
