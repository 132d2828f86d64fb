#include "scenarios/search/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "model/events.h"

namespace fencepost::scenarios {
namespace {

struct Trace {
    std::vector<std::uint64_t> fingerprints;
    std::vector<std::string> texts;

    [[nodiscard]] std::string text(std::size_t record) const {
        return record < texts.size() ? texts[record] : std::string{};
    }
};

Trace trace(const sim::Plan& plan, const PlanRunner& runner) {
    RunOptions options;
    options.keep_fingerprints = true;
    (void)runner.run(plan, options);
    const sim::History& history = runner.history();
    Trace trace{history.fingerprints(), {}};
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        trace.texts.push_back(record_text(history, id));
    }
    return trace;
}

}  // namespace

PlanRunner fresh_runner() {
    const auto runner = std::make_shared<Runner>();
    return {[runner](const sim::Plan& plan, const RunOptions& options) {
                return runner->run(plan, options);
            },
            [runner]() -> const sim::History& { return runner->history(); }};
}

Reached reached_by(const sim::Plan& plan, const PlanRunner& runner) {
    (void)runner.run(plan, {});
    return reached(runner.history());
}

std::optional<Difference> first_difference(const sim::Plan& plan, const PlanRunner& runner) {
    const Trace first = trace(plan, runner);
    const Trace second = trace(plan, runner);
    const auto [here, there] = std::ranges::mismatch(first.fingerprints, second.fingerprints);
    if (here == first.fingerprints.end() && there == second.fingerprints.end()) return std::nullopt;
    const auto record = static_cast<std::size_t>(here - first.fingerprints.begin());
    return Difference{record, first.text(record), second.text(record)};
}

std::optional<Difference> difference_to(const sim::Plan& plan, std::uint64_t fingerprint,
                                        const PlanRunner& runner) {
    const std::uint64_t again = runner.run(plan, {}).fingerprint;
    if (again == fingerprint) return std::nullopt;
    const auto difference = first_difference(plan, runner);
    return difference.value_or(
        Difference{0, fmt::format("fingerprint {:#x}", fingerprint),
                   fmt::format("fingerprint {:#x}; two further runs agreed", again)});
}

void describe_last_task(const sim::History& history, std::span<char> out) noexcept {
    try {
        if (history.size() == 0) return;
        const auto last = static_cast<sim::RecordId>(history.size() - 1);
        const sim::TaskId id = history[last].task();
        if (id == sim::kNoTask) return;
        const sim::TaskInfo& task = history.task(id);
        std::snprintf(out.data(), out.size(), "%s#%u/%s", history.party_name(task.party).c_str(),
                      task.incarnation, task.name.c_str());
    } catch (...) {
        out.front() = '\0';
    }
}

std::string record_text(const sim::History& history, sim::RecordId id) {
    const sim::Record record = history[id];
    return fmt::format("{} {} {} {}", sim::to_text(record.at()), history.actor(record),
                       model::event_name(record), model::event_text(record));
}

}  // namespace fencepost::scenarios
