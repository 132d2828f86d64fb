#include "scenarios/search/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
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

std::string record_text(const sim::History& history, sim::RecordId id) {
    const sim::Record record = history[id];
    return fmt::format("{} {} {} {}", sim::to_text(record.at()), history.actor(record),
                       model::event_name(record), model::event_text(record));
}

}  // namespace fencepost::scenarios
