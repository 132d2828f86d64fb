#include "cli/progress.h"

#include <fmt/format.h>

#include "reports/layout.h"

namespace fencepost::cli {

using namespace std::chrono_literals;

void Progress::show(const std::string& what, std::uint64_t done, std::uint64_t total) {
    if (!console_.err_is_terminal) return;
    const auto now = std::chrono::steady_clock::now();
    if (what != what_) {
        what_ = what;
        started_ = now;
    } else if (now - last_ < 100ms && done < total) {
        return;
    }
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - started_).count();
    std::string line =
        fmt::format("{}: {} of {}", what, reports::grouped(done), reports::grouped(total));
    if (seconds > 0.5) {
        line += fmt::format(
            ", {} a second",
            reports::grouped(static_cast<std::uint64_t>(static_cast<double>(done) / seconds)));
    }
    console_.err << "\r\x1b[K" << reports::shortened(line, 79) << std::flush;
    shown_ = true;
}

void Progress::clear() {
    if (shown_) console_.err << "\r\x1b[K" << std::flush;
    shown_ = false;
}

}  // namespace fencepost::cli
