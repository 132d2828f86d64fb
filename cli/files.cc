#include "cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "cli/command_error.h"

namespace fencepost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

[[noreturn]] void fail(std::string_view doing, const fs::path& path, int error) {
    throw CommandError(fmt::format("cannot {} {}: {}", doing, path.string(),
                                   std::generic_category().message(error)));
}

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    // The error of closing, which is where a full disk may show; 0 when there is none.
    int close() {
        const int result = ::close(fd_);
        fd_ = -1;
        return result == 0 ? 0 : errno;
    }

private:
    int fd_;
};

// 0 or an errno.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

bool is_device(const fs::path& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

std::string read_file(const fs::path& path) {
    Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.get() < 0) fail("read", path, errno);
    std::string text;
    char block[1 << 16];
    for (;;) {
        const ssize_t got = ::read(file.get(), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("read", path, errno);
        if (got == 0) return text;
        text.append(block, static_cast<std::size_t>(got));
        if (text.size() > kMostBytes) fail("read", path, EFBIG);
    }
}

void write_file(const fs::path& path, std::string_view text) {
    if (is_device(path)) {
        Descriptor device{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
        if (device.get() < 0) fail("write", path, errno);
        if (const int error = write_all(device.get(), text)) fail("write", path, error);
        return;
    }
    check_writable(path);
    std::string temporary = (folder_of(path) / (path.filename().string() + ".XXXXXX")).string();
    Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
    if (file.get() < 0) fail("write", path, errno);
    int error = write_all(file.get(), text);
    // mkostemp gives the file to its owner alone; reports are for everyone whom the umask lets.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (error == 0 && ::fchmod(file.get(), 0666 & ~mask) != 0) error = errno;
    if (const int closing = file.close(); error == 0) error = closing;
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return;
    ::unlink(temporary.c_str());
    fail("write", path, error);
}

void check_writable(const fs::path& path) {
    if (path.empty()) throw CommandError("a file name is missing");
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) fail("write", path, EISDIR);
    if (is_device(path)) {
        if (::access(path.c_str(), W_OK) != 0) fail("write", path, errno);
        return;
    }
    const fs::path folder = folder_of(path);
    if (!fs::exists(folder, ignored)) {
        throw CommandError(fmt::format("cannot write {}: the folder {} does not exist",
                                       path.string(), folder.string()));
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0) fail("write", path, errno);
}

bool is_same_place(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    const auto place = [&](const fs::path& path) {
        const fs::path whole = fs::absolute(path, ignored);
        return fs::weakly_canonical(whole.parent_path(), ignored) / whole.filename();
    };
    return !is_device(a) && place(a) == place(b);
}

void make_folder(const fs::path& path) {
    if (path.empty()) throw CommandError("a folder name is missing");
    std::error_code error;
    fs::create_directories(path, error);
    if (error) fail("make the folder", path, error.value());
    if (!fs::is_directory(path, error)) fail("make the folder", path, ENOTDIR);
    if (::access(path.c_str(), W_OK | X_OK) != 0) fail("write to the folder", path, errno);
}

}  // namespace fencepost::cli
