// Other worlds than those of the checklist, for property tests: more nodes, other options of the
// scheduler, other due instants, more or less to do. What must hold stays that of the scenario.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/scheduler/scheduled_job.h"
#include "scenarios/scenario.h"
#include "sim/time.h"

namespace fencepost::kit {

struct Cluster {
    std::vector<std::string> nodes;
    model::SchedulerOptions scheduler;
};

// When the scenario's job falls due: once, or on two days.
struct Timetable {
    std::vector<sim::Time> instants;
    bool operator==(const Timetable&) const = default;
};

// The parameters that count things, as a plan overrides them.
struct Workload {
    std::map<std::string, std::int64_t, std::less<>> parameters;
    bool operator==(const Workload&) const = default;
};

std::string text_of(const Cluster& cluster);
std::string text_of(const Timetable& timetable);
std::string text_of(const Workload& workload);

struct WorldLimits {
    std::size_t most_nodes = 4;    // 2 at least
    std::int64_t most_items = 12;  // of each count of the workload
};

// The worlds around a scenario of fires. Draws depend on the seed alone.
class WorldSpace {
public:
    // Throws std::invalid_argument when there is no such scenario, or when its handlers are not set
    // to work by fires of the scheduler alone.
    explicit WorldSpace(std::string_view scenario, WorldLimits limits = {});

    [[nodiscard]] Cluster draw_cluster(std::uint64_t seed) const;
    [[nodiscard]] Timetable draw_timetable(std::uint64_t seed) const;
    [[nodiscard]] Workload draw_workload(std::uint64_t seed) const;
    [[nodiscard]] std::vector<Cluster> smaller(const Cluster& cluster) const;
    [[nodiscard]] std::vector<Timetable> smaller(const Timetable& timetable) const;
    [[nodiscard]] std::vector<Workload> smaller(const Workload& workload) const;

    // The scenario in that world, made known under a name that says so; the same world has the same
    // name. Of instants that the scenario's time does not reach, its time is made longer.
    [[nodiscard]] std::string put(const Cluster& cluster, const Timetable& timetable) const;

private:
    const scenarios::Scenario base_;
    WorldLimits limits_;
};

}  // namespace fencepost::kit
