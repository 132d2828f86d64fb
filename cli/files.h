// Files of the user: read whole, written whole or not at all. Errors are CommandErrors that name
// the file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fencepost::cli {

// At most 64 MiB.
std::string read_file(const std::filesystem::path& path);

// Through a temporary file beside it and a rename; devices and pipes are written to directly.
void write_file(const std::filesystem::path& path, std::string_view text);

// Whether write_file will be able to, found out before long work. Writes nothing.
void check_writable(const std::filesystem::path& path);

// Whether writing one would replace the other, however the paths are written. Devices take both.
bool is_same_place(const std::filesystem::path& a, const std::filesystem::path& b);

// Makes the folder, and those above it, unless it is there; checks that files can be put there.
void make_folder(const std::filesystem::path& path);

}  // namespace fencepost::cli
