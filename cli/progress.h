// A line on standard error that shows how far a long command is. Nothing when it is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/console.h"

namespace fencepost::cli {

class Progress {
public:
    explicit Progress(Console& console) : console_(console) {}
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
    // Whether it is time to show anything; notes when `what` began, and with which part.
    bool is_due(const std::string& what, std::uint64_t done, double part, bool last);
    void print(std::string line, std::uint64_t done);

    Console& console_;
    std::string what_;
    bool shown_ = false;
    // When it was first shown: what went on from an earlier state has not done that much since.
    std::uint64_t first_done_ = 0;
    double first_part_ = 0;
    std::chrono::steady_clock::time_point started_{};
    std::chrono::steady_clock::time_point last_{};
};

}  // namespace fencepost::cli
