#include "cli/stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "cli/world_view.h"
#include "model/events.h"
#include "model/world.h"
#include "scenarios/nearest.h"
#include "scenarios/search/plan_runner.h"

namespace fencepost::cli {
namespace {

using sim::RecordId;

// After a long way only the end of it is shown.
constexpr RecordId kMostShown = 60;
constexpr RecordId kFewShown = 20;

std::optional<std::uint32_t> parsed_number(std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

// The one name that is `word` or begins with it; else a sentence in `problem`.
std::string completed(std::string_view word, const std::vector<std::string>& names,
                      std::string_view what, std::string& problem) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
        if (name == word) return name;
        if (name.starts_with(word)) found.push_back(name);
    }
    if (found.size() == 1) return found.front();
    problem = found.empty() ? fmt::format("there is no {} \"{}\"; there are {}", what, word,
                                          names.empty() ? "none" : reports::joined(names))
                            : fmt::format("\"{}\" may be {}", word, reports::joined(found, " or "));
    return {};
}

}  // namespace

struct Stepper::Command {
    std::string_view name;
    std::string_view argument;
    std::string_view help;
    bool moves = false;
};

const std::vector<Stepper::Command>& Stepper::commands() {
    static const std::vector<Command> kCommands{
        {"next", "[N]", "run to the next event, or over the next N", true},
        {"fault", "", "run to the next fault that strikes", true},
        {"to", "N", "run to event N", true},
        {"end", "", "run to the last event, and then to the verdict", true},
        {"tasks", "[NODE]", "the tasks of a node, or of all, and what each waits for"},
        {"waits", "", "who waits for whom"},
        {"table", "[NAME]", "the committed rows of a table; without a name, all tables"},
        {"key", "[NAME]", "a key of Redis; without a name, all keys"},
        {"show", "[N]", "an event in full, with what caused it; without N, the last one"},
        {"last", "[N]", "the last N events once more (10)"},
        {"plan", "", "the faults of the plan, and what has become of them"},
        {"help", "", "this text"},
        {"quit", "", "leave"},
    };
    return kCommands;
}

// Length and text, so that lines may hold anything.
std::string Rehearsal::packed() const {
    std::string out = fmt::format("{}:{}:", steps, trace.heading.size()) + trace.heading;
    for (const std::string& lines : trace.lines) out += fmt::format("{}:", lines.size()) + lines;
    return out;
}

Rehearsal Rehearsal::unpacked(std::string_view text) {
    const auto number = [&text] {
        const std::size_t colon = text.find(':');
        sim::require(colon != std::string_view::npos, "a worker's answer is whole");
        const std::uint64_t value = std::stoull(std::string(text.substr(0, colon)));
        text.remove_prefix(colon + 1);
        return value;
    };
    const auto part = [&text, &number] {
        const std::size_t size = number();
        std::string value{text.substr(0, size)};
        text.remove_prefix(size);
        return value;
    };
    Rehearsal rehearsal;
    rehearsal.steps = number();
    rehearsal.trace.heading = part();
    while (!text.empty()) rehearsal.trace.lines.push_back(part());
    return rehearsal;
}

Stepper::Stepper(const sim::Plan& plan, std::optional<Rehearsal> rehearsal, std::istream& in,
                 Console& console)
    : plan_(plan), rehearsal_(std::move(rehearsal)), in_(in), console_(console) {
    console_.out << fmt::format("{}, handler {}, seed {}: {}\n", plan.scenario, plan.handler,
                                plan.seed, reports::counted(plan.faults.size(), "fault", "faults"));
    console_.out
        << "\"help\" lists the commands; a word may be cut short; an empty line goes on.\n";
    if (rehearsal_) console_.out << rehearsal_->trace.heading;
    stop_ = [] { return true; };
}

void Stepper::after_step(model::World& world) {
    world_ = &world;
    if (!stop_() && !is_last_step()) return;
    show_new(world.kernel().history());
    if (is_last_step()) console_.out << "That was the last event; what follows is the verdict.\n";
    prompt();
}

bool Stepper::is_last_step() const {
    return rehearsal_ && world_->kernel().steps() == rehearsal_->steps;
}

// Until a command moves on.
void Stepper::prompt() {
    const sim::History& history = world_->kernel().history();
    for (;;) {
        const auto last = static_cast<RecordId>(history.size()) - 1;
        console_.out << (rehearsal_
                             ? fmt::format("#{} of {}> ", last, rehearsal_->trace.lines.size() - 1)
                             : fmt::format("#{}> ", last))
                     << std::flush;
        std::string line;
        if (!std::getline(in_, line)) {
            console_.out << "\n";
            throw Quit{};
        }
        line = trimmed(line);
        if (obey(line.empty() ? repeated_ : line)) return;
    }
}

const Stepper::Command* Stepper::command_named(std::string_view word) const {
    const Command* found = nullptr;
    for (const Command& command : commands()) {
        if (command.name == word) return &command;
        if (!command.name.starts_with(word)) continue;
        if (found != nullptr) return nullptr;
        found = &command;
    }
    return found;
}

// Whether the command moves on.
bool Stepper::obey(const std::string& line) {
    const std::size_t blank = line.find_first_of(" \t");
    const std::string word = line.substr(0, blank);
    const std::string argument = blank == std::string::npos ? "" : trimmed(line.substr(blank));
    const Command* const command = command_named(word);
    if (command == nullptr) {
        std::vector<std::string> names;
        std::vector<std::string> begin_so;
        for (const Command& each : commands()) {
            names.emplace_back(each.name);
            if (each.name.starts_with(word)) begin_so.emplace_back(each.name);
        }
        complain(begin_so.empty()
                     ? fmt::format("there is no command \"{}\"{}; \"help\" lists them", word,
                                   scenarios::did_you_mean(word, names))
                     : fmt::format("\"{}\" may be {}", word, reports::joined(begin_so, " or ")));
        return false;
    }
    if (!argument.empty() && command->argument.empty()) {
        complain(fmt::format("{} takes no word after it", command->name));
        return false;
    }
    if (!command->moves) {
        look(*command, argument);
        return false;
    }
    if (!move(*command, argument)) return false;
    repeated_ = command->name == "to" ? "next" : line;
    return true;
}

bool Stepper::move(const Command& command, const std::string& argument) {
    const sim::History& history = world_->kernel().history();
    const std::size_t now = history.size();
    std::size_t until = now + 1;
    if (command.name == "end") {
        stop_ = [] { return false; };
        return true;
    }
    if (command.name == "fault") {
        stop_ = [&history, seen = now]() mutable {
            bool struck = false;
            for (; seen < history.size(); ++seen) {
                const auto kind = history.kind_of(static_cast<RecordId>(seen));
                struck = struck || kind == sim::FaultStruck::kKind;
            }
            return struck;
        };
        return true;
    }
    if (command.name == "to") {
        const auto number = number_of(argument);
        if (!number) return false;
        if (*number < now) {
            complain(fmt::format("event {} is over; \"show {}\" shows it", *number, *number));
            return false;
        }
        if (rehearsal_ && *number >= rehearsal_->trace.lines.size()) {
            complain(fmt::format("the last event is {}", rehearsal_->trace.lines.size() - 1));
            return false;
        }
        until = std::size_t{*number} + 1;
    } else if (!argument.empty()) {
        const auto number = number_of(argument);
        if (!number) return false;
        until = now + std::max<std::size_t>(*number, 1);
    }
    stop_ = [&history, until] { return history.size() >= until; };
    return true;
}

void Stepper::look(const Command& command, const std::string& argument) {
    const auto named = [&](const std::vector<std::string>& names, std::string_view what) {
        std::string problem;
        std::string name = completed(argument, names, what, problem);
        if (!problem.empty()) complain(problem);
        return name;
    };
    const reports::TextStyle style = console_.style;
    if (command.name == "quit") throw Quit{};
    if (command.name == "help") {
        show_help();
    } else if (command.name == "tasks") {
        const std::string node = argument.empty() ? "" : named(node_names(*world_), "node");
        if (argument.empty() || !node.empty()) console_.out << tasks_text(*world_, node, style);
    } else if (command.name == "waits") {
        console_.out << waits_text(*world_);
    } else if (command.name == "table" && argument.empty()) {
        console_.out << tables_text(*world_, style);
    } else if (command.name == "table") {
        const std::string table = named(table_names(*world_), "table");
        if (!table.empty()) console_.out << table_text(*world_, table, style);
    } else if (command.name == "key" && argument.empty()) {
        console_.out << keys_text(*world_);
    } else if (command.name == "key") {
        const std::string key = named(key_names(*world_), "key");
        if (!key.empty()) console_.out << key_text(*world_, key);
    } else if (command.name == "show") {
        show_event(argument);
    } else if (command.name == "last") {
        show_last(argument);
    } else {
        show_plan();
    }
}

std::optional<RecordId> Stepper::number_of(const std::string& argument) {
    const auto number = parsed_number(argument);
    if (!number) complain(fmt::format("\"{}\" is not a number of an event", argument));
    return number;
}

void Stepper::show_new(const sim::History& history) {
    const auto size = static_cast<RecordId>(history.size());
    if (size - shown_ > kMostShown) {
        console_.out << fmt::format("       … {} events; \"last N\" shows them\n",
                                    size - shown_ - kFewShown);
        shown_ = size - kFewShown;
    }
    for (; shown_ < size; ++shown_) show(history, shown_);
}

void Stepper::show(const sim::History& history, RecordId record) {
    if (rehearsal_ && record < rehearsal_->trace.lines.size()) {
        console_.out << rehearsal_->trace.lines[record];
    } else {
        console_.out << fmt::format("{:>6}  {}\n", record, scenarios::record_text(history, record));
    }
}

void Stepper::show_last(const std::string& argument) {
    const auto count = argument.empty() ? std::optional<RecordId>{10} : number_of(argument);
    if (!count) return;
    const sim::History& history = world_->kernel().history();
    const auto size = static_cast<RecordId>(history.size());
    for (RecordId record = size - std::min(size, *count); record < size; ++record)
        show(history, record);
}

void Stepper::show_event(const std::string& argument) {
    const sim::History& history = world_->kernel().history();
    const auto size = static_cast<RecordId>(history.size());
    const auto number = argument.empty() ? std::optional<RecordId>{size - 1} : number_of(argument);
    if (!number) return;
    if (*number >= size) return complain(fmt::format("event {} has not happened yet", *number));
    console_.out << fmt::format("#{}  {}\n", *number, scenarios::record_text(history, *number));
    const RecordId cause = history[*number].cause();
    if (cause != sim::kNoRecord) {
        console_.out << fmt::format("because of #{}  {}\n", cause,
                                    scenarios::record_text(history, cause));
    }
}

void Stepper::show_plan() {
    const sim::Kernel& kernel = world_->kernel();
    if (plan_.faults.empty()) console_.out << "the plan has no faults\n";
    for (std::uint32_t index = 0; index < plan_.faults.size(); ++index) {
        const std::string_view fate = kernel.fault_had_effect(index) ? "took effect"
                                      : kernel.fault_struck(index)   ? "has struck"
                                                                     : "is to come";
        console_.out << fmt::format("{}. {}: {}\n", index + 1, sim::describe(plan_.faults[index]),
                                    fate);
    }
}

void Stepper::show_help() {
    std::string out;
    for (const Command& command : commands())
        reports::add_field(out, fmt::format("{} {}", command.name, command.argument), command.help);
    console_.out << out;
}

void Stepper::complain(std::string_view what) {
    console_.out << reports::inked(what, reports::Ink::Bad, console_.style) << "\n";
}

}  // namespace fencepost::cli
