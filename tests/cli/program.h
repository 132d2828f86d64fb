// Calls the program as a shell would, and gives what it printed.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/fencepost_main.h"

namespace fencepost::cli {

struct Called {
    int code = 0;
    std::string out;
    std::string err;
};

inline Called call(const std::vector<std::string>& words) {
    std::vector<const char*> arguments{"fencepost"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    std::ostringstream out;
    std::ostringstream err;
    const int code = fencepost_main(arguments, out, err);
    return {.code = code, .out = out.str(), .err = err.str()};
}

// A folder of its own, in which the test runs, removed at the end.
class Folder {
public:
    Folder() : before_(std::filesystem::current_path()) {
        std::string name = (std::filesystem::temp_directory_path() / "fencepost-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
        std::filesystem::current_path(path_);
    }
    ~Folder() {
        std::filesystem::current_path(before_);
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
        return name;
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(path_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
            all.push_back(std::filesystem::relative(entry.path(), path_).string());
        std::ranges::sort(all);
        return all;
    }

private:
    std::filesystem::path before_;
    std::filesystem::path path_;
};

}  // namespace fencepost::cli
