// A pool of worker processes that runs numbered items and survives what the items do to it.
//
// Processes, not threads: a handler under test may crash, loop for ever or take all memory, and
// SQLite is fastest without threads. The parent hands out ranges of items; a worker runs them one
// by one and sends one result for the range. The parent takes results in the order of the items,
// whatever the order in which they arrive, so that nothing depends on the number of workers.
//
// When an item takes its worker down, it is tried once more, alone, in a fresh worker. If that ends
// the same way, it is a Mishap, which takes the place of its result; the other items go on.
//
// The calling process must have no threads. On SIGINT and SIGTERM the pool stops and returns.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fencepost::scenarios {

enum class MishapKind : std::uint8_t {
    Crashed,       // by a signal
    Exited,        // the item called exit()
    Hung,          // no progress for the time-out
    OutOfMemory,   // the worker grew beyond its limit
    HarnessError,  // an exception left the item
};

constexpr std::string_view name_of(MishapKind kind) {
    switch (kind) {
        case MishapKind::Crashed:
            return "crashed";
        case MishapKind::Exited:
            return "exited";
        case MishapKind::Hung:
            return "hung";
        case MishapKind::OutOfMemory:
            return "out of memory";
        case MishapKind::HarnessError:
            return "harness error";
    }
    return "?";
}

struct Mishap {
    std::uint64_t item = 0;
    MishapKind kind = MishapKind::Crashed;
    int signal = 0;        // Crashed
    int exit_code = 0;     // Exited
    bool in_task = false;  // a simulated task was running: the handler's doing, most likely
    std::string task;      // its name, as far as it is known: "A#1/daily-reconcile@…"
    std::string text;      // "killed by SIGSEGV in A#1/daily-reconcile@…"
    bool again = true;     // it happened again in a fresh worker

    bool operator==(const Mishap&) const = default;
};

// What a worker does. Made in the worker, once; then serves any number of items.
class WorkSession {
public:
    virtual ~WorkSession() = default;
    // An exception that leaves it ends the worker, with its text as a HarnessError.
    virtual void run(std::uint64_t item) = 0;
    // What the items since the last take() gave, in whatever form the results callback reads.
    virtual std::string take() = 0;
    // Writes who is running, as a C string. Called from a signal handler: must not allocate.
    virtual void describe_running(std::span<char> out) noexcept {
        if (!out.empty()) out.front() = '\0';
    }
};

// For items that take long: says that the one at work has got on, so that it counts as no hang.
void note_progress();

using MakeSession = std::function<std::unique_ptr<WorkSession>()>;

struct ItemRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // one past the last item
    [[nodiscard]] std::uint64_t size() const { return last - first; }
    bool operator==(const ItemRange&) const = default;
};

struct PoolOptions {
    int jobs = 0;  // worker processes; 0 is one a processor
    // Everything in this process, without protection: for debuggers.
    bool in_process = false;
    std::chrono::milliseconds run_timeout = std::chrono::seconds{20};  // of real time, an item
    std::uint64_t memory_growth_limit = std::uint64_t{1} << 30U;       // bytes, a worker
    std::uint64_t range_size = 0;  // items handed out at once; 0: from their number alone
};

// Called in the parent, in the order of the items. The first two return whether to go on; when one
// says no, later results are dropped, as if the items had never been.
struct PoolCallbacks {
    std::function<bool(ItemRange, std::string_view result)> result;
    std::function<bool(const Mishap&)> mishap;
    // Now and then, out of order: how many items are done.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

enum class PoolEnd : std::uint8_t { Completed, Stopped, Interrupted, CouldNotStart };

struct PoolReport {
    PoolEnd end = PoolEnd::Completed;
    std::uint64_t items = 0;             // whose outcome was called back
    std::uint64_t workers_replaced = 0;  // whatever the reason
    std::string problem;                 // of CouldNotStart
};

// While one lives, SIGINT, SIGTERM and SIGHUP end the pool at work, or that which begins next, and
// nothing else; SIGPIPE is ignored. A pool has one; who runs several and tells of what they found
// has one around them. For one thread.
class InterruptionGuard {
public:
    InterruptionGuard();
    ~InterruptionGuard();
    InterruptionGuard(const InterruptionGuard&) = delete;
    InterruptionGuard& operator=(const InterruptionGuard&) = delete;
};

PoolReport run_in_workers(std::uint64_t items, const MakeSession& make_session,
                          const PoolCallbacks& callbacks, const PoolOptions& options = {});

// Runs one function in a worker process and gives what it returned.
std::expected<std::string, Mishap> call_in_worker(const std::function<std::string()>& function,
                                                  const PoolOptions& options = {});

// Whether somebody asked a call to end, as opposed to something having gone wrong in it.
bool is_interruption(const Mishap& mishap);

// Processors that this process may use.
int processors();

// "SIGSEGV", or "signal 42".
std::string signal_name(int signal);

}  // namespace fencepost::scenarios
