#include "tests/fidelity/postgres/cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "tests/fidelity/postgres/server_session.h"

namespace fencepost::fidelity {

namespace {

namespace fs = std::filesystem;

constexpr int kPingPauseMilliseconds = 20;
constexpr int kMostPings = 1500;

struct Account {
    std::string name;
    uid_t user = 0;
    gid_t group = 0;
};

// Whom the server runs as; an error if there is nobody but root.
std::expected<Account, std::string> server_account() {
    const bool root = geteuid() == 0;
    const passwd* entry = root ? getpwnam("postgres") : getpwuid(geteuid());
    if (entry == nullptr || entry->pw_uid == 0) {
        return std::unexpected(
            "PostgreSQL does not run as root, and there is no account postgres to run it as");
    }
    return Account{entry->pw_name, entry->pw_uid, entry->pw_gid};
}

// The folder with initdb and postgres of version 15.
std::optional<fs::path> find_programs() {
    std::vector<fs::path> places = {"/usr/lib/postgresql/15/bin", "/usr/pgsql-15/bin"};
    std::string told;
    if (FILE* pipe = popen("pg_config --bindir 2>/dev/null", "r"); pipe != nullptr) {
        std::array<char, 512> line{};
        if (fgets(line.data(), line.size(), pipe) != nullptr) told = line.data();
        pclose(pipe);
    }
    while (!told.empty() && told.back() == '\n') told.pop_back();
    if (!told.empty()) places.emplace_back(told);
    for (const fs::path& place : places) {
        std::error_code error;
        if (fs::exists(place / "initdb", error) && fs::exists(place / "postgres", error)) {
            return place;
        }
    }
    return std::nullopt;
}

// In a child process: becomes the account, dies with its parent, and runs the program with its
// output in a file.
[[noreturn]] void run_program(const Account& account, pid_t parent, const fs::path& output,
                              std::vector<std::string> words) {
    if (geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setgid(account.group) != 0 || setuid(account.user) != 0)) {
        _exit(126);
    }
    // Only now: a change of the account forgets it. SIGQUIT is PostgreSQL's immediate shutdown.
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent) _exit(126);
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int nothing = open("/dev/null", O_RDONLY);
    if (file < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0) {
        _exit(126);
    }
    close_range(3, ~0U, 0);
    setenv("LC_ALL", "C", 1);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments.front(), arguments.data());
    _exit(127);
}

pid_t start_program(const Account& account, const fs::path& output,
                    std::vector<std::string> words) {
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) run_program(account, self, output, std::move(words));
    return child;
}

bool succeeds(pid_t child) {
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

struct Place {
    Account account;
    fs::path programs;
    fs::path folder;
};

// Locks: a wait looks for a deadlock after a millisecond, and then tells its own client that it
// waits. Scans go by indexes, so that rows are found in the order of their keys.
std::vector<std::string> server_command(const Place& place) {
    std::vector<std::string> words = {place.programs / "postgres", "-D", place.folder / "data"};
    const std::string socket = "unix_socket_directories=" + place.folder.string();
    for (const char* setting :
         {"listen_addresses=", socket.c_str(), "fsync=off", "synchronous_commit=off",
          "full_page_writes=off", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0",
          "max_connections=16", "shared_buffers=16MB", "jit=off", "deadlock_timeout=1ms",
          "log_lock_waits=on", "lc_messages=C", "enable_seqscan=off", "enable_bitmapscan=off",
          "client_min_messages=log"}) {
        words.insert(words.end(), {"-c", setting});
    }
    return words;
}

// The guardian: tells through `ready` that the server is starting, keeps it until `lifeline`
// closes, and leaves nothing behind.
[[noreturn]] void guard(const Place& place, int lifeline, int ready) {
    // An interrupt from the terminal is for the program; its end reaches the guardian by the pipe.
    setsid();
    const fs::path output = place.folder / "output";
    const std::string user = "--username=" + place.account.name;
    const bool made = succeeds(
        start_program(place.account, output,
                      {place.programs / "initdb", "--pgdata=" + (place.folder / "data").string(),
                       user, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"}));
    const pid_t server =
        made ? start_program(place.account, output, server_command(place)) : pid_t{-1};
    const char answer = server > 0 ? '+' : '-';
    [[maybe_unused]] const auto told = write(ready, &answer, 1);
    close(ready);
    if (server > 0) {
        pollfd end{lifeline, POLLIN, 0};
        while (poll(&end, 1, -1) < 0) {
        }
        kill(server, SIGQUIT);
        waitpid(server, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove_all(place.folder, ignored);
    _exit(0);
}

}  // namespace

std::expected<std::unique_ptr<PostgresCluster>, std::string> PostgresCluster::start() {
    const auto programs = find_programs();
    if (!programs) return std::unexpected("PostgreSQL 15 (initdb, postgres) is not installed");
    const auto account = server_account();
    if (!account) return std::unexpected(account.error());
    std::string folder = fs::temp_directory_path() / "fencepost-postgres-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
        return std::unexpected("no folder can be made for a PostgreSQL cluster in " +
                               fs::temp_directory_path().string());
    }
    if (geteuid() == 0 && chown(folder.c_str(), account->user, account->group) != 0) {
        return std::unexpected("a folder cannot be given to the account " + account->name);
    }

    std::array<int, 2> lifeline{};
    std::array<int, 2> ready{};
    if (pipe2(lifeline.data(), O_CLOEXEC) != 0 || pipe2(ready.data(), O_CLOEXEC) != 0) {
        return std::unexpected("there are no file descriptors left for a PostgreSQL cluster");
    }
    const Place place{*account, *programs, folder};
    std::unique_ptr<PostgresCluster> cluster(new PostgresCluster);
    cluster->guardian_ = fork();
    if (cluster->guardian_ == 0) {
        close(lifeline[1]);
        close(ready[0]);
        guard(place, lifeline[0], ready[1]);
    }
    close(lifeline[0]);
    close(ready[1]);
    cluster->lifeline_ = lifeline[1];
    char answer = '-';
    const bool told = read(ready[0], &answer, 1) == 1;
    close(ready[0]);
    if (!told || answer != '+') return std::unexpected("initdb of PostgreSQL 15 failed");
    cluster->server_info_ =
        fmt::format("host={} user={} connect_timeout=10", folder, account->name);
    const std::string ping = cluster->server_info_ + " dbname=postgres";
    // A server that is starting refuses connections, at first by having no socket.
    for (int tries = 0; PQping(ping.c_str()) != PQPING_OK; ++tries) {
        if (tries == kMostPings) return std::unexpected("PostgreSQL 15 does not start");
        poll(nullptr, 0, kPingPauseMilliseconds);
    }
    return cluster;
}

std::string PostgresCluster::fresh_database() {
    const std::string name = fmt::format("fencepost_{}", ++databases_);
    ServerSession session(server_info_ + " dbname=postgres");
    const Answer made = session.run("CREATE DATABASE " + name);
    if (!made.sqlstate.empty()) {
        throw ServerLost("PostgreSQL makes no database: " + made.text());
    }
    return server_info_ + " dbname=" + name;
}

PostgresCluster::~PostgresCluster() {
    if (lifeline_ >= 0) close(lifeline_);
    if (guardian_ > 0) waitpid(guardian_, nullptr, 0);
}

}  // namespace fencepost::fidelity
