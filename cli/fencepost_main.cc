#include "cli/fencepost_main.h"

#include <fmt/format.h>

#include <array>
#include <new>

#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/names.h"
#include "cli/own.h"
#include "kit/code_version.h"
#include "reports/layout.h"
#include "sim/plan.h"
#include "sim/require.h"

namespace fencepost::cli {
namespace {

constexpr int kWrong = 2;
constexpr int kHarnessFailed = 4;
constexpr std::size_t kMostShown = 2'000;  // of an error, in characters

using Function = int (*)(const Arguments&, Console&);

struct Command {
    std::string_view name;
    Function function;
};

constexpr std::array kCommands{
    Command{"accept", &accept_command},   Command{"run", &run_command},
    Command{"sweep", &sweep_command},     Command{"exhaust", &exhaust_command},
    Command{"replay", &replay_command},   Command{"explain", &explain_command},
    Command{"shrink", &shrink_command},   Command{"mistakes", &mistakes_command},
    Command{"search", &search_command},   Command{"merge", &merge_command},
    Command{"corpus", &corpus_command},   Command{"check", &check_command},
    Command{"show", &show_command},       Command{"list", &list_command},
    Command{"help", &help_command},       Command{"new", &new_command},
    Command{"version", &version_command},
};

Function function_of(const CommandSpec& command) {
    for (const Command& each : kCommands) {
        if (each.name == command.name) return each.function;
    }
    sim::require(false, "every command of the table has a function");
    return nullptr;
}

const CommandSpec& command_named(std::string_view word) {
    if (word == "-h" || word == "--help") word = "help";
    if (word == "--version") word = "version";
    if (const CommandSpec* command = find_command(word)) return *command;
    std::vector<std::string> names;
    for (const CommandSpec& command : all_commands()) names.emplace_back(command.name);
    throw CommandError(unknown_name("command", word, names));
}

bool asks_for_help(std::span<const char* const> words) {
    for (const std::string_view word : words) {
        if (word == "--help" || word == "-h") return true;
    }
    return false;
}

int dispatch(std::span<const char* const> words, Console& console) {
    if (words.empty()) {
        console.err << help_text();
        return kWrong;
    }
    const CommandSpec& command = command_named(words.front());
    words = words.subspan(1);
    if (asks_for_help(words)) {
        console.out << help_text(command);
        return 0;
    }
    Arguments arguments{command, words};
    load_own(arguments, console);
    return function_of(command)(arguments, console);
}

}  // namespace

int help_command(const Arguments& arguments, Console& console) {
    console.out << (arguments.operand().empty() ? help_text()
                                                : help_text(command_named(arguments.operand())));
    return 0;
}

int version_command(const Arguments&, Console& console) {
    console.out << "fencepost " << code_version() << "\n";
    return 0;
}

int fencepost_main(std::span<const char* const> arguments, std::ostream& out, std::ostream& err) {
    Console console = console_of(arguments.empty() ? "" : arguments.front(), out, err);
    const auto complain = [&](std::string_view what, int code) {
        // Names out of files may hold anything.
        err << "fencepost: " << reports::shortened(reports::on_one_line(what), kMostShown)
            << std::endl;
        return code;
    };
    try {
        const int code = dispatch(arguments.subspan(arguments.empty() ? 0 : 1), console);
        out.flush();
        if (!out) return complain("cannot write to standard output", kWrong);
        return code;
    } catch (const CommandError& error) {
        return complain(error.what(), kWrong);
    } catch (const sim::PlanError& error) {
        return complain(error.what(), kWrong);
    } catch (const sim::BrokenInvariant& error) {
        return complain(fmt::format("the harness contradicts itself: {}", error.what()),
                        kHarnessFailed);
    } catch (const std::bad_alloc&) {
        return complain("there is not enough memory", kHarnessFailed);
    } catch (const std::exception& error) {
        return complain(fmt::format("unexpected: {}", error.what()), kHarnessFailed);
    } catch (...) {
        return complain("unexpected: what was thrown is no std::exception", kHarnessFailed);
    }
}

}  // namespace fencepost::cli
