// Writes histories by hand: who committed which rows, who changed which key, how the run ended.
// Every step is one second later than the one before.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/events.h"

namespace fencepost::checkers {

// A row that a commit changes.
struct Change {
    model::RowChangeKind kind;
    std::string_view table;
    model::Cells before;
    model::Cells after;
};

inline Change insert(std::string_view table, model::Cells row) {
    return {model::RowChangeKind::Insert, table, {}, std::move(row)};
}
inline Change update(std::string_view table, model::Cells before, model::Cells after) {
    return {model::RowChangeKind::Update, table, std::move(before), std::move(after)};
}
inline Change remove(std::string_view table, model::Cells row) {
    return {model::RowChangeKind::Delete, table, std::move(row), {}};
}

class HistoryBuilder {
public:
    HistoryBuilder() {
        history_.clear();
        a_ = history_.add_party("A");
        b_ = history_.add_party("B");
        database_ = history_.add_party("db");
        redis_ = history_.add_party("redis");
        gateway_ = history_.add_party("gateway");
    }

    sim::TaskId task_on_a(std::string name, sim::TaskId root = sim::kNoTask) {
        return add_task(a_, std::move(name), root);
    }
    sim::TaskId task_on_b(std::string name, sim::TaskId root = sim::kNoTask) {
        return add_task(b_, std::move(name), root);
    }

    void table(std::string_view name, std::string_view columns) {
        append(database_, sim::kNoTask,
               model::TableKnown{.index = static_cast<std::uint32_t>(tables_.size()),
                                 .name = name,
                                 .columns = columns});
        tables_.emplace_back(name);
    }

    // A table that a task makes, or gives other columns.
    void define(sim::TaskId task, std::string_view name, std::string_view columns) {
        pass();
        std::uint32_t index = 0;
        while (index < tables_.size() && tables_[index] != name) ++index;
        if (index == tables_.size()) tables_.emplace_back(name);
        append(database_, task,
               model::TableKnown{.index = index, .name = name, .columns = columns});
    }
    void define_index(sim::TaskId task, std::string_view name, std::string_view table) {
        pass();
        append(database_, task,
               model::IndexKnown{.name = name, .table = table, .on = "(x)", .unique = false});
    }
    void drop(sim::TaskId task, std::string_view name) {
        pass();
        append(database_, task, model::RelationDropped{.name = name});
    }
    void start_up_done(sim::TaskId task) {
        pass();
        append(a_, task, model::StartUpDone{});
    }
    void start_up_failed(sim::TaskId task, std::string_view sqlstate, std::string_view error) {
        pass();
        append(a_, task, model::StartUpFailed{.sqlstate = sqlstate, .error = error});
    }

    // `call` is the one that committed, where that matters.
    void commit(sim::TaskId task, const std::vector<Change>& changes,
                sim::RecordId call = sim::kNoRecord) {
        pass();
        ++transaction_;
        for (const Change& change : changes) {
            append(database_, task,
                   model::RowChanged{.change = change.kind,
                                     .table = index_of(change.table),
                                     .transaction = transaction_,
                                     .before = change.before,
                                     .after = change.after},
                   call);
        }
    }

    // `call` is the one that changed it, where that matters.
    void key(sim::TaskId task, const model::KeyChanged& change,
             sim::RecordId call = sim::kNoRecord) {
        pass();
        append(redis_, task, change, call);
    }

    // What the outside service did for a request id.
    void charge(sim::TaskId task, const model::GatewayApplied& charge) {
        pass();
        append(gateway_, task, charge);
    }
    void decline(sim::TaskId task, const model::GatewayDeclined& charge) {
        pass();
        append(gateway_, task, charge);
    }
    void refund(sim::TaskId task, const model::GatewayRefunded& charge) {
        pass();
        append(gateway_, task, charge);
    }
    // A call of the task, such as "db.begin", a second after what was before.
    sim::RecordId call(sim::TaskId task, std::string_view operation) {
        pass();
        return sends(task, operation);
    }
    // The same at the present time; and its answer.
    sim::RecordId sends(sim::TaskId task, std::string_view operation) {
        return append(history_.task(task).party, task, sim::CallStarted{.operation = operation});
    }
    void answer(sim::TaskId task, std::string_view operation, std::string_view outcome = "1") {
        append(history_.task(task).party, task,
               sim::CallEnded{.operation = operation, .outcome = outcome});
    }
    // The task's process knows from here on that it must end.
    void draining(sim::TaskId task) {
        append(history_.task(task).party, task, sim::NodeDraining{});
    }
    template <typename Event>
    void on_node_of(sim::TaskId task, const Event& event) {
        append(history_.task(task).party, sim::kNoTask, event);
    }
    // The clock of Redis moves.
    void redis_clock_jumps(sim::Duration by) {
        append(redis_, sim::kNoTask, sim::ClockJumped{.by = by});
    }
    void started(sim::TaskId task, bool foreground) {
        append(history_.task(task).party, task, sim::TaskStarted{.foreground = foreground});
    }
    void cancel_asked(std::string_view unit) {
        append(sim::kWorld, sim::kNoTask, model::CancelAsked{.unit = unit});
    }
    void fire(sim::TaskId task, const model::FireStarted& fire) {
        append(history_.task(task).party, task, fire);
    }
    void wait(sim::Duration duration) { now_ += duration; }
    [[nodiscard]] sim::Time now() const { return now_; }

    // Found after the change that is the last record, which `task` committed; or before the run.
    void invariant_broken(sim::TaskId task, const model::InvariantBroken& broken) {
        const bool before_run = task == sim::kNoTask;
        append(database_, task, broken,
               before_run ? sim::kNoRecord : static_cast<sim::RecordId>(history_.size() - 1));
    }
    void invariant_looked(const model::InvariantLooked& looked) {
        append(database_, sim::kNoTask, looked);
    }

    void due(std::string_view tenant, std::string_view job) {
        append(sim::kWorld, sim::kNoTask, model::WorkDue{.tenant = tenant, .job = job, .at = now_});
    }
    void unfinished(std::string_view what) {
        append(sim::kWorld, sim::kNoTask, model::Unfinished{.what = what});
    }
    void end(std::string_view how = "quiet") {
        pass();
        append(sim::kWorld, sim::kNoTask,
               model::RunEnded{.how = how, .settled_after = std::chrono::seconds{2}});
    }
    void strikes(std::string_view fault) {
        append(sim::kWorld, sim::kNoTask, sim::FaultStruck{.index = 0, .fault = fault});
    }
    // A record that no checker looks at.
    void noise(sim::TaskId task) { append(a_, task, sim::TaskEnded{}); }

    [[nodiscard]] const sim::History& history() const { return history_; }

private:
    sim::TaskId add_task(sim::PartyId party, std::string name, sim::TaskId root) {
        return history_.add_task(
            {.name = std::move(name), .party = party, .incarnation = 1, .root = root});
    }

    template <typename Event>
    sim::RecordId append(sim::PartyId party, sim::TaskId task, const Event& event,
                         sim::RecordId cause = sim::kNoRecord) {
        return history_.append(now_, party, task, cause, event);
    }

    void pass() { now_ += std::chrono::seconds{1}; }

    [[nodiscard]] std::uint32_t index_of(std::string_view table) const {
        for (std::uint32_t i = 0; i < tables_.size(); ++i) {
            if (tables_[i] == table) return i;
        }
        sim::broken_invariant("a test changes a table that it did not make",
                              std::source_location::current());
    }

    sim::History history_;
    sim::PartyId a_ = 0, b_ = 0, database_ = 0, redis_ = 0, gateway_ = 0;
    sim::Time now_ = *sim::parse_time("2026-03-02T18:00:00Z");
    std::vector<std::string> tables_;
    std::uint32_t transaction_ = 0;
};

}  // namespace fencepost::checkers
