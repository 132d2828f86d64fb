#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <thread>

#include "tests/fidelity/comparisons.h"
#include "tests/fidelity/redis/real_side.h"

namespace fencepost::fidelity {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;
constexpr auto kBetweenLooks = 200us;
constexpr std::string_view kLoopback = "127.0.0.1";

// A port of the loopback interface that nobody listens on, for as long as it is held.
class HeldPort {
public:
    HeldPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        if (socket_ < 0 || bind(socket_, generic, size) != 0 ||
            getsockname(socket_, generic, &size) != 0) {
            throw HarnessFailure("no port of the loopback interface is free");
        }
        port_ = fmt::format("{}", ntohs(address.sin_port));
    }
    ~HeldPort() { release(); }
    HeldPort(const HeldPort&) = delete;
    HeldPort& operator=(const HeldPort&) = delete;

    [[nodiscard]] const std::string& port() const { return port_; }
    void release() {
        if (socket_ >= 0) close(socket_);
        socket_ = -1;
    }

private:
    int socket_;
    std::string port_;
};

// The value of a line `name:value` of INFO.
std::string info(RedisConnection& connection, const std::string& name) {
    const std::string text = connection.command({"INFO", "replication"}).text;
    const auto begin = text.find("\n" + name + ":");
    if (begin == std::string::npos) return {};
    const auto value = begin + name.size() + 2;
    return text.substr(value, text.find('\r', value) - value);
}

class Server {
public:
    Server(const ServerClock& clock, const std::filesystem::path& folder)
        : port_(held_.port()),
          process_(clock, folder,
                   {"--port", port_, "--bind", std::string(kLoopback), "--save", "", "--hz", "500",
                    "--repl-diskless-sync-delay", "0", "--repl-timeout", "1000000000",
                    "--protected-mode", "no"}) {
        held_.release();
        process_.start();
        pipeline_.connect(process_);
        control_ = std::make_unique<RedisConnection>(process_.connect());
    }

    [[nodiscard]] Pipeline& pipeline() { return pipeline_; }
    [[nodiscard]] RedisConnection& control() { return *control_; }
    [[nodiscard]] const std::string& port() const { return port_; }

    void follow(const std::string& port) {
        const Reply reply = control_->command({"REPLICAOF", std::string(kLoopback), port});
        if (reply.is_error()) throw HarnessFailure("REPLICAOF is refused: " + reply.text);
    }

private:
    HeldPort held_;
    std::string port_;
    RedisProcess process_;
    Pipeline pipeline_;
    std::unique_ptr<RedisConnection> control_;
};

class ReplicatedServers : public RealSide {
public:
    ReplicatedServers()
        : clock_(folder_.path() / "clock"), servers_{make_server("one"), make_server("two")} {}

    // Whatever the session before has made of the two, they are a primary and its replica again.
    void reset() override {
        set_clock(kStartUs);
        for (const char* command : {"FLUSHALL", "SCRIPT"}) {
            for (const auto& server : servers_) {
                std::vector<std::string> words = {command};
                if (words[0] == "SCRIPT") words.emplace_back("FLUSH");
                (void)server->control().command(words);
            }
        }
        if (!replica_is_linked_) attach();
        catch_up();
    }

    void send(const Step& step) override {
        const bool to_second = step.to != Step::To::Primary;
        if (to_second != to_second_) gather();
        to_second_ = to_second;
        if (step.to == Step::To::Replica && replica_is_linked_) catch_up();
        target().pipeline().send(step.client, step.arguments);
    }

    std::vector<Reply> collect() override {
        gather();
        return std::exchange(replies_, {});
    }

    void apply(const Step& step, std::chrono::nanoseconds, std::chrono::nanoseconds) override {
        switch (step.kind) {
            case Step::Kind::Cut:
                catch_up();
                cut();
                break;
            case Step::Kind::Promote:
                if (replica_is_linked_) catch_up();
                (void)second().control().command({"REPLICAOF", "NO", "ONE"});
                replica_is_linked_ = false;
                std::swap(servers_[0], servers_[1]);
                break;
            case Step::Kind::Demote:
                attach();
                break;
            default:
                break;
        }
    }

    void set_clock(std::int64_t wall_us) override { clock_.set(wall_us); }

private:
    std::unique_ptr<Server> make_server(const char* name) {
        if (clock_.wall_us() == 0) clock_.set(kStartUs);
        return std::make_unique<Server>(clock_, folder_.path() / name);
    }

    [[nodiscard]] Server& first() { return *servers_[0]; }
    [[nodiscard]] Server& second() { return *servers_[1]; }
    [[nodiscard]] Server& target() { return to_second_ ? second() : first(); }

    void gather() {
        for (Reply& reply : target().pipeline().collect()) replies_.push_back(std::move(reply));
    }

    template <typename Condition>
    static void wait_until(const char* what, Condition condition) {
        const auto deadline = std::chrono::steady_clock::now() + kPatience;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > deadline) throw HarnessFailure(what);
            std::this_thread::sleep_for(kBetweenLooks);
        }
    }

    // The second server follows a port where nobody is: it keeps what it has and stays a replica.
    void cut() {
        second().follow(nobody_.port());
        replica_is_linked_ = false;
    }

    void attach() {
        (void)first().control().command({"REPLICAOF", "NO", "ONE"});
        second().follow(first().port());
        wait_until("the replica does not find its primary",
                   [&] { return info(second().control(), "master_link_status") == "up"; });
        replica_is_linked_ = true;
        catch_up();
    }

    void catch_up() {
        const std::string offset = info(first().control(), "master_repl_offset");
        wait_until("the replica does not catch up", [&] {
            return as_number(info(second().control(), "slave_repl_offset")) >= as_number(offset);
        });
    }

    static std::int64_t as_number(const std::string& text) {
        std::int64_t number = -1;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }

    ScratchFolder folder_;
    ServerClock clock_;
    HeldPort nobody_;
    std::array<std::unique_ptr<Server>, 2> servers_;  // the primary first
    bool replica_is_linked_ = false;
    bool to_second_ = false;
    std::vector<Reply> replies_;
};

}  // namespace

std::unique_ptr<RealSide> replicated_servers() {
    return std::make_unique<ReplicatedServers>();
}

}  // namespace fencepost::fidelity
