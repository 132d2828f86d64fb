// A project of one's own, to start from.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/names.h"
#include "cli/templates.h"

namespace fencepost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMistakes = "mistakes/";
constexpr std::size_t kLongestName = 60;

bool is_name(std::string_view text) {
    const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
    return !text.empty() && text.size() <= kLongestName && letter(text.front()) &&
           text.back() != '-' && std::ranges::all_of(text, fits);
}

// "expire-points" -> "ExpirePoints"
std::string in_camel_case(std::string_view name) {
    std::string out;
    bool begins = true;
    for (const char c : name) {
        if (c == '-') {
            begins = true;
            continue;
        }
        out += begins && c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
        begins = false;
    }
    return out;
}

std::string_view template_of(std::string_view path) {
    return std::ranges::find(all_templates(), path, &Template::path)->text;
}

std::vector<std::string> mistakes() {
    std::vector<std::string> names;
    for (const Template& each : all_templates()) {
        if (!each.path.starts_with(kMistakes)) continue;
        const std::string_view file = each.path.substr(kMistakes.size());
        names.emplace_back(file.substr(0, file.rfind('.')));
    }
    return names;
}

class Project {
public:
    Project(std::string name, std::string mistake)
        : name_(std::move(name)), mistake_(std::move(mistake)) {}

    // All of it or nothing.
    void write_to(const fs::path& folder) const {
        const fs::path beside = fmt::format("{}.{}.tmp", folder.string(), ::getpid());
        try {
            make_folder(beside);
            for (const auto& [file, from] : files()) {
                write_file(beside / file, filled(template_of(from)));
            }
            fs::rename(beside, folder);
        } catch (const fs::filesystem_error& error) {
            fs::remove_all(beside);
            throw CommandError(
                fmt::format("{}: cannot be made: {}", folder.string(), error.code().message()));
        } catch (...) {
            std::error_code ignored;
            fs::remove_all(beside, ignored);
            throw;
        }
    }

private:
    using Files = std::vector<std::pair<std::string, std::string>>;
    [[nodiscard]] Files files() const {
        const std::string handler =
            mistake_.empty() ? "handler.cc" : fmt::format("{}{}.cc", kMistakes, mistake_);
        return {{"handler.cc", handler},
                {name_ + ".json", "scenario.json"},
                {"test.cc", "test.cc"},
                {"meson.build", "meson.build"},
                {"README.md", "README.md"}};
    }

    [[nodiscard]] std::string filled(std::string_view text) const {
        std::string out{text};
        const auto replace = [&](std::string_view mark, std::string_view value) {
            for (std::size_t at = out.find(mark); at != std::string::npos;
                 at = out.find(mark, at + value.size())) {
                out.replace(at, mark.size(), value);
            }
        };
        replace("@NAME@", name_);
        replace("TestOfTheJob", in_camel_case(name_));  // a word, for formatters
        replace("@EXPECTED@", mistake_.empty()
                                  ? "it passes, as far as it applies."
                                  : "it fails. The mistake stands at the head of `handler.cc`.");
        return out;
    }

    std::string name_;
    std::string mistake_;
};

}  // namespace

int new_command(const Arguments& arguments, Console& console) {
    const std::string& name = arguments.operand();
    if (!is_name(name)) {
        throw CommandError(
            fmt::format("new: \"{}\" is no name of a job; write small letters, digits and dashes, "
                        "a letter first, such as expire-points",
                        shown(name)));
    }
    const std::string mistake = arguments.text("mistake").value_or("");
    const std::vector<std::string> known = mistakes();
    if (!mistake.empty() && std::ranges::find(known, mistake) == known.end()) {
        throw CommandError("--mistake: " + unknown_name("mistake", mistake, known));
    }
    if (scenarios::find_handler(name) != nullptr) {
        throw CommandError(
            fmt::format("new: a handler called \"{}\" is built in; take another name", name));
    }
    if (fs::symlink_status(name).type() != fs::file_type::not_found) {
        throw CommandError(fmt::format("new: {} is there already; take another name", name));
    }
    Project{name, mistake}.write_to(name);
    console.out << fmt::format(
        "{0}/ is there: handler.cc, {0}.json, test.cc, meson.build, README.md\n"
        "next: cd {0} && meson setup build && ninja -C build && {1} accept --handlers "
        "build/lib{0}.so --handler {0}\n",
        name, quoted_word(console.program));
    return 0;
}

}  // namespace fencepost::cli
