#include "cli/own.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <fencepost/plugin.h>
#include "cli/command_error.h"
#include "cli/files.h"
#include "cli/names.h"
#include "scenarios/built_in.h"
#include "scenarios/files/scenario_file.h"
#include "scenarios/search/whole_file.h"
#include "scenarios/search/workers.h"
#include "sim/random.h"

namespace fencepost::cli {
namespace {

std::vector<std::string> listed(std::string_view text) {
    std::vector<std::string> parts;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        if (comma != 0 && !text.empty()) parts.emplace_back(text.substr(0, comma));
        more = comma != std::string_view::npos;
        if (more) text.remove_prefix(comma + 1);
    }
    return parts;
}

template <typename T>
T* symbol(void* library, const char* name) {
    return reinterpret_cast<T*>(::dlsym(library, name));
}

void check_interface(const std::string& path, const PluginInterface* built_for) {
    if (built_for == nullptr) {
        throw CommandError(fmt::format(
            "--handlers: {} is no plug-in: it has no FENCEPOST_PLUGIN(registry) {{ … }}", path));
    }
    if (std::string_view{built_for->version} != kPluginInterface.version) {
        throw CommandError(
            fmt::format("--handlers: {} was built for version {} of fencepost and this is version "
                        "{}; build it again with the headers of this one",
                        path, shown(built_for->version), kPluginInterface.version));
    }
    if (built_for->layout != kPluginInterface.layout) {
        throw CommandError(
            fmt::format("--handlers: {} was built with other headers or another compiler than "
                        "this program, though both say version {}; build it again with the "
                        "headers of this one",
                        path, kPluginInterface.version));
    }
}

void register_library(const std::string& path, const std::string& file) {
    // Symbols are bound at once, so that what is missing is said here and not in the midst of a
    // run.
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw CommandError(fmt::format("--handlers: {} cannot be loaded: {}", path, ::dlerror()));
    }
    check_interface(path, symbol<const PluginInterface>(library, "fencepost_plugin_interface"));
    auto* const add = symbol<void(Registry&)>(library, "fencepost_plugin_register");
    if (add == nullptr) check_interface(path, nullptr);
    Registry registry;
    try {
        add(registry);
    } catch (const std::exception& error) {
        throw CommandError(fmt::format("--handlers: {}: {}", path, error.what()));
    } catch (...) {
        throw CommandError(
            fmt::format("--handlers: {}: what its registration throws is no std::exception", path));
    }
}

// The same in the child.
void rehearse(const std::string& path, const std::string& file, int done) {
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, fd);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        register_library(path, file);
    } catch (...) {
        // It will be thrown again where it can be said.
    }
    (void)!::write(done, "+", 1);
    ::_exit(0);
}

// A library that ends the process as soon as it is loaded, perhaps with exit code 0, must not look
// as if the command had succeeded: it is tried where it can do no harm.
void load_in_a_child(const std::string& path, const std::string& file) {
    constexpr int kPatience = 20'000;  // milliseconds
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) rehearse(path, file, ends[1]);
    ::close(ends[1]);
    pollfd done{.fd = ends[0], .events = POLLIN, .revents = 0};
    const bool in_time = child < 0 || ::poll(&done, 1, kPatience) != 0;
    char sign = 0;
    const bool well = child < 0 || (in_time && ::read(ends[0], &sign, 1) == 1);
    ::close(ends[0]);
    if (child < 0) return;
    if (!in_time) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (well) return;
    const std::string how =
        !in_time              ? fmt::format("did not come to an end in {} s", kPatience / 1000)
        : WIFSIGNALED(status) ? "ended the process by " + scenarios::signal_name(WTERMSIG(status))
                              : fmt::format("ended the process by exit({})", WEXITSTATUS(status));
    throw CommandError(
        fmt::format("--handlers: {}: loading it {}; a plug-in does no more than make "
                    "its handlers known",
                    path, how));
}

void load_library(const std::string& path) {
    // A bare name would be looked for in the system's folders.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    if (!std::filesystem::exists(file)) {
        throw CommandError(fmt::format("--handlers: there is no file {}", path));
    }
    load_in_a_child(path, file);
    register_library(path, file);
    const std::string bytes = scenarios::read_whole_file(file);
    scenarios::belongs_to_this_program(fmt::format("plug-in {:x}", sim::hash_of(bytes)), bytes);
}

// Those of plug-ins, when all handlers and checkers are known.
void validate_scenarios() {
    for (const scenarios::Scenario& scenario : scenarios::all_scenarios()) {
        if (scenarios::is_built_in_scenario(scenario.name)) continue;
        try {
            scenarios::validate(scenario);
        } catch (const sim::PlanError& error) {
            throw CommandError(
                fmt::format("--handlers: the scenario \"{}\": {}", scenario.name, error.what()));
        }
    }
}

// All that it says, with the SQL that it names.
std::string content_of(const scenarios::Scenario& scenario) {
    std::string content = scenarios::to_json(scenario);
    for (const auto* scripts : {&scenario.schema, &scenario.seed}) {
        for (const scenarios::SqlScript& script : *scripts) content += '\0' + script.text;
    }
    return content;
}

// Gives its name.
std::string load_scenario(const std::string& path) {
    try {
        scenarios::Scenario scenario = scenarios::checked_scenario_from_json(
            read_file(path), std::filesystem::path(path).parent_path());
        std::string name = scenario.name;
        scenarios::belongs_to_this_program("scenario " + name, content_of(scenario));
        scenarios::put_scenario(std::move(scenario));
        return name;
    } catch (const scenarios::ScenarioFileError& error) {
        const scenarios::FilePosition at = error.position();
        throw CommandError(fmt::format("{}:{}:{}: {}", path, at.line, at.column, error.unplaced()));
    }
}

bool takes_scenario_file(const Arguments& arguments) {
    return arguments.command().operand == "SCENARIO" &&
           arguments.operand().find('/') != std::string::npos;
}

}  // namespace

void load_own(Arguments& arguments, Console& console) {
    if (const auto libraries = arguments.text("handlers")) {
        for (const std::string& path : listed(*libraries)) load_library(path);
        validate_scenarios();
        console.own += " --handlers " + quoted_word(*libraries);
    }
    std::string files = arguments.text("scenarios").value_or("");
    for (const std::string& path : listed(files)) load_scenario(path);
    if (takes_scenario_file(arguments)) {
        const std::string path = arguments.operand();
        arguments.name_operand(load_scenario(path));
        files += (files.empty() ? "" : ",") + path;
    }
    if (!files.empty()) console.own += " --scenarios " + quoted_word(files);
}

}  // namespace fencepost::cli
