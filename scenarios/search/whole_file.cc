#include "scenarios/search/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "sim/plan.h"
#include "sim/random.h"

namespace fencepost::scenarios {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20U;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw sim::PlanError(path + ": " + what);
}

// Of any size: a program with a sanitizer and its debug information comes to a gigabyte.
std::uint64_t hash_of_file(const char* path) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
    struct stat status {};
    void* bytes = MAP_FAILED;
    if (::fstat(fd, &status) == 0) {
        bytes = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE,
                       fd, 0);
    }
    ::close(fd);
    if (bytes == MAP_FAILED) fail(path, std::string("cannot be read: ") + std::strerror(errno));
    const auto size = static_cast<std::size_t>(status.st_size);
    const std::uint64_t hash = sim::hash_of({static_cast<const char*>(bytes), size});
    ::munmap(bytes, size);
    return hash;
}

// The hashes of what belongs to the program, by name.
std::map<std::string, std::uint64_t>& parts() {
    static std::map<std::string, std::uint64_t> parts;
    return parts;
}

}  // namespace

std::string read_whole_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) fail(path, "this is a folder, not a file");
    std::string text;
    std::vector<char> block(1U << 16U);
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())) ||
           file.gcount() > 0) {
        text.append(block.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > kMostBytes) fail(path, "this is too large; at most 512 MiB are read");
    }
    if (file.bad()) fail(path, "cannot be read");
    return text;
}

std::uint64_t hash_of_this_program() {
    static const std::uint64_t kHash = hash_of_file("/proc/self/exe");
    std::uint64_t hash = kHash;
    for (const auto& [name, own] : parts()) hash += own;
    return hash;
}

void belongs_to_this_program(const std::string& name, std::string_view bytes) {
    parts()[name] = sim::hash_of(bytes);
}

void write_whole_file(const std::string& path, std::string_view text) {
    const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
    const auto give_up = [&](const char* what) {
        const std::string why = std::strerror(errno);
        std::remove(temporary.c_str());
        fail(path, fmt::format("cannot be {}: {}", what, why));
    };
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) give_up("written");
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t step = ::write(fd, text.data() + written, text.size() - written);
        if (step < 0 && errno == EINTR) continue;
        if (step < 0) {
            ::close(fd);
            give_up("written");
        }
        written += static_cast<std::size_t>(step);
    }
    const bool on_disk = ::fsync(fd) == 0 || errno == EINVAL;  // not every file system can
    if (::close(fd) != 0 || !on_disk) give_up("written");
    if (std::rename(temporary.c_str(), path.c_str()) != 0) give_up("put in place");
}

}  // namespace fencepost::scenarios
