#include "model/scheduler/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/scheduler/jdbc_statements.h"
#include "model/scheduler/jdbc_time.h"
#include "model/scheduler/scheduler_node.h"
#include "sim/require.h"

namespace fencepost::model {

using sim::Duration;
using sim::Time;

SchedulerCluster::SchedulerCluster(SchedulerOptions options, std::vector<ScheduledJob> jobs)
    : options_(std::move(options)), definitions_(std::move(jobs)) {
    const auto& known = definitions_.jobs();
    several_tenants_ = std::ranges::any_of(
        known, [&](const ScheduledJob& job) { return job.tenant != known.front().tenant; });
    for (const auto& [node, name] : options_.zones) {
        const auto zone = CronTimeZone::find(name);
        sim::require(zone.has_value(), "a node's time zone is one that the system knows");
        zones_.emplace(node, *zone);
    }
}

void SchedulerCluster::reset() {
    definitions_.reset();
    nodes_.clear();
    refires_.clear();
    delays_.clear();
}

std::string SchedulerCluster::name_of(const ScheduledJob& job, Time scheduled) const {
    std::string name;
    if (several_tenants_) name = job.tenant + ":";
    return name + job.job + "@" + sim::to_text(scheduled);
}

std::string SchedulerCluster::text_of(Time scheduled, std::string_view node) const {
    const auto zone = zones_.find(node);
    return zone == zones_.end() ? std::string{} : zone->second.text(scheduled);
}

// --- faults

void SchedulerCluster::refire_next(const sim::Node& node, std::optional<std::uint32_t> fault) {
    refires_.push_back({&node, {}, fault});
}

void SchedulerCluster::delay_next_fire(const sim::Node& node, Duration by,
                                       std::optional<std::uint32_t> fault) {
    delays_.push_back({&node, by, fault});
}

Duration SchedulerCluster::handed_out(SchedulerNode& node, const HeldTrigger& fired) {
    if (!refires_.empty()) {
        const Armed refire = refires_.front();
        refires_.erase(refires_.begin());
        SchedulerNode* const second = second_node_for(*refire.node, node);
        if (refire.fault) {
            node.kernel().fault_took_effect(*refire.fault, second->node().name());
        }
        second->run_as_well(fired);
    }
    Duration late{};
    const auto delay = std::ranges::find(delays_, &node.node(), &Armed::node);
    if (delay != delays_.end()) {
        late = delay->by;
        if (delay->fault) node.kernel().fault_took_effect(*delay->fault, node.node().name());
        delays_.erase(delay);
    }
    return late;
}

SchedulerNode* SchedulerCluster::second_node_for(const sim::Node& wanted,
                                                 SchedulerNode& firing) const {
    SchedulerNode* second = &firing;
    for (SchedulerNode* const other : nodes_) {
        if (other == &firing || !other->takes_fires()) continue;
        if (&other->node() == &wanted) return other;
        if (second == &firing) second = other;
    }
    return second;
}

// --- the end of a run

std::vector<std::string> SchedulerCluster::open_work(Time until,
                                                     const CommittedQuery& query) const {
    std::vector<std::string> lines;
    for (const SchedulerNode* const node : nodes_) {
        if (!node->alive()) continue;
        for (std::string& line : node->open_work(until)) lines.push_back(std::move(line));
    }
    if (options_.mode == SchedulerMode::Clustered) {
        for (std::string& line : open_in_store(until, query)) lines.push_back(std::move(line));
    }
    return lines;
}

bool SchedulerCluster::idle(Time until, const CommittedQuery& query) const {
    for (const SchedulerNode* const node : nodes_) {
        if (node->alive() && !node->idle(until)) return false;
    }
    return options_.mode != SchedulerMode::Clustered || open_in_store(until, query).empty();
}

// A trigger is open while its next instant is due and still to come: waiting, acquired, blocked or
// in error. A paused one is not: somebody wanted it so.
std::vector<std::string> SchedulerCluster::open_in_store(Time until,
                                                         const CommittedQuery& query) const {
    std::vector<std::string> lines;
    const jobs::sql::Result triggers = query(jdbc::kAllTriggers);
    for (std::size_t row = 0; row < triggers.rows(); ++row) {
        const std::string& state = triggers.text(row, 5);
        const bool pending = state == "WAITING" || state == "ACQUIRED" || state == "BLOCKED";
        const Time due = jdbc::from_milliseconds(triggers.integer(row, 4));
        if (state != "ERROR" && (!pending || due > until)) continue;
        lines.push_back(fmt::format("trigger {}.{} of {}.{} is {} and due at {}",
                                    triggers.text(row, 0), triggers.text(row, 1),
                                    triggers.text(row, 2), triggers.text(row, 3), state,
                                    sim::to_text(due)));
    }
    const jobs::sql::Result fires = query(jdbc::kExecuting);
    for (std::size_t row = 0; row < fires.rows(); ++row) {
        const Time scheduled = jdbc::from_milliseconds(fires.integer(row, 3));
        lines.push_back(fmt::format("fire {} of {}.{}@{} is EXECUTING on {}", fires.text(row, 0),
                                    fires.text(row, 1), fires.text(row, 2), sim::to_text(scheduled),
                                    fires.text(row, 4)));
    }
    return lines;
}

}  // namespace fencepost::model
