#include "scenarios/invariants.h"

#include <fmt/format.h>

#include "model/events.h"

namespace fencepost::scenarios {
namespace {

std::string text_of(const model::SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return "NULL";
}

std::string first_row(const model::SqlResult& rows) {
    std::string text;
    for (std::size_t column = 0; column < rows.columns(); ++column) {
        text += (column == 0 ? "" : ", ") + text_of(rows.at(0, column));
    }
    return "(" + text + ")";
}

}  // namespace

InvariantWatch::InvariantWatch(model::World& world, const Scenario& scenario) : world_(world) {
    for (const SqlInvariant& each : scenario.always) watched_.push_back({&each, true});
    for (const SqlInvariant& each : scenario.finally) watched_.push_back({&each, false});
}

InvariantWatch::~InvariantWatch() {
    world_.database().on_commit({});
}

void InvariantWatch::begin() {
    if (watched_.empty()) return;
    world_.database().on_commit([this](sim::RecordId change, sim::TaskId task) {
        last_change_ = change;
        last_task_ = task;
        look_at_all(change, task);
    });
    look_at_all(sim::kNoRecord, sim::kNoTask);
}

void InvariantWatch::look_at_all(sim::RecordId change, sim::TaskId task) {
    for (Watched& watched : watched_) {
        if (watched.always) look(watched, change, task);
    }
}

void InvariantWatch::look(Watched& watched, sim::RecordId change, sim::TaskId task) {
    const auto rows = world_.database().look(watched.invariant->query);
    if (!rows) {
        ++watched.unanswered;
        return;
    }
    ++watched.times;
    std::optional<std::string> broken;
    if (rows->rows() > 0) broken = first_row(*rows);
    if (broken && broken != watched.broken) {
        world_.kernel().record_at(world_.database().party(), change,
                                  model::InvariantBroken{watched.invariant->name, *broken,
                                                         static_cast<std::uint32_t>(rows->rows())},
                                  task);
    }
    watched.broken = std::move(broken);
}

void InvariantWatch::end() {
    for (Watched& watched : watched_) look(watched, last_change_, last_task_);
    for (const Watched& watched : watched_) {
        world_.kernel().record_at(
            world_.database().party(), sim::kNoRecord,
            model::InvariantLooked{watched.invariant->name, watched.times, watched.unanswered});
    }
}

}  // namespace fencepost::scenarios
