#include <algorithm>

#include "tests/fidelity/comparisons.h"
#include "tests/fidelity/redis/real_side.h"

namespace fencepost::fidelity {
namespace {

using model::Persistence;
using std::chrono::nanoseconds;

constexpr std::int64_t kBeforeAllDeadlines = 1000;  // us since the epoch

std::vector<std::string> server_options(Persistence persistence) {
    std::vector<std::string> options = {"--port", "0", "--save", "", "--rdbchecksum", "no"};
    const auto append_only = [&](const char* fsync) {
        options.insert(options.end(), {"--appendonly", "yes", "--appendfsync", fsync,
                                       "--auto-aof-rewrite-percentage", "0"});
    };
    if (persistence == Persistence::AofEverySecond) append_only("everysec");
    if (persistence == Persistence::AofAlways) append_only("always");
    return options;
}

class SingleServer : public RealSide {
public:
    explicit SingleServer(Persistence persistence)
        : persistence_(persistence),
          clock_(folder_.path() / "clock"),
          server_(clock_, folder_.path() / "server", server_options(persistence)) {
        clock_.set(kStartUs);
        server_.start();
        pipeline_.connect(server_);
    }

    void reset() override {
        clock_.set(kStartUs);
        if (memory_is_limited_) limit_memory("0");
        pipeline_.send(0, {"FLUSHALL"});
        if (knows_scripts_) pipeline_.send(0, {"SCRIPT", "FLUSH"});
        knows_scripts_ = false;
        if (persistence_ == Persistence::Rdb) pipeline_.send(0, {"SAVE"});
        expect_no_error(pipeline_.collect());
        forget_what_was_written_when();
    }

    void send(const Step& step) override {
        knows_scripts_ = knows_scripts_ || concerns_scripts(step);
        pipeline_.send(step.client, step.arguments);
    }

    std::vector<Reply> collect() override { return pipeline_.collect(); }

    void apply(const Step& step, nanoseconds elapsed, nanoseconds fsync_horizon) override {
        if (is_append_only()) {
            wait_until_written();
            written_.push_back({elapsed, append_only_file_size()});
        }
        switch (step.kind) {
            case Step::Kind::MemoryFull:
                limit_memory("1");
                break;
            case Step::Kind::MemoryFreed:
                limit_memory("0");
                break;
            case Step::Kind::Snapshot:
                pipeline_.send(0, {"SAVE"});
                expect_no_error(pipeline_.collect());
                break;
            case Step::Kind::Kill:
                server_.kill();
                break;
            case Step::Kind::PowerCut:
                server_.kill();
                if (persistence_ == Persistence::AofEverySecond) cut_file_back_to(fsync_horizon);
                break;
            default:
                break;
        }
    }

    void set_clock(std::int64_t wall_us) override {
        if (server_.is_running()) {
            clock_.set(wall_us);
            return;
        }
        // Active expiry cannot be off from the start: until it is, nothing must have expired. Only
        // the loading of a snapshot looks at the clock.
        clock_.set(is_append_only() ? kBeforeAllDeadlines : wall_us);
        server_.start();
        clock_.set(wall_us);
        pipeline_ = {};
        memory_is_limited_ = false;
        pipeline_.connect(server_);
        knows_scripts_ = false;
        forget_what_was_written_when();
    }

private:
    struct Written {
        nanoseconds elapsed;
        std::uintmax_t size;
    };

    [[nodiscard]] bool is_append_only() const {
        return persistence_ == Persistence::AofEverySecond ||
               persistence_ == Persistence::AofAlways;
    }

    [[nodiscard]] std::filesystem::path append_only_file() const {
        return server_.folder() / "appendonlydir" / "appendonly.aof.1.incr.aof";
    }

    [[nodiscard]] std::uintmax_t append_only_file_size() const {
        return std::filesystem::file_size(append_only_file());
    }

    // While an fsync runs the server holds back what it has acknowledged; a kill at that moment
    // loses it. The model has that as a power cut, not as a kill.
    void wait_until_written() {
        const std::string nothing_held_back = "aof_buffer_length:0\r";
        for (;;) {
            pipeline_.send(0, {"INFO", "persistence"});
            const auto replies = pipeline_.collect();
            if (replies.front().text.find(nothing_held_back) != std::string::npos) return;
        }
    }

    // What the file has now will survive a power cut.
    void forget_what_was_written_when() {
        written_.clear();
        if (!is_append_only()) return;
        wait_until_written();
        written_.push_back({nanoseconds::min(), append_only_file_size()});
    }

    void cut_file_back_to(nanoseconds horizon) {
        std::uintmax_t size = 0;
        for (const Written& written : written_) {
            if (written.elapsed <= horizon) size = written.size;
        }
        std::filesystem::resize_file(append_only_file(), size);
    }

    void limit_memory(const std::string& bytes) {
        pipeline_.send(0, {"CONFIG", "SET", "maxmemory", bytes});
        expect_no_error(pipeline_.collect());
        memory_is_limited_ = bytes != "0";
    }

    static void expect_no_error(const std::vector<Reply>& replies) {
        for (const Reply& reply : replies) {
            if (reply.is_error()) throw HarnessFailure("redis-server refuses: " + reply.text);
        }
    }

    Persistence persistence_;
    ScratchFolder folder_;
    ServerClock clock_;
    RedisProcess server_;
    Pipeline pipeline_;
    bool knows_scripts_ = true;
    bool memory_is_limited_ = false;
    std::vector<Written> written_;  // the size of the append-only file as time went by
};

}  // namespace

void Pipeline::connect(const RedisProcess& server) {
    for (int client = 0; client < kClients; ++client) connections_.push_back(server.connect());
}

void Pipeline::send(std::size_t client, const std::vector<std::string>& arguments) {
    if (client != client_) read_outstanding();
    client_ = client;
    connections_[client].append(arguments);
    ++outstanding_;
}

std::vector<Reply> Pipeline::collect() {
    read_outstanding();
    return std::exchange(replies_, {});
}

void Pipeline::read_outstanding() {
    for (; outstanding_ > 0; --outstanding_) {
        replies_.push_back(connections_[client_].next_reply());
    }
}

std::unique_ptr<RealSide> single_server(Persistence persistence) {
    return std::make_unique<SingleServer>(persistence);
}

}  // namespace fencepost::fidelity
