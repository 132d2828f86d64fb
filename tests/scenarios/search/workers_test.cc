// Goal: whatever an item does to its worker, the outcome names that item and the rest goes on; and
// nothing depends on the number of workers.
// Method: small sessions that misbehave at chosen items.
#include "scenarios/search/workers.h"

#include <dirent.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>

#include "sim/fiber.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;

// Gives "0,1,2," for the items 0 to 2, after doing with each what the test asks for.
class ListingSession : public WorkSession {
public:
    explicit ListingSession(const std::function<void(std::uint64_t)>& act) : act_(act) {}
    void run(std::uint64_t item) override {
        act_(item);
        text_ += fmt::format("{},", item);
    }
    std::string take() override { return std::exchange(text_, {}); }
    void describe_running(std::span<char> out) noexcept override {
        std::snprintf(out.data(), out.size(), "A#1/daily");
    }

private:
    const std::function<void(std::uint64_t)>& act_;
    std::string text_;
};

struct Listing {
    PoolReport report;
    std::string text;
    std::vector<Mishap> mishaps;
};

PoolOptions with_jobs(int jobs) {
    PoolOptions options;
    options.jobs = jobs;
    return options;
}

Listing list(std::uint64_t items, const std::function<void(std::uint64_t)>& act,
             const PoolOptions& options) {
    Listing listing;
    PoolCallbacks callbacks;
    callbacks.result = [&](ItemRange, std::string_view result) {
        listing.text += result;
        return true;
    };
    callbacks.mishap = [&](const Mishap& mishap) {
        listing.mishaps.push_back(mishap);
        if (mishap.again) listing.text += fmt::format("[{}],", mishap.item);
        return true;
    };
    listing.report = run_in_workers(
        items, [&] { return std::make_unique<ListingSession>(act); }, callbacks, options);
    return listing;
}

std::string all_of(std::uint64_t items) {
    std::string text;
    for (std::uint64_t item = 0; item < items; ++item) text += fmt::format("{},", item);
    return text;
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    DIR* folder = ::opendir("/proc/self/fd");
    while (::readdir(folder) != nullptr) ++count;
    ::closedir(folder);
    return count;
}

void run_in_fiber(const std::function<void()>& body) {
    sim::FiberStackPool pool;
    sim::Fiber fiber(pool);
    fiber.start([&] { body(); });
    fiber.resume();
}

[[gnu::noinline]] std::size_t deep_recursion(std::size_t depth, const char* above) {
    std::array<char, 512> frame{};
    frame[depth % frame.size()] = above[0];
    if (depth == 0) return 0;
    const std::size_t below = deep_recursion(depth - 1, frame.data());
    return below + static_cast<std::size_t>(frame[below % frame.size()]);
}

volatile std::size_t sink = 0;

TEST(WorkersTest, ResultsComeInTheOrderOfTheItemsForAnyNumberOfWorkers) {
    for (const int jobs : {1, 2, 3, 7}) {
        const Listing listing = list(
            500, [](std::uint64_t) {}, with_jobs(jobs));
        EXPECT_EQ(listing.text, all_of(500)) << jobs;
        EXPECT_EQ(listing.report.end, PoolEnd::Completed);
        EXPECT_EQ(listing.report.items, 500U);
        EXPECT_EQ(listing.report.workers_replaced, 0U);
    }
}

TEST(WorkersTest, NoItemsAreNoWork) {
    EXPECT_EQ(list(0, [](std::uint64_t) {}, {}).report.end, PoolEnd::Completed);
}

TEST(WorkersTest, AWorkerThatCrashesIsReportedWithItsItemAndTheRestGoesOn) {
    const auto act = [](std::uint64_t item) {
        if (item == 100 || item == 101 || item == 399) ::raise(SIGSEGV);
    };
    for (const int jobs : {1, 3}) {
        const Listing listing = list(400, act, with_jobs(jobs));
        ASSERT_EQ(listing.mishaps.size(), 3U);
        EXPECT_EQ(listing.mishaps[0].item, 100U);
        EXPECT_EQ(listing.mishaps[0].kind, MishapKind::Crashed);
        EXPECT_EQ(listing.mishaps[0].signal, SIGSEGV);
        EXPECT_EQ(listing.mishaps[0].text, "killed by SIGSEGV");
        EXPECT_FALSE(listing.mishaps[0].in_task);
        EXPECT_TRUE(listing.mishaps[0].again);
        EXPECT_EQ(listing.mishaps[1].item, 101U);
        EXPECT_EQ(listing.mishaps[2].item, 399U);
        std::string expected = all_of(400);
        for (const char* item : {"100,", "101,", "399,"}) {
            const std::string text{item};
            expected.replace(expected.find("," + text) + 1, text.size(),
                             "[" + text.substr(0, 3) + "],");
        }
        EXPECT_EQ(listing.text, expected);
    }
}

TEST(WorkersTest, ACrashInASimulatedTaskIsTheTasksDoing) {
    const Listing listing = list(
        3,
        [](std::uint64_t item) {
            if (item == 1) run_in_fiber([] { std::abort(); });
        },
        with_jobs(1));
    ASSERT_EQ(listing.mishaps.size(), 1U);
    EXPECT_TRUE(listing.mishaps[0].in_task);
    EXPECT_EQ(listing.mishaps[0].text, "killed by SIGABRT in A#1/daily");
}

TEST(WorkersTest, ATaskThatOverflowsItsStackIsReported) {
    const Listing listing = list(
        3,
        [](std::uint64_t item) {
            if (item == 2) run_in_fiber([] { sink = deep_recursion(1'000'000, "x"); });
        },
        with_jobs(1));
    ASSERT_EQ(listing.mishaps.size(), 1U);
    EXPECT_EQ(listing.mishaps[0].item, 2U);
    EXPECT_EQ(listing.mishaps[0].signal, SIGSEGV);
    EXPECT_TRUE(listing.mishaps[0].in_task);
}

TEST(WorkersTest, AWorkerThatHangsIsReportedWithItsItemAndTheRestGoesOn) {
    PoolOptions options = with_jobs(2);
    options.run_timeout = 200ms;
    const Listing listing = list(
        130,
        [](std::uint64_t item) {
            if (item != 50) return;
            run_in_fiber([] {
                for (volatile bool on = true; on;) {
                }
            });
        },
        options);
    ASSERT_EQ(listing.mishaps.size(), 1U);
    EXPECT_EQ(listing.mishaps[0].item, 50U);
    EXPECT_EQ(listing.mishaps[0].kind, MishapKind::Hung);
    EXPECT_EQ(listing.mishaps[0].text, "no progress for 0.2 s of real time in A#1/daily");
    EXPECT_EQ(listing.report.items, 130U);
}

TEST(WorkersTest, AnItemThatIsOnlySlowOnceIsNotBlamed) {
    const std::string mark = testing::TempDir() + fmt::format("slow-once-{}", ::getpid());
    PoolOptions options = with_jobs(1);
    options.run_timeout = 200ms;
    const Listing listing = list(
        10,
        [&](std::uint64_t item) {
            if (item != 5 || std::ifstream(mark).good()) return;
            std::ofstream(mark) << "was here";
            ::sleep(60);
        },
        options);
    std::remove(mark.c_str());
    EXPECT_TRUE(listing.mishaps.empty());
    EXPECT_EQ(listing.text, all_of(10));
    EXPECT_EQ(listing.report.workers_replaced, 1U);
}

TEST(WorkersTest, AnItemThatAllocatesWithoutEndIsReported) {
    PoolOptions options = with_jobs(2);
    options.memory_growth_limit = 64UL << 20U;
    const Listing listing = list(
        20,
        [](std::uint64_t item) {
            if (item != 7) return;
            std::vector<std::unique_ptr<char[]>> kept;
            while (kept.size() < 4000) {
                kept.push_back(std::make_unique<char[]>(1U << 20U));
                for (std::size_t i = 0; i < 1U << 20U; i += 4096) kept.back()[i] = 1;
                ::usleep(500);
            }
        },
        options);
    ASSERT_EQ(listing.mishaps.size(), 1U);
    EXPECT_EQ(listing.mishaps[0].item, 7U);
    EXPECT_EQ(listing.mishaps[0].kind, MishapKind::OutOfMemory);
    EXPECT_EQ(listing.mishaps[0].text, "took more than 64 MiB of memory");
}

TEST(WorkersTest, AnExceptionOfAnItemIsAHarnessErrorWithItsText) {
    const Listing listing = list(
        3,
        [](std::uint64_t item) {
            if (item == 0) throw std::runtime_error("plans differ");
            if (item == 1) throw 42;
            if (item == 2) ::exit(3);
        },
        with_jobs(2));
    ASSERT_EQ(listing.mishaps.size(), 3U);
    EXPECT_EQ(listing.mishaps[0].kind, MishapKind::HarnessError);
    EXPECT_EQ(listing.mishaps[0].text, "plans differ");
    EXPECT_EQ(listing.mishaps[1].text, "an exception of an unknown type");
    EXPECT_EQ(listing.mishaps[2].kind, MishapKind::Exited);
    EXPECT_EQ(listing.mishaps[2].text, "the process ended by exit(3) in a simulated task");
}

TEST(WorkersTest, WorkersThatCannotStartEndThePoolAtOnce) {
    PoolCallbacks callbacks;
    callbacks.result = [](ItemRange, std::string_view) { return true; };
    callbacks.mishap = [](const Mishap&) { return true; };
    const PoolReport report = run_in_workers(
        10, []() -> std::unique_ptr<WorkSession> { throw std::runtime_error("no such handler"); },
        callbacks, with_jobs(2));
    EXPECT_EQ(report.end, PoolEnd::CouldNotStart);
    EXPECT_EQ(report.problem, "no such handler");
}

TEST(WorkersTest, WorkersThatThereAreNoFilesForEndThePoolWithAWordOfWhatToDo) {
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few{.rlim_cur = open_descriptors() + 3, .rlim_max = before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    const Listing listing = list(
        100, [](std::uint64_t) {}, with_jobs(8));
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(listing.report.end, PoolEnd::CouldNotStart);
    EXPECT_NE(listing.report.problem.find("fewer by --jobs"), std::string::npos)
        << listing.report.problem;
    EXPECT_EQ(list(
                  10, [](std::uint64_t) {}, with_jobs(8))
                  .text,
              all_of(10));
}

TEST(WorkersTest, StoppingEarlyGivesTheSamePrefixForAnyNumberOfWorkers) {
    std::map<std::string, int> texts;
    for (const int jobs : {1, 2, 3}) {
        std::string text;
        PoolCallbacks callbacks;
        callbacks.result = [&](ItemRange, std::string_view result) {
            text += result;
            return text.find(",321,") == std::string::npos;
        };
        callbacks.mishap = [](const Mishap&) { return true; };
        const std::function<void(std::uint64_t)> act = [](std::uint64_t) {};
        const PoolReport report = run_in_workers(
            5000, [&] { return std::make_unique<ListingSession>(act); }, callbacks,
            with_jobs(jobs));
        EXPECT_EQ(report.end, PoolEnd::Stopped);
        ++texts[text];
    }
    EXPECT_EQ(texts.size(), 1U);
}

TEST(WorkersTest, StrayOutputOfAHandlerDoesNotCorruptResults) {
    const Listing listing = list(
        100,
        [](std::uint64_t item) {
            if (item % 50 != 0) return;
            std::printf("(a handler prints)\n");
            std::fflush(stdout);
        },
        with_jobs(2));
    EXPECT_EQ(listing.text, all_of(100));
}

TEST(WorkersTest, LargeResultsArriveWhole) {
    PoolCallbacks callbacks;
    std::size_t bytes = 0;
    callbacks.result = [&](ItemRange, std::string_view result) {
        bytes += result.size();
        return true;
    };
    callbacks.mishap = [](const Mishap&) { return true; };
    class Large : public WorkSession {
        void run(std::uint64_t) override {}
        std::string take() override { return std::string(3'000'000, 'x'); }
    };
    (void)run_in_workers(
        4, [] { return std::make_unique<Large>(); }, callbacks, with_jobs(2));
    EXPECT_EQ(bytes, 12'000'000U);
}

TEST(WorkersTest, NothingIsLeftOpenAndNoProcessIsLeftBehind) {
    const std::size_t before = open_descriptors();
    for (int round = 0; round < 3; ++round) {
        (void)list(
            50,
            [](std::uint64_t item) {
                if (item % 20 == 3) std::abort();
            },
            with_jobs(3));
    }
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(WorkersTest, AnInterruptBetweenPoolsStopsTheNextAndNoOther) {
    const InterruptionGuard guard;
    const std::function<void(std::uint64_t)> nothing = [](std::uint64_t) {};
    EXPECT_EQ(list(10, nothing, with_jobs(1)).report.end, PoolEnd::Completed);
    ::raise(SIGTERM);
    const auto stopped = call_in_worker([] { return std::string{"done"}; });
    ASSERT_FALSE(stopped.has_value());
    EXPECT_TRUE(is_interruption(stopped.error()));
    EXPECT_EQ(list(10, nothing, with_jobs(1)).text, all_of(10));
}

TEST(WorkersTest, AnInterruptStopsThePoolAndKeepsWhatIsKnown) {
    const Listing listing = list(
        1000,
        [parent = ::getpid()](std::uint64_t item) {
            if (item == 500) ::kill(parent, SIGINT);
            ::usleep(200);
        },
        with_jobs(2));
    EXPECT_EQ(listing.report.end, PoolEnd::Interrupted);
    EXPECT_LT(listing.report.items, 1000U);
    EXPECT_EQ(listing.text, all_of(listing.report.items));
}

TEST(WorkersTest, WorkersDieWithTheirParent) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
        ::close(ends[0]);
        (void)list(
            2, [](std::uint64_t) { ::sleep(60); }, with_jobs(2));
        ::_exit(0);
    }
    ::close(ends[1]);
    ::usleep(200'000);
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    // The pipe ends when the last process that holds it is gone.
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);
    ::close(ends[0]);
}

TEST(WorkersTest, OneFunctionCanBeCalledInAWorker) {
    EXPECT_EQ(call_in_worker([] { return std::string("points"); }).value(), "points");
    const auto crashed = call_in_worker([]() -> std::string { std::abort(); });
    ASSERT_FALSE(crashed.has_value());
    EXPECT_EQ(crashed.error().text, "killed by SIGABRT");
}

TEST(WorkersTest, InProcessGivesTheSameResults) {
    PoolOptions options;
    options.in_process = true;
    const Listing listing = list(
        10,
        [](std::uint64_t item) {
            if (item == 4) throw std::runtime_error("four");
        },
        options);
    EXPECT_EQ(listing.text, "0,1,2,3,[4],5,6,7,8,9,");
    ASSERT_EQ(listing.mishaps.size(), 1U);
    EXPECT_EQ(listing.mishaps[0].text, "four");
}

}  // namespace
}  // namespace fencepost::scenarios
