#include "scenarios/long_work_probes.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "model/events.h"

namespace fencepost::scenarios {
namespace {

using sim::History;
using sim::Record;
using sim::RecordId;

using Life = std::pair<sim::PartyId, std::uint32_t>;

Life life_of(const History& history, const Record& record) {
    const sim::TaskInfo& task = history.task(record.task());
    return {task.party, task.incarnation};
}

// A change of a row that stands for a piece of work: of job_claim or background_task.
struct WorkChange {
    model::Cell key;
    std::string_view status_before;
    std::string_view status_after;
    model::Cell owner_before, owner_after;
    model::Cell checkpoint_before, checkpoint_after;
};

class WorkTables {
public:
    void know(const model::TableKnown& known) {
        const bool claims = known.name == "job_claim";
        if (!claims && known.name != "background_task") return;
        columns_[known.index] = {
            .key = column(known.columns, claims ? "business_key" : "idempotency_key"),
            .status = column(known.columns, "status"),
            .owner = column(known.columns, "owner"),
            .checkpoint = column(known.columns, "checkpoint")};
    }

    [[nodiscard]] std::optional<WorkChange> read(const model::RowChanged& row) const {
        const auto found = columns_.find(row.table);
        if (found == columns_.end() || row.after.empty()) return std::nullopt;
        const Columns& at = found->second;
        const auto text = [](const model::Cells& cells, std::size_t index) -> std::string_view {
            if (index >= cells.size()) return {};
            const auto* view = std::get_if<std::string_view>(&cells[index]);
            return view == nullptr ? std::string_view{} : *view;
        };
        const auto cell = [](const model::Cells& cells, std::size_t index) {
            return index < cells.size() ? cells[index] : model::Cell{};
        };
        return WorkChange{.key = cell(row.after, at.key),
                          .status_before = text(row.before, at.status),
                          .status_after = text(row.after, at.status),
                          .owner_before = cell(row.before, at.owner),
                          .owner_after = cell(row.after, at.owner),
                          .checkpoint_before = cell(row.before, at.checkpoint),
                          .checkpoint_after = cell(row.after, at.checkpoint)};
    }

private:
    struct Columns {
        std::size_t key, status, owner, checkpoint;
    };
    static std::size_t column(std::string_view names, std::string_view name) {
        for (std::size_t index = 0;; ++index) {
            const std::size_t comma = names.find(',');
            if (names.substr(0, comma) == name) return index;
            sim::require(comma != std::string_view::npos, "a table of work has its columns");
            names.remove_prefix(comma + 1);
        }
    }
    std::map<std::uint32_t, Columns> columns_;
};

// Calls `visit(record, change)` for every change of a piece of work until it returns true, and
// `other(record)` for every other record.
template <typename Visit, typename Other>
bool any_work(const History& history, Visit visit, Other other) {
    WorkTables tables;
    model::RowChanged row;
    for (RecordId id = 0; id < history.size(); ++id) {
        const sim::EventKind kind = history.kind_of(id);
        if (kind == model::TableKnown::kKind) {
            tables.know(*history[id].as<model::TableKnown>());
        } else if (kind == model::RowChanged::kKind) {
            const Record record = history[id];
            if (record.task() == sim::kNoTask) continue;
            row = *record.as<model::RowChanged>();
            if (const auto change = tables.read(row); change && visit(record, *change)) return true;
        } else {
            other(history[id]);
        }
    }
    return false;
}

template <typename Visit>
bool any_work(const History& history, Visit visit) {
    return any_work(history, visit, [](const Record&) {});
}

// Which version each process runs.
class Versions {
public:
    void see(const History& history, const Record& record) {
        if (const auto version = record.as<sim::NodeVersion>()) {
            of_[life_of(history, record)] = version->version;
        }
    }
    [[nodiscard]] std::int64_t of(const Life& life) const {
        const auto found = of_.find(life);
        return found == of_.end() ? 0 : found->second;
    }

private:
    std::map<Life, std::int64_t> of_;
};

}  // namespace

bool both_versions_at_work(const History& history) {
    std::map<sim::PartyId, std::int64_t> running;
    for (RecordId id = 0; id < history.size(); ++id) {
        const Record record = history[id];
        if (record.kind() == sim::NodeEnded::kKind) running.erase(record.party());
        const auto version = record.as<sim::NodeVersion>();
        if (!version) continue;
        running[record.party()] = version->version;
        for (const auto& [party, other] : running) {
            if (other != version->version) return true;
        }
    }
    return false;
}

bool version_rolled_back(const History& history) {
    std::map<sim::PartyId, std::int64_t> last;
    for (RecordId id = 0; id < history.size(); ++id) {
        const Record record = history[id];
        const auto version = record.as<sim::NodeVersion>();
        if (!version) continue;
        std::int64_t& before = last[record.party()];
        if (before > version->version) return true;
        before = version->version;
    }
    return false;
}

bool begun_by_one_version_finished_by_the_other(const History& history) {
    Versions versions;
    std::map<model::Cell, std::int64_t> begun;
    return any_work(
        history,
        [&](const Record& record, const WorkChange& change) {
            const std::int64_t version = versions.of(life_of(history, record));
            const auto first = begun.try_emplace(change.key, version).first;
            const bool finished =
                change.status_after == "succeeded" || change.status_after == "Succeeded";
            return finished && first->second != version;
        },
        [&](const Record& record) { versions.see(history, record); });
}

bool batch_ended_while_its_node_drained(const History& history) {
    std::set<Life> draining;
    return any_work(
        history,
        [&](const Record& record, const WorkChange& change) {
            return change.checkpoint_before != change.checkpoint_after &&
                   draining.contains(life_of(history, record));
        },
        [&](const Record& record) {
            if (record.kind() == sim::NodeDraining::kKind) {
                draining.insert(life_of(history, record));
            }
        });
}

bool continued_on_the_other_node(const History& history) {
    std::map<model::Cell, sim::PartyId> holders;
    return any_work(history, [&](const Record& record, const WorkChange& change) {
        if (change.owner_after == change.owner_before || change.owner_after == model::Cell{}) {
            return false;
        }
        const sim::PartyId party = history.task(record.task()).party;
        const auto [holder, is_new] = holders.try_emplace(change.key, party);
        const bool moved = !is_new && holder->second != party;
        holder->second = party;
        return moved && change.checkpoint_after != model::Cell{};
    });
}

bool cancelled_while_it_ran(const History& history) {
    return any_work(history, [](const Record&, const WorkChange& change) {
        return change.status_after == "Canceled" && change.status_before == "Running";
    });
}

bool cancelled_while_nobody_ran_it(const History& history) {
    return any_work(history, [](const Record&, const WorkChange& change) {
        return change.status_after == "Canceled" &&
               (change.status_before == "Pending" || change.status_before == "Retrying");
    });
}

bool claimed_after_its_lease_ran_out(const History& history) {
    return any_work(history, [](const Record&, const WorkChange& change) {
        return change.status_before == "Running" && change.status_after == "Running" &&
               change.owner_before != change.owner_after;
    });
}

}  // namespace fencepost::scenarios
