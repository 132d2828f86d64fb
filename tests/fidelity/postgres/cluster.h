// A private PostgreSQL cluster for a comparison: made by initdb in a fresh temporary folder,
// reached through a socket in that folder alone, and stopped and removed whatever happens to the
// program.
//
// A guardian process owns the server and the folder. It lives as long as the write end of a pipe
// that only this program has open: when the program ends, also by SIGKILL, the guardian stops the
// server and removes the folder; when the guardian itself is killed, the kernel stops the server.
// PostgreSQL refuses to run as root: as root, the server runs under the account `postgres`.
#pragma once

#include <sys/types.h>

#include <expected>
#include <memory>
#include <string>

namespace fencepost::fidelity {

class PostgresCluster {
public:
    // Takes a second or two. The error is a sentence: why there is no server to compare with.
    [[nodiscard]] static std::expected<std::unique_ptr<PostgresCluster>, std::string> start();

    ~PostgresCluster();
    PostgresCluster(const PostgresCluster&) = delete;
    PostgresCluster& operator=(const PostgresCluster&) = delete;

    // Makes an empty database. What libpq needs to connect to it as the superuser.
    [[nodiscard]] std::string fresh_database();

private:
    PostgresCluster() = default;

    pid_t guardian_ = -1;
    int lifeline_ = -1;        // the write end of the pipe
    std::string server_info_;  // to connect to the server, but for the database
    int databases_ = 0;
};

}  // namespace fencepost::fidelity
