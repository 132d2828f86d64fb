#include "scenarios/search/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "sim/fiber.h"

namespace fencepost::scenarios {
namespace {

// The parent sends the last one to a worker that hangs.
constexpr int kNoteSignal = SIGUSR2;
constexpr std::array kCrashSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, kNoteSignal};
constexpr int kFailedExit = 70;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

bool write_all(int fd, const void* data, std::size_t size) {
    const auto* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t written = ::write(fd, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

bool read_all(int fd, void* data, std::size_t size) {
    auto* at = static_cast<char*>(data);
    while (size > 0) {
        const ssize_t got = ::read(fd, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

// --- in the worker. What its signal handlers need stands in variables of the process.

WorkerSlot* own_slot = nullptr;
WorkSession* own_session = nullptr;
std::array<struct sigaction, kCrashSignals.size()> previous_actions;

void note_crash(int signal, siginfo_t* info, void*) {
    // First the old handlers: should the note itself crash, the process just ends. They also print
    // the report of a sanitizer.
    for (std::size_t i = 0; i < kCrashSignals.size(); ++i) {
        ::sigaction(kCrashSignals[i], &previous_actions[i], nullptr);
    }
    own_slot->signal.store(signal);
    if (sim::Fiber::current() != nullptr) {
        own_slot->in_task.store(true);
        if (own_session != nullptr) own_session->describe_running(own_slot->task);
    }
    // An instruction that faults does so again after the return; a signal that was sent does not.
    if (info->si_code <= 0) ::raise(signal);
}

// Code of a handler's that calls exit() ends the process, and no exception shows it.
void note_exit(int code, void*) {
    if (sim::Fiber::current() == nullptr) return;
    own_slot->in_task.store(true);
    if (own_session != nullptr) own_session->describe_running(own_slot->task);
    ::_exit(code);
}

void install_crash_handlers() {
    // A stack that overflows leaves no room for a handler on it.
    constexpr std::size_t kSize = 64UL * 1024;
    stack_t stack{};
    stack.ss_sp =
        ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_size = kSize;
    if (stack.ss_sp != MAP_FAILED) ::sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = note_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kCrashSignals.size(); ++i) {
        ::sigaction(kCrashSignals[i], &action, &previous_actions[i]);
    }
}

[[noreturn]] void leave_failed(WorkerSlot& slot, const char* what) {
    std::strncpy(slot.text, what, sizeof slot.text - 1);
    slot.failed.store(true);
    slot.leaving.store(true);
    ::_exit(kFailedExit);
}

void serve(WorkerSlot& slot, int commands, int results, const MakeSession& make_session) {
    const std::unique_ptr<WorkSession> session = make_session();
    own_session = session.get();
    slot.state.store(WorkerState::Idle);
    ItemRange range;
    while (read_all(commands, &range, sizeof range)) {
        for (std::uint64_t item = range.first; item < range.last; ++item) {
            slot.item.store(item, std::memory_order_relaxed);
            slot.state.store(WorkerState::Running, std::memory_order_relaxed);
            slot.heartbeat.fetch_add(1, std::memory_order_relaxed);
            session->run(item);
        }
        const std::string result = session->take();
        slot.state.store(WorkerState::Idle);
        const std::uint64_t size = result.size();
        if (!write_all(results, &size, sizeof size)) break;
        if (!write_all(results, result.data(), result.size())) break;
    }
    // Not `session.reset()`: the parent is done with this process.
    slot.leaving.store(true);
    ::_exit(0);
}

[[noreturn]] void be_worker(WorkerSlot& slot, int commands, int results, pid_t parent,
                            const MakeSession& make_session) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    // Ctrl-C and the end of a terminal reach the whole group; only the parent acts on them.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
    // What a handler prints must not mix with what the parent prints.
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    own_slot = &slot;
    install_crash_handlers();
    ::on_exit(note_exit, nullptr);
    try {
        serve(slot, commands, results, make_session);
    } catch (const std::exception& error) {
        leave_failed(slot, error.what());
    } catch (...) {
        leave_failed(slot, "an exception of an unknown type");
    }
    ::_exit(0);
}

}  // namespace

void note_progress() {
    if (own_slot != nullptr) own_slot->heartbeat.fetch_add(1, std::memory_order_relaxed);
}

void WorkerSlot::clear() {
    state.store(WorkerState::Starting);
    item.store(0);
    heartbeat.store(0);
    signal.store(0);
    in_task.store(false);
    failed.store(false);
    leaving.store(false);
    std::memset(task, 0, sizeof task);
    std::memset(text, 0, sizeof text);
}

SharedSlots::SharedSlots(std::size_t count) : bytes_(count * sizeof(WorkerSlot)) {
    void* memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("shared memory for workers");
    slots_ = static_cast<WorkerSlot*>(memory);
    for (std::size_t i = 0; i < count; ++i) (new (&slots_[i]) WorkerSlot)->clear();
}

SharedSlots::~SharedSlots() {
    ::munmap(slots_, bytes_);
}

void FileDescriptor::reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

WorkerProcess::WorkerProcess(WorkerSlot& slot, const MakeSession& make_session,
                             std::span<WorkerProcess* const> others)
    : slot_(slot) {
    slot_.clear();
    std::array<int, 2> down{};
    std::array<int, 2> up{};
    if (::pipe2(down.data(), O_CLOEXEC) != 0) fail("a pipe to a worker");
    FileDescriptor worker_reads{down[0]};
    commands_ = FileDescriptor{down[1]};
    if (::pipe2(up.data(), O_CLOEXEC) != 0) fail("a pipe from a worker");
    results_ = FileDescriptor{up[0]};
    FileDescriptor worker_writes{up[1]};

    std::fflush(nullptr);  // or the worker would print it again
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) fail("a worker process");
    if (pid_ == 0) {
        commands_.reset();
        results_.reset();
        for (WorkerProcess* other : others) {
            other->commands_.reset();
            other->results_.reset();
        }
        be_worker(slot, worker_reads.get(), worker_writes.get(), parent, make_session);
    }
    ::fcntl(results_.get(), F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
    end();
}

bool WorkerProcess::send(ItemRange range) {
    received_.clear();
    return write_all(commands_.get(), &range, sizeof range);
}

bool WorkerProcess::receive() {
    std::array<char, 64UL * 1024> buffer{};
    while (true) {
        const ssize_t got = ::read(results_.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return true;
        if (got <= 0) return false;
        received_.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

bool WorkerProcess::take_result(std::string& result) {
    std::uint64_t size = 0;
    if (received_.size() < sizeof size) return false;
    std::memcpy(&size, received_.data(), sizeof size);
    if (received_.size() - sizeof size < size) return false;
    result = received_.substr(sizeof size, size);
    received_.clear();
    return true;
}

ProcessEnd WorkerProcess::end() {
    ProcessEnd how;
    if (ended_ || pid_ <= 0) return how;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) how.signal = WTERMSIG(status);
    if (WIFEXITED(status)) how.exit_code = WEXITSTATUS(status);
    return how;
}

ProcessEnd WorkerProcess::end_with_note() {
    if (!ended_ && pid_ > 0) {
        ::kill(pid_, kNoteSignal);
        pollfd dies{results_.get(), 0, 0};  // wakes when the other end closes
        ::poll(&dies, 1, 500);
    }
    return end();
}

std::uint64_t WorkerProcess::resident() const {
    const FileDescriptor file{
        ::open(fmt::format("/proc/{}/statm", pid_).c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<char, 128> text{};
    const ssize_t size = file.get() < 0 ? -1 : ::read(file.get(), text.data(), text.size());
    if (size <= 0) return 0;
    const std::string_view fields{text.data(), static_cast<std::size_t>(size)};
    const std::size_t space = fields.find(' ');
    if (space == std::string_view::npos) return 0;
    std::uint64_t pages = 0;
    std::from_chars(fields.data() + space + 1, fields.data() + fields.size(), pages);
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace fencepost::scenarios
