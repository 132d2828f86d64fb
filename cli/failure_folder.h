// Where a command saves failures, and plans that break their process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/options.h"
#include "scenarios/search/failure.h"

namespace fencepost::cli {

class FailureFolder {
public:
    // The folder of --out, or one in it, made at once; else the usual one, made when something is
    // to be saved.
    FailureFolder(const Arguments& arguments, Console& console, const std::string& in_it = {});

    [[nodiscard]] const std::filesystem::path& path() const { return folder_; }

    // The path of the file; empty when it cannot be written, which is said on standard error: what
    // a long search found must not be lost with its file.
    std::string save(const scenarios::Failure& failure);
    std::string save_plan(const std::string& name, const sim::Plan& plan);
    // Of --out alone.
    void write_summary(std::string_view json) const;

private:
    std::string write(const std::string& name, std::string_view text);

    Console& console_;
    std::filesystem::path folder_;
    bool asked_for_ = false;
};

}  // namespace fencepost::cli
