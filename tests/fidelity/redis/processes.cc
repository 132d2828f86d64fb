#include "tests/fidelity/redis/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/fidelity/comparisons.h"

namespace fencepost::fidelity {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;
constexpr auto kBetweenTries = 1ms;

std::filesystem::path find_server() {
    for (const char* folder : {"/usr/bin", "/usr/local/bin"}) {
        const auto path = std::filesystem::path(folder) / "redis-server";
        if (access(path.c_str(), X_OK) == 0) return path;
    }
    return {};
}

// "Redis server v=7.0.15 sha=…" gives 7.0.15.
std::string ask_version(const std::filesystem::path& server) {
    const std::unique_ptr<FILE, int (*)(FILE*)> output(
        popen((server.string() + " --version").c_str(), "r"), pclose);
    std::array<char, 256> line{};
    if (!output || std::fgets(line.data(), line.size(), output.get()) == nullptr) return {};
    const std::string text(line.data());
    const auto begin = text.find("v=");
    if (begin == std::string::npos) return {};
    return text.substr(begin + 2, text.find(' ', begin) - begin - 2);
}

const std::string& server_version() {
    static const std::string version = [] {
        const auto server = find_server();
        return server.empty() ? std::string{} : ask_version(server);
    }();
    return version;
}

Reply to_reply(const redisReply& reply) {
    const auto text = [&] { return std::string(reply.str, reply.len); };
    switch (reply.type) {
        case REDIS_REPLY_STATUS:
            return Reply::status(text());
        case REDIS_REPLY_ERROR:
            return Reply::error(text());
        case REDIS_REPLY_INTEGER:
            return Reply::number(reply.integer);
        case REDIS_REPLY_STRING:
            return Reply::bulk(text());
        case REDIS_REPLY_ARRAY: {
            std::vector<Reply> elements;
            for (std::size_t i = 0; i < reply.elements; ++i) {
                elements.push_back(to_reply(*reply.element[i]));
            }
            return Reply::array(std::move(elements));
        }
        default:
            return Reply::nil();
    }
}

}  // namespace

ScratchFolder::ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "fencepost-redis-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        throw HarnessFailure("no folder can be made: " + name);
    }
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

ServerClock::ServerClock(std::filesystem::path file) : file_(std::move(file)) {
    const int descriptor = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0 || ftruncate(descriptor, sizeof(ClockPage)) != 0) {
        throw HarnessFailure("the clock file cannot be made: " + file_.string());
    }
    void* mapped =
        mmap(nullptr, sizeof(ClockPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (mapped == MAP_FAILED) throw HarnessFailure("the clock file cannot be mapped");
    page_ = static_cast<ClockPage*>(mapped);
}

ServerClock::~ServerClock() {
    munmap(page_, sizeof(ClockPage));
}

void RedisConnection::Close::operator()(redisContext* context) const {
    redisFree(context);
}

RedisConnection::RedisConnection(const std::filesystem::path& socket)
    : context_(redisConnectUnix(socket.c_str())) {
    if (!context_ || context_->err != 0) {
        throw HarnessFailure("no connection to redis-server: " +
                             std::string(context_ ? context_->errstr : "out of memory"));
    }
    redisSetTimeout(context_.get(), {std::chrono::seconds(kPatience).count(), 0});
}

void RedisConnection::append(const std::vector<std::string>& arguments) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const std::string& argument : arguments) {
        texts.push_back(argument.data());
        lengths.push_back(argument.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(),
                           lengths.data());
}

Reply RedisConnection::next_reply() {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK) {
        throw HarnessFailure("redis-server gave no reply: " + std::string(context_->errstr));
    }
    const std::unique_ptr<void, void (*)(void*)> owner(raw, freeReplyObject);
    return to_reply(*static_cast<const redisReply*>(raw));
}

std::optional<std::string> redis_server_is_missing() {
    constexpr const char* kRemedy = "install Debian's package redis-server (7.0)";
    if (server_version().empty()) return fmt::format("redis-server is not there: {}", kRemedy);
    if (server_version().starts_with("7.0.")) return std::nullopt;
    return fmt::format("redis-server {} is not the version that is modelled: {}", server_version(),
                       kRemedy);
}

std::string redis_server_version() {
    return "Redis " + server_version();
}

RedisProcess::RedisProcess(const ServerClock& clock, std::filesystem::path folder,
                           std::vector<std::string> options)
    : clock_(clock), folder_(std::move(folder)), options_(std::move(options)) {
    std::filesystem::create_directories(folder_);
}

RedisProcess::~RedisProcess() {
    kill();
}

void RedisProcess::start() {
    const std::string server = find_server();
    const std::string socket = folder_ / "socket";
    const std::string log = folder_ / "log";
    std::filesystem::remove(socket);
    std::vector<std::string> arguments = {server,  "--unixsocket", socket, "--dir",
                                          folder_, "--daemonize",  "no",   "--enable-debug-command",
                                          "yes"};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    const std::vector<std::string> environment = {
        std::string("LD_PRELOAD=") + FENCEPOST_CLOCK_LIBRARY,
        "FENCEPOST_CLOCK_FILE=" + clock_.file().string(), "LC_ALL=C"};
    const auto pointers = [](const std::vector<std::string>& strings) {
        std::vector<char*> list;
        for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));
        list.push_back(nullptr);
        return list;
    };
    const auto argument_list = pointers(arguments);
    const auto environment_list = pointers(environment);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw HarnessFailure("no process can be started");
    if (pid_ == 0) {
        // Only what is safe between fork and exec.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
        const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        execve(server.c_str(), argument_list.data(), environment_list.data());
        _exit(127);
    }
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        const std::unique_ptr<redisContext, void (*)(redisContext*)> probe(
            redisConnectUnix(socket.c_str()), redisFree);
        if (probe && probe->err == 0) break;
        if (has_ended()) throw HarnessFailure("redis-server has ended: " + last_words());
        if (std::chrono::steady_clock::now() > deadline) {
            throw HarnessFailure("redis-server does not answer: " + last_words());
        }
        std::this_thread::sleep_for(kBetweenTries);
    }
    RedisConnection connection = connect();
    wait_until_loaded(connection);
    const Reply reply = connection.command({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
    if (reply.is_error()) throw HarnessFailure("active expiry cannot be stopped: " + reply.text);
}

void RedisProcess::wait_until_loaded(RedisConnection& connection) const {
    try {
        while (connection.command({"PING"}).is_error()) std::this_thread::sleep_for(kBetweenTries);
    } catch (const HarnessFailure&) {
        throw HarnessFailure("redis-server could not load its data: " + last_words());
    }
}

bool RedisProcess::has_ended() {
    if (pid_ <= 0 || waitpid(pid_, nullptr, WNOHANG) == 0) return false;
    pid_ = 0;
    return true;
}

void RedisProcess::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
}

RedisConnection RedisProcess::connect() const {
    return RedisConnection(folder_ / "socket");
}

std::string RedisProcess::last_words() const {
    std::ifstream log(folder_ / "log");
    std::ostringstream text;
    text << log.rdbuf();
    constexpr std::size_t kMost = 2000;
    const std::string said = text.str();
    return said.substr(said.size() > kMost ? said.size() - kMost : 0);
}

}  // namespace fencepost::fidelity
