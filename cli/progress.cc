#include "cli/progress.h"

#include <fmt/format.h>

#include "reports/layout.h"

namespace fencepost::cli {

using namespace std::chrono_literals;

namespace {

constexpr auto kBetweenLooks = 100ms;  // of somebody at a terminal

std::string failing(std::uint64_t failed) {
    return failed == 0 ? std::string{} : fmt::format(", {} failed", reports::grouped(failed));
}

std::string time_left(double seconds) {
    return seconds < 90 ? fmt::format(", about {:.0f} s left", seconds)
                        : fmt::format(", about {:.0f} min left", seconds / 60);
}

}  // namespace

void Progress::show(const std::string& what, std::uint64_t done, std::uint64_t total,
                    std::uint64_t failed) {
    if (!is_due(what, done, 0, done >= total)) return;
    std::string line =
        fmt::format("{}: {} of {}", what, reports::grouped(done), reports::grouped(total)) +
        failing(failed);
    const double seconds = std::chrono::duration<double>(now_ - started_).count();
    if (seconds > 5 && done > first_done_ && done < total) {
        line += time_left(seconds * static_cast<double>(total - done) /
                          static_cast<double>(done - first_done_));
    }
    print(std::move(line), done);
}

void Progress::show_count(const std::string& what, std::uint64_t done, std::uint64_t failed) {
    if (!is_due(what, done, 0, false)) return;
    print(fmt::format("{}: {}", what, reports::grouped(done)) + failing(failed), done);
}

void Progress::show_part(const std::string& what, std::uint64_t done, double part) {
    if (!is_due(what, done, part, part >= 1)) return;
    std::string line =
        fmt::format("{}: {:.1f} %, {} plans", what, 100 * part, reports::grouped(done));
    const double seconds = std::chrono::duration<double>(now_ - started_).count();
    if (seconds > 5 && part > first_part_) {
        const double left = seconds * (1 - part) / (part - first_part_);
        line += time_left(left);
    }
    print(std::move(line), done);
}

bool Progress::is_due(const std::string& what, std::uint64_t done, double part, bool last) {
    now_ = std::chrono::steady_clock::now();
    const bool begins = what != what_;
    if (begins) {
        what_ = what;
        started_ = now_;
        first_done_ = done;
        first_part_ = part;
    }
    const auto pause = now_ - printed_;
    if (!console_.err_is_terminal) return pause >= between_lines_;
    return begins || last || pause >= kBetweenLooks;
}

void Progress::print(std::string line, std::uint64_t done) {
    const double seconds = std::chrono::duration<double>(now_ - started_).count();
    if (seconds > 0.5) {
        line +=
            fmt::format(", {} a second", reports::grouped(static_cast<std::uint64_t>(
                                             static_cast<double>(done - first_done_) / seconds)));
    }
    printed_ = now_;
    if (!console_.err_is_terminal) {
        console_.err << line << std::endl;
        return;
    }
    console_.err << "\r\x1b[K" << reports::shortened(line, 99) << std::flush;
    shown_ = true;
}

void Progress::clear() {
    if (shown_) console_.err << "\r\x1b[K" << std::flush;
    shown_ = false;
}

}  // namespace fencepost::cli
