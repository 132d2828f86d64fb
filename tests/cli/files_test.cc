// Goal: files are written whole or not at all, and errors name the file.
#include "cli/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/command_error.h"
#include "tests/cli/program.h"

namespace fencepost::cli {
namespace {

template <typename Function>
std::string error_of(Function function) {
    try {
        function();
    } catch (const CommandError& error) {
        return error.what();
    }
    return "no error";
}

TEST(FilesTest, WhatIsWrittenIsReadBack) {
    const Folder folder;
    const std::string text{"a\0b\n\xff", 5};
    write_file("file", text);
    EXPECT_EQ(read_file("file"), text);
    write_file("file", "shorter");
    EXPECT_EQ(read_file("file"), "shorter");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
}

TEST(FilesTest, AMissingFileIsNamed) {
    const Folder folder;
    EXPECT_EQ(error_of([] { read_file("none.json"); }),
              "cannot read none.json: No such file or directory");
}

TEST(FilesTest, AFolderIsNotAFile) {
    const Folder folder;
    std::filesystem::create_directory("folder");
    EXPECT_EQ(error_of([] { read_file("folder"); }), "cannot read folder: Is a directory");
    EXPECT_EQ(error_of([] { write_file("folder", "x"); }), "cannot write folder: Is a directory");
}

TEST(FilesTest, AFileInAFolderThatIsNotThereIsRefusedBeforeAnyWork) {
    const Folder folder;
    EXPECT_EQ(error_of([] { check_writable("none/file"); }),
              "cannot write none/file: the folder none does not exist");
    EXPECT_TRUE(folder.names().empty());
}

TEST(FilesTest, AFullDeviceIsReported) {
    EXPECT_EQ(error_of([] { write_file("/dev/full", "x"); }),
              "cannot write /dev/full: No space left on device");
}

TEST(FilesTest, AFolderIsMadeWithThoseAboveIt) {
    const Folder folder;
    make_folder("a/b/c");
    make_folder("a/b/c");
    EXPECT_TRUE(std::filesystem::is_directory("a/b/c"));
    write_file("a/file", "x");
    EXPECT_EQ(error_of([] { make_folder("a/file"); }),
              "cannot make the folder a/file: Not a directory");
}

TEST(FilesTest, AFolderWithoutPermissionIsReported) {
    if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
    const Folder folder;
    make_folder("closed");
    std::filesystem::permissions("closed", std::filesystem::perms::owner_read);
    EXPECT_EQ(error_of([] { check_writable("closed/file"); }),
              "cannot write closed/file: Permission denied");
}

}  // namespace
}  // namespace fencepost::cli
