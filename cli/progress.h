// How far a long command is, on standard error: a line that changes where that is a terminal, else
// a further line every now and then, so that a log shows that the command lives.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/console.h"

namespace fencepost::cli {

class Progress {
public:
    explicit Progress(Console& console, std::chrono::milliseconds between_lines = kBetweenLines)
        : console_(console), between_lines_(between_lines) {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `what` as in "same-instant: random runs"; `failed` of those that are done.
    void show(const std::string& what, std::uint64_t done, std::uint64_t total,
              std::uint64_t failed = 0);
    // The same where nobody knows how many there will be.
    void show_count(const std::string& what, std::uint64_t done, std::uint64_t failed);
    // Of work whose number of steps is not known: `done` steps, which are that part of it.
    void show_part(const std::string& what, std::uint64_t done, double part);
    void clear();

private:
    static constexpr std::chrono::seconds kBetweenLines{30};

    // Whether it is time to show anything; notes when `what` began, and with which part.
    bool is_due(const std::string& what, std::uint64_t done, double part, bool last);
    void print(std::string line, std::uint64_t done);

    Console& console_;
    std::chrono::milliseconds between_lines_;  // of a log
    std::string what_;
    bool shown_ = false;
    // When it was first shown: what went on from an earlier state has not done that much since.
    std::uint64_t first_done_ = 0;
    double first_part_ = 0;
    std::chrono::steady_clock::time_point started_{};
    std::chrono::steady_clock::time_point now_{};
    std::chrono::steady_clock::time_point printed_ = std::chrono::steady_clock::now();
};

}  // namespace fencepost::cli
