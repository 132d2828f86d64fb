// fencepost-fidelity: runs the models against the real systems and prints what came of it.
//
// Exit codes: 0 no differences; 1 some; 2 a bad option; 3 nothing could be compared; 4 the harness
// failed. What could not be compared, since a server is missing, is counted and said.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "tests/fidelity/comparisons.h"

namespace fencepost::fidelity {
namespace {

namespace po = boost::program_options;

enum ExitCode : int {
    kEqual,
    kDifferent,
    kBadOption,
    kNothingCompared,
    kFailed,
    kInterrupted = 130
};

struct Interrupted {};

volatile sig_atomic_t interrupted = 0;

struct System {
    const char* name;
    std::vector<Comparison> (*compare)(const ComparisonOptions&);
};

constexpr System kSystems[] = {
    {"redis", compare_redis},
    {"postgres", compare_postgres},
};

std::string names_of_systems() {
    std::string names;
    for (const System& system : kSystems) {
        if (!names.empty()) names += '|';
        names += system.name;
    }
    return names;
}

struct Level {
    const char* name;
    model::IsolationLevel level;
};

constexpr Level kLevels[] = {
    {"read-committed", model::IsolationLevel::ReadCommitted},
    {"repeatable-read", model::IsolationLevel::RepeatableRead},
    {"serializable", model::IsolationLevel::Serializable},
};

std::string names_of_levels() {
    std::string names;
    for (const Level& level : kLevels) {
        if (!names.empty()) names += '|';
        names += level.name;
    }
    return names;
}

struct CommandLine {
    ComparisonOptions options;
    std::string only;
    std::string level;
    bool help = false;
};

po::options_description described(CommandLine& line) {
    po::options_description options(
        "Usage: fencepost fidelity [OPTION...]\n"
        "Runs random cases on the models and on the real systems and compares every answer.\n\n"
        "Options");
    const std::string only = "compare with one system only: " + names_of_systems();
    const std::string level = "of PostgreSQL, one isolation level only: " + names_of_levels();
    auto add = options.add_options();
    add("cases", po::value(&line.options.cases)->default_value(line.options.cases)->value_name("N"),
        "Redis sequences; a fifth of it PostgreSQL interleavings, and still fewer of what is slow");
    add("seed", po::value(&line.options.seed)->default_value(line.options.seed)->value_name("S"),
        "the seed that all cases are drawn from");
    add("only", po::value(&line.only)->value_name("NAME"), only.c_str());
    add("level", po::value(&line.level)->value_name("LEVEL"), level.c_str());
    add("help,h", po::bool_switch(&line.help), "this text");
    return options;
}

model::IsolationLevel level_named(const std::string& name) {
    for (const Level& level : kLevels) {
        if (name == level.name) return level.level;
    }
    throw po::error("--level knows " + names_of_levels() + ", not " + name);
}

CommandLine parse(int count, char** words) {
    CommandLine line;
    po::variables_map values;
    po::store(
        po::command_line_parser(count, words)
            .options(described(line))
            .positional({})
            .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
            .run(),
        values);
    po::notify(values);
    if (line.options.cases < 1) throw po::error("--cases is at least 1");
    if (!line.level.empty()) line.options.level = level_named(line.level);
    if (line.options.level && line.only.empty()) line.only = "postgres";
    if (line.options.level && line.only != "postgres") {
        throw po::error("--level is for PostgreSQL");
    }
    if (line.only.empty()) return line;
    for (const System& system : kSystems) {
        if (line.only == system.name) return line;
    }
    throw po::error("--only knows " + names_of_systems() + ", not " + line.only);
}

void show_progress(const Progress& progress) {
    if (interrupted != 0) throw Interrupted{};
    static const bool terminal = isatty(STDERR_FILENO) != 0;
    static auto last = std::chrono::steady_clock::time_point{};
    const auto now = std::chrono::steady_clock::now();
    if (!terminal || now - last < std::chrono::milliseconds(200)) return;
    last = now;
    fmt::print(stderr, "\r\x1b[K{}: {} of {}, {} differ", progress.what, progress.done, progress.of,
               progress.differences);
    std::fflush(stderr);
}

void clear_progress() {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
}

constexpr std::size_t kWidestName = 48;

void print(const Comparison& one) {
    fmt::print("{:{}}", one.what, kWidestName);
    if (one.skipped) {
        fmt::print("  skipped: {}\n", *one.skipped);
        return;
    }
    fmt::print("{:>8} cases {:>9} steps {:>4} differences {:>7.1f} s  {}\n", one.cases, one.steps,
               one.differences, one.seconds, one.version);
    for (const auto& [name, count] : one.known) {
        fmt::print("{:>{}} known difference: {}\n", count, kWidestName + 2 + 8, name);
    }
    if (!one.first_difference.empty()) {
        fmt::print("\nThe first difference, shrunk:\n{}\n", one.first_difference);
    }
}

int run(const CommandLine& line) {
    std::int64_t compared = 0;
    std::int64_t skipped = 0;
    std::int64_t cases = 0;
    std::int64_t differences = 0;
    std::int64_t known = 0;
    fmt::print("seed {}\n", line.options.seed);
    for (const System& system : kSystems) {
        if (!line.only.empty() && line.only != system.name) continue;
        const auto results = system.compare(line.options);
        clear_progress();
        for (const Comparison& one : results) {
            print(one);
            ++(one.skipped ? skipped : compared);
            cases += one.cases;
            differences += one.differences;
            for (const auto& [name, count] : one.known) known += count;
        }
    }
    fmt::print("{} comparisons, {} cases, {} differences, {} known differences, {} skipped\n",
               compared, cases, differences, known, skipped);
    if (compared == 0) return kNothingCompared;
    return differences == 0 ? kEqual : kDifferent;
}

int main_with(int count, char** words) {
    CommandLine line;
    try {
        line = parse(count, words);
    } catch (const po::error& error) {
        fmt::print(stderr, "fencepost fidelity: {}; see --help\n", error.what());
        return kBadOption;
    }
    if (line.help) {
        CommandLine defaults;
        std::cout << described(defaults);
        return kEqual;
    }
    // Servers and folders are cleaned up on the way out.
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
        (void)signal(signal_number, [](int) { interrupted = 1; });
    }
    line.options.progress = show_progress;
    try {
        return run(line);
    } catch (const Interrupted&) {
        return kInterrupted;
    } catch (const std::exception& error) {
        clear_progress();
        fmt::print(stderr, "fencepost fidelity: {}\n", error.what());
        return kFailed;
    }
}

}  // namespace
}  // namespace fencepost::fidelity

int main(int count, char** words) {
    return fencepost::fidelity::main_with(count, words);
}
