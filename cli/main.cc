#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "cli/fencepost_main.h"

namespace {

// In the place of a standard stream that the caller has closed the next file would be opened, or
// the pipe to a worker. What is opened instead is of no use for reading or writing, so that both
// fail as they do with what is closed.
void occupy_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

}  // namespace

int main(int count, char** words) {
    occupy_closed_streams();
    ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
    return fencepost::cli::fencepost_main({words, static_cast<std::size_t>(count)}, std::cout,
                                          std::cerr);
}
