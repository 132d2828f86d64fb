#include "scenarios/search/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/events.h"
#include "scenarios/scenario.h"
#include "scenarios/search/bytes.h"

namespace fencepost::scenarios {

std::vector<ReachedPoint> reached_points(const sim::History& history) {
    std::vector<ReachedPoint> points;
    std::map<std::tuple<sim::TaskId, std::string_view, std::uint32_t>, std::size_t> known;
    std::set<sim::TaskId> jobs;
    const auto point_of = [&](sim::TaskId task, const auto& event) -> ReachedPoint* {
        const auto found = known.find({task, event.operation, event.ordinal});
        return found == known.end() ? nullptr : &points[found->second];
    };
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const sim::Record record = history[id];
        if (const auto started = record.as<sim::TaskStarted>()) {
            if (started->foreground) jobs.insert(record.task());
        } else if (const auto call = record.as<sim::CallStarted>()) {
            if (record.task() == sim::kNoTask) continue;
            const sim::TaskInfo& task = history.task(record.task());
            if (history.party_name(task.party) == kOperatorNode) continue;
            known.emplace(std::tuple{record.task(), call->operation, call->ordinal}, points.size());
            points.push_back({.address = fmt::format("{}/{}/{}", history.actor(record.task()),
                                                     call->operation, call->ordinal),
                              .node = history.party_name(task.party),
                              .operation = std::string(call->operation),
                              .at = record.at(),
                              .of_job = jobs.contains(record.task()) || jobs.contains(task.root)});
        } else if (const auto applied = record.as<sim::CallApplied>()) {
            if (auto* point = point_of(record.task(), *applied)) point->applied = true;
        } else if (const auto ended = record.as<sim::CallEnded>()) {
            if (auto* point = point_of(record.task(), *ended)) point->answered = point->applied;
        }
    }
    return points;
}

Reached reached(const sim::History& history) {
    Reached reached{reached_points(history), {}};
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const auto changed = history[id].as<model::KeyChanged>();
        if (!changed || changed->change != model::KeyChangeKind::Set) continue;
        if (std::ranges::find(reached.keys, changed->key) != reached.keys.end()) continue;
        reached.keys.emplace_back(changed->key);
    }
    return reached;
}

std::string to_bytes(const Reached& reached) {
    ByteWriter out;
    out.put_all(reached.points, [](ByteWriter& to, const ReachedPoint& point) {
        to.put(point.address).put(point.node).put(point.operation);
        to.put(point.at.time_since_epoch().count());
        to.put(point.of_job).put(point.applied).put(point.answered);
    });
    out.put_all(reached.keys, [](ByteWriter& to, const std::string& key) { to.put(key); });
    return out.take();
}

Reached reached_from_bytes(std::string_view bytes) {
    Reached reached;
    ByteReader in{bytes};
    in.get_all(reached.points, [](ByteReader& from, ReachedPoint& point) {
        from.get(point.address);
        from.get(point.node);
        from.get(point.operation);
        point.at = sim::Time{sim::Duration{from.get<sim::Duration::rep>()}};
        from.get(point.of_job);
        from.get(point.applied);
        from.get(point.answered);
    });
    in.get_all(reached.keys, [](ByteReader& from, std::string& key) { from.get(key); });
    return reached;
}

}  // namespace fencepost::scenarios
