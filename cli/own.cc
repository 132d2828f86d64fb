#include "cli/own.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include <fencepost/plugin.h>
#include "cli/command_error.h"
#include "cli/files.h"
#include "cli/names.h"
#include "scenarios/files/scenario_file.h"

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

void load_library(const std::string& path) {
    // A bare name would be looked for in the system's folders.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    if (!std::filesystem::exists(file)) {
        throw CommandError(fmt::format("--handlers: there is no file {}", path));
    }
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
    }
}

// Gives its name.
std::string load_scenario(const std::string& path) {
    try {
        scenarios::Scenario scenario = scenarios::checked_scenario_from_json(
            read_file(path), std::filesystem::path(path).parent_path());
        std::string name = scenario.name;
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
