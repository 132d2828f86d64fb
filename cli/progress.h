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

    // `what` as in "same-instant: random runs".
    void show(const std::string& what, std::uint64_t done, std::uint64_t total);
    void clear();

private:
    Console& console_;
    std::string what_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point started_{};
    std::chrono::steady_clock::time_point last_{};
};

}  // namespace fencepost::cli
