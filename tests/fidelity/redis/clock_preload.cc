// Loaded into redis-server (LD_PRELOAD): its wall clock shows what the test has written into the
// file that FENCEPOST_CLOCK_FILE names, and stands still otherwise. The monotonic clock, by which
// the server's own timers run, is left alone.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "tests/fidelity/redis/clock_page.h"

namespace {

using fencepost::fidelity::ClockPage;

constexpr std::int64_t kMicrosecondsInSecond = 1'000'000;

ClockPage* page = nullptr;
int (*real_clock_gettime)(clockid_t, timespec*) = nullptr;

void stop_with(const char* sentence, std::size_t length) {
    (void)!write(STDERR_FILENO, sentence, length);
    _exit(127);
}

// Without the file the comparison would judge by two different clocks: better not to run at all.
__attribute__((constructor)) void map_clock() {
    real_clock_gettime = reinterpret_cast<int (*)(clockid_t, timespec*)>(  //
        dlsym(RTLD_NEXT, "clock_gettime"));
    constexpr char kMissing[] = "the clock file cannot be mapped\n";
    const char* path = std::getenv("FENCEPOST_CLOCK_FILE");
    const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) stop_with(kMissing, sizeof kMissing - 1);
    void* mapped = mmap(nullptr, sizeof(ClockPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) stop_with(kMissing, sizeof kMissing - 1);
    close(file);
    page = static_cast<ClockPage*>(mapped);
}

// At least the step goes by from one reading to the next.
std::int64_t read_wall_us() {
    const std::int64_t step = page->step_us.load();
    return step == 0 ? page->wall_us.load() : page->wall_us.fetch_add(step) + step;
}

}  // namespace

extern "C" {

int gettimeofday(timeval* now, void*) {
    if (page == nullptr) return -1;
    const std::int64_t us = read_wall_us();
    now->tv_sec = us / kMicrosecondsInSecond;
    now->tv_usec = us % kMicrosecondsInSecond;
    return 0;
}

time_t time(time_t* out) {
    const time_t seconds = page == nullptr ? 0 : read_wall_us() / kMicrosecondsInSecond;
    if (out != nullptr) *out = seconds;
    return seconds;
}

int clock_gettime(clockid_t clock, timespec* now) {
    if (page != nullptr && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        const std::int64_t us = read_wall_us();
        now->tv_sec = us / kMicrosecondsInSecond;
        now->tv_nsec = us % kMicrosecondsInSecond * 1000;
        return 0;
    }
    if (real_clock_gettime != nullptr) return real_clock_gettime(clock, now);
    return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
}
}
