// Handlers as the harness knows them: what they need, what they must leave behind, and how to start
// one on a node.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/expectations.h"
#include "jobs/fire.h"
#include "jobs/ports/ports.h"

namespace fencepost::scenarios {

// Of a plan's parameter, and of a scenario's that counts something: more accounts than this would
// be a slip of the finger.
inline constexpr std::int64_t kMostParameter = 100'000;

// Whole numbers by name: a scenario's defaults, overridden by the plan.
class Parameters {
public:
    Parameters() = default;
    explicit Parameters(std::map<std::string, std::int64_t, std::less<>> values)
        : values_(std::move(values)) {}
    // Throws std::out_of_range for a name that nobody gave a value.
    [[nodiscard]] std::int64_t at(std::string_view name) const;
    // For what only some scenarios set.
    [[nodiscard]] std::int64_t value_or(std::string_view name, std::int64_t fallback) const;
    [[nodiscard]] const std::map<std::string, std::int64_t, std::less<>>& all() const {
        return values_;
    }
    bool operator==(const Parameters&) const = default;

private:
    std::map<std::string, std::int64_t, std::less<>> values_;
};

// One business act that falls due in a run.
struct DueWork {
    std::string tenant;
    std::string job;
    jobs::WallTime scheduled;
    // Of a message, request or start-up step; empty: the scheduled instant names the act.
    std::string id{};
    std::int64_t version = 1;  // the first version of the program that knows such work
    // "acme/daily-reconcile@2026-03-02T18:00:00Z" or "acme/consume-order#order-17": as in business
    // keys.
    [[nodiscard]] std::string unit() const;
    bool operator==(const DueWork&) const = default;
};

// What sets a handler to work.
enum class Trigger : std::uint8_t { Fires, Messages, StartUp };
constexpr std::string_view name_of(Trigger trigger) {
    switch (trigger) {
        case Trigger::Fires:
            return "fires of the scheduler";
        case Trigger::Messages:
            return "messages and requests";
        case Trigger::StartUp:
            return "the start of a node";
    }
    return "?";
}

// What a scenario may need of a handler beside its trigger.
enum class Ability : std::uint8_t {
    Outside,      // it calls the outside service
    Batches,      // its work is long, goes on in batches, can be cancelled and shows its progress
    TwoVersions,  // it comes in two versions that run side by side
    Tenants,      // it works for several tenants whose jobs and accounts have the same names
    Instants,     // its act is the planned instant, of which a day has several
};
constexpr std::string_view name_of(Ability ability) {
    switch (ability) {
        case Ability::Outside:
            return "a call to the outside service";
        case Ability::Batches:
            return "work in batches that can be cancelled";
        case Ability::TwoVersions:
            return "two versions";
        case Ability::Tenants:
            return "several tenants with the same job";
        case Ability::Instants:
            return "several planned instants a day";
    }
    return "?";
}

// The enumerator's own name.
constexpr std::string_view word_of(Ability ability) {
    switch (ability) {
        case Ability::Outside:
            return "Outside";
        case Ability::Batches:
            return "Batches";
        case Ability::TwoVersions:
            return "TwoVersions";
        case Ability::Tenants:
            return "Tenants";
        case Ability::Instants:
            return "Instants";
    }
    return "?";
}

// What a client asks of a node. The id is the client's and the same on every repeat.
struct Request {
    std::string id;
    std::string body;
};

// The program of one node: made when its process starts, gone with it.
class Program {
public:
    virtual ~Program() = default;
    // What must be through before the process does anything else, where the start of a node is what
    // a scenario is about (Trigger::StartUp): runs as a task called "start-up". When it throws, the
    // process ends and is started again, as a supervisor does.
    virtual void start_up() {}
    virtual void start() {}
    // Runs one fire; suspends as it likes. The text says what became of it, for the trace.
    virtual std::string handle(const jobs::Fire& fire) = 0;
    // Answers a client's request; empty when it could not be done for now and is to be asked again.
    virtual std::string answer(const Request& request);
    // Graceful stop: no new work; returns when nothing of it runs any more.
    virtual void stop() {}
};

// What the program of one node is made from; all of it outlives the program.
struct ProgramSetting {
    const jobs::Ports& ports;
    const Parameters& parameters;
    const std::vector<DueWork>& due;  // everything that the schedule makes due in the run
    std::int64_t version = 1;         // of the program: 1 or 2, where a handler comes in two
};

struct HandlerSpec {
    std::string name;
    // One sentence: what a reference handler does, or what a planted mistake teaches.
    std::string lesson;
    // Where the handler is made, for reports that point into the source: set it with
    // std::source_location::current(). Line 0: nobody says.
    std::source_location source{};
    // For a planted mistake: the checkers of which at least one must fail. Empty for a reference.
    std::vector<std::string> breaks{};
    Trigger trigger = Trigger::Fires;
    std::vector<Ability> abilities{};

    // SQL scripts for schema and seed rows, in PostgreSQL's dialect; null: none.
    std::function<std::vector<std::string>(const Parameters&)> schema;
    // What it must leave behind; null: its effects alone, in the tables that `effects` and the
    // scenario name.
    std::function<checkers::Expectations(const Parameters&, const std::vector<DueWork>&)>
        expectations;
    // Tables of effects that nobody lists in advance: judged by what an undisturbed run leaves.
    std::vector<checkers::EffectTable> effects{};
    std::function<std::unique_ptr<Program>(const ProgramSetting&)> program;
    // What the message or request that asks for an act says; null: its id (Trigger::Messages).
    std::function<std::string(const DueWork&)> body{};
    // Asks for a unit to be cancelled, as an operator does, on ports of the operator's own. Of
    // those with Ability::Batches. Throws AttemptError: to be asked again.
    std::function<void(const jobs::Ports&, const std::string& unit)> cancel;
    // A query that returns a row, its first column in words, for each piece of work that is left
    // open; null when the handler keeps no such record.
    std::function<std::string(const std::vector<DueWork>&)> open_work;

    [[nodiscard]] bool is_mistake() const { return !breaks.empty(); }
};

// Reference handlers first, then planted mistakes, each in the order of the documentation.
const std::vector<HandlerSpec>& all_handlers();
const HandlerSpec* find_handler(std::string_view name);
// Makes another handler known, for tests and for programs that bring their own; before any run with
// it. Throws std::invalid_argument when its name is taken, or it has no name or no program.
void add_handler(HandlerSpec handler);
// The same, but takes the place of a handler of that name which was put before, or which is made at
// the same line of the source: so a test can bring its handler again and again. Throws
// std::invalid_argument when the name is another one's. Runners that are there keep what they have.
void put_handler(HandlerSpec handler);
// Whether the program brings the handler itself: nobody had to make it known.
bool is_built_in(std::string_view name);

}  // namespace fencepost::scenarios
