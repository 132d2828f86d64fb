// A folder of a test's own, gone with it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fencepost::kit {

class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "fencepost-XXXXXX").string();
        const char* const made = mkdtemp(name.data());
        EXPECT_NE(made, nullptr);
        path_ = name;
    }
    ~Folder() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace fencepost::kit
