// Redis servers of our own: each a process on a private Unix socket in a fresh folder, with a wall
// clock that the test moves.
//
// A server ends with its object, and with this process, however that ends. The folder goes with its
// object. Active expiry is off: clients could only tell by DBSIZE, and the time it takes would make
// runs differ.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/ports/redis.h"
#include "tests/fidelity/redis/clock_page.h"

struct redisContext;

namespace fencepost::fidelity {

using jobs::redis::Reply;

class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// The wall clock of all servers that are started with it.
class ServerClock {
public:
    explicit ServerClock(std::filesystem::path file);
    ~ServerClock();
    ServerClock(const ServerClock&) = delete;
    ServerClock& operator=(const ServerClock&) = delete;

    void set(std::int64_t wall_us) { page_->wall_us.store(wall_us); }
    [[nodiscard]] std::int64_t wall_us() const { return page_->wall_us.load(); }
    // From now on each reading of the clock moves it on. Zero: it stands still.
    void advance_at_each_reading(std::int64_t us) { page_->step_us.store(us); }
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path file_;
    ClockPage* page_ = nullptr;
};

// One connection. Commands are sent in the order of append() as soon as a reply is asked for.
class RedisConnection {
public:
    explicit RedisConnection(const std::filesystem::path& socket);

    void append(const std::vector<std::string>& arguments);
    [[nodiscard]] Reply next_reply();
    Reply command(const std::vector<std::string>& arguments) {
        append(arguments);
        return next_reply();
    }

private:
    struct Close {
        void operator()(redisContext* context) const;
    };
    std::unique_ptr<redisContext, Close> context_;
};

// Why there is nothing to compare with: a sentence; nothing when redis-server 7 is there.
[[nodiscard]] std::optional<std::string> redis_server_is_missing();
// "Redis 7.0.15". Only when it is not missing.
[[nodiscard]] std::string redis_server_version();

class RedisProcess {
public:
    // `options` as on redis-server's command line. Does not start it.
    RedisProcess(const ServerClock& clock, std::filesystem::path folder,
                 std::vector<std::string> options);
    ~RedisProcess();
    RedisProcess(const RedisProcess&) = delete;
    RedisProcess& operator=(const RedisProcess&) = delete;

    // Returns when it answers. Throws HarnessFailure with what the server said when it does not.
    void start();
    // SIGKILL; what it had given to the kernel stays in its folder.
    void kill();
    [[nodiscard]] bool is_running() const { return pid_ > 0; }
    [[nodiscard]] RedisConnection connect() const;
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    void wait_until_loaded(RedisConnection& connection) const;
    [[nodiscard]] bool has_ended();
    [[nodiscard]] std::string last_words() const;

    const ServerClock& clock_;
    std::filesystem::path folder_;
    std::vector<std::string> options_;
    pid_t pid_ = 0;
};

}  // namespace fencepost::fidelity
