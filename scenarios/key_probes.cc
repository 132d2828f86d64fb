#include "scenarios/key_probes.h"

#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/events.h"

namespace fencepost::scenarios {
namespace {

using sim::History;
using sim::RecordId;
using Job = std::pair<std::string_view, std::string_view>;  // tenant and name

struct SeenFire {
    Job job;
    sim::Time scheduled;
    std::string_view id;
    sim::PartyId node = 0;
    std::string_view text;  // empty: the node wrote none
};

std::vector<SeenFire> fires_of(const History& history) {
    std::vector<SeenFire> fires;
    std::map<sim::TaskId, std::size_t> of_task;
    for (RecordId id = 0; id < history.size(); ++id) {
        const auto kind = history.kind_of(id);
        if (kind != model::FireStarted::kKind && kind != model::InstantWritten::kKind) continue;
        const sim::Record record = history[id];
        if (const auto fire = record.as<model::FireStarted>()) {
            of_task[record.task()] = fires.size();
            fires.push_back({.job = {fire->tenant, fire->job},
                             .scheduled = fire->scheduled,
                             .id = fire->fire_instance_id,
                             .node = record.party(),
                             .text = {}});
        } else {
            fires.at(of_task.at(record.task())).text = record.as<model::InstantWritten>()->text;
        }
    }
    return fires;
}

// Whether two fires with texts are so.
template <typename Condition>
bool any_two_written(const History& history, Condition so) {
    const std::vector<SeenFire> fires = fires_of(history);
    for (std::size_t one = 0; one < fires.size(); ++one) {
        for (std::size_t other = one + 1; other < fires.size(); ++other) {
            if (fires[one].text.empty() || fires[other].text.empty()) continue;
            if (so(fires[one], fires[other])) return true;
        }
    }
    return false;
}

constexpr std::size_t kLocalTime = std::string_view{"2026-10-25T02:30:00"}.size();

// "Z", "+02:00"; parts of a second stand before it.
std::string_view offset_in(std::string_view text) {
    return text.substr(text.find_first_of("Z+-", kLocalTime));
}

}  // namespace

bool one_instant_under_two_fire_ids(const History& history) {
    std::map<std::tuple<Job, sim::Time>, std::string_view> ids;
    for (const SeenFire& fire : fires_of(history)) {
        const auto [known, is_new] = ids.try_emplace({fire.job, fire.scheduled}, fire.id);
        if (!is_new && known->second != fire.id) return true;
    }
    return false;
}

bool one_instant_in_two_notations(const History& history) {
    return any_two_written(history, [](const SeenFire& one, const SeenFire& other) {
        return one.job == other.job && one.scheduled == other.scheduled && one.text != other.text;
    });
}

bool one_local_time_two_instants(const History& history) {
    return any_two_written(history, [](const SeenFire& one, const SeenFire& other) {
        return one.job == other.job && one.scheduled != other.scheduled &&
               one.text.substr(0, kLocalTime) == other.text.substr(0, kLocalTime);
    });
}

bool offset_changed_between_two_fires(const History& history) {
    return any_two_written(history, [](const SeenFire& one, const SeenFire& other) {
        return one.node == other.node && offset_in(one.text) != offset_in(other.text);
    });
}

bool misfire_handled(const History& history) {
    std::set<std::tuple<Job, sim::Time>> due;
    for (RecordId id = 0; id < history.size(); ++id) {
        if (history.kind_of(id) != model::WorkDue::kKind) continue;
        const auto work = *history[id].as<model::WorkDue>();
        due.emplace(Job{work.tenant, work.job}, work.at);
    }
    for (const SeenFire& fire : fires_of(history)) {
        if (!due.contains({fire.job, fire.scheduled})) return true;
    }
    return false;
}

}  // namespace fencepost::scenarios
