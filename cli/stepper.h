// Stepping through a run: from event to event, from fault to fault, with a look at the world in
// between.
//
// Events are numbered as in the trace. One step of the simulation may make several events; they
// are shown before the next command, of very many the last. Commands are lines of words, each of
// which may be cut short as long as only one thing begins so; an empty line repeats the last that
// moved on. Looking changes nothing: the run ends with the fingerprint that it has without.
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "reports/trace.h"
#include "scenarios/runner.h"
#include "sim/plan.h"

namespace fencepost::cli {

// What is known of a run before it is stepped through: from a first run of the same plan.
struct Rehearsal {
    reports::TraceLines trace;  // with a mark at each event that broke something
    std::uint64_t steps = 0;    // of the simulation

    // Through a pipe: a worker rehearses, in case that the handler takes its process down.
    [[nodiscard]] std::string packed() const;
    static Rehearsal unpacked(std::string_view text);
};

class Stepper {
public:
    // Without a rehearsal, events are shown without lanes and there is no stop before the verdict.
    Stepper(const sim::Plan& plan, std::optional<Rehearsal> rehearsal, std::istream& in,
            Console& console);

    // To be the `watch` of the run's options. Throws Quit when that is asked for.
    void after_step(model::World& world);
    struct Quit {};

    // The events since the last stop, once the run is over.
    void finish(const sim::History& history) { show_new(history); }

private:
    struct Command;
    // Whether to go on running.
    using Stop = std::function<bool()>;

    static const std::vector<Command>& commands();
    [[nodiscard]] const Command* command_named(std::string_view word) const;
    void prompt();
    bool obey(const std::string& line);
    bool move(const Command& command, const std::string& argument);
    void look(const Command& command, const std::string& argument);

    void show_new(const sim::History& history);
    void show(const sim::History& history, sim::RecordId record);
    void show_last(const std::string& argument);
    void show_event(const std::string& argument);
    void show_plan();
    void show_help();
    void complain(std::string_view what);
    [[nodiscard]] bool is_last_step() const;
    [[nodiscard]] std::optional<sim::RecordId> number_of(const std::string& argument);

    const sim::Plan& plan_;
    std::optional<Rehearsal> rehearsal_;
    std::istream& in_;
    Console& console_;
    model::World* world_ = nullptr;  // between two steps
    sim::RecordId shown_ = 0;        // events before this have been shown
    Stop stop_;                      // whether to stop after this step
    std::string repeated_ = "next";  // by an empty line
};

}  // namespace fencepost::cli
