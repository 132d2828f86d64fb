// One worker process, as its parent holds it, and what the process itself does.
//
// Parent and worker share a slot of memory in which the worker notes what it is at, so that the
// parent knows when it dies or hangs. Commands and results travel over two pipes.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/search/workers.h"

namespace fencepost::scenarios {

enum class WorkerState : std::uint32_t { Starting, Idle, Running };

// Written by the worker, also from its signal handlers; read by the parent.
struct alignas(64) WorkerSlot {
    std::atomic<WorkerState> state;
    std::atomic<std::uint64_t> item;
    std::atomic<std::uint64_t> heartbeat;
    std::atomic<int> signal;
    std::atomic<bool> in_task;
    std::atomic<bool> leaving;  // it ends by its own will
    std::atomic<bool> failed;   // an exception left the item: `text` is its what()
    char task[200];
    char text[600];

    void clear();
};

// Slots that survive a fork: one shared mapping.
class SharedSlots {
public:
    explicit SharedSlots(std::size_t count);
    ~SharedSlots();
    SharedSlots(const SharedSlots&) = delete;
    SharedSlots& operator=(const SharedSlots&) = delete;
    WorkerSlot& operator[](std::size_t index) { return slots_[index]; }

private:
    WorkerSlot* slots_;
    std::size_t bytes_;
};

class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FileDescriptor() { reset(); }
    [[nodiscard]] int get() const { return fd_; }
    void reset();

private:
    int fd_ = -1;
};

// How a process ended.
struct ProcessEnd {
    int signal = 0;
    int exit_code = 0;
};

class WorkerProcess {
public:
    // Forks. `others` are the workers whose pipes the new one must not keep open.
    WorkerProcess(WorkerSlot& slot, const MakeSession& make_session,
                  std::span<WorkerProcess* const> others);
    ~WorkerProcess();  // kills it
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    // False when it is dead.
    bool send(ItemRange range);
    // Reads what has arrived. False at the end of the stream: it is dead.
    bool receive();
    // The result of the range that was sent, once it is complete.
    bool take_result(std::string& result);
    // Kills it if it still runs, and says how it ended.
    ProcessEnd end();
    // The same, but lets it note in its slot who was running.
    ProcessEnd end_with_note();

    [[nodiscard]] int results() const { return results_.get(); }
    [[nodiscard]] WorkerSlot& slot() { return slot_; }
    // Resident memory in bytes; 0 when it is not known.
    [[nodiscard]] std::uint64_t resident() const;

private:
    WorkerSlot& slot_;
    FileDescriptor commands_;
    FileDescriptor results_;
    pid_t pid_ = -1;
    bool ended_ = false;
    std::string received_;
};

}  // namespace fencepost::scenarios
