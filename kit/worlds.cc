#include "kit/worlds.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scenarios/reduced.h"
#include "scenarios/search/shrink.h"
#include "sim/random.h"

namespace fencepost::kit {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kNodes = sim::hash_of("kit/nodes");
constexpr std::uint64_t kMode = sim::hash_of("kit/scheduler-mode");
constexpr std::uint64_t kOption = sim::hash_of("kit/scheduler-option");
constexpr std::uint64_t kInstants = sim::hash_of("kit/instants");
constexpr std::uint64_t kItems = sim::hash_of("kit/items");

constexpr std::size_t kFewestNodes = 2;

const scenarios::Scenario& scenario_of_fires(std::string_view name) {
    const scenarios::Scenario* const scenario = scenarios::find_scenario(name);
    if (scenario == nullptr)
        throw std::invalid_argument(fmt::format("unknown scenario \"{}\"", name));
    if (scenario->trigger != scenarios::Trigger::Fires || scenario->due.size() != 1) {
        throw std::invalid_argument(
            fmt::format("{}: other worlds are made of scenarios in which the scheduler makes one "
                        "act due; same-instant and holder-leaves are such",
                        name));
    }
    return *scenario;
}

// How many nodes and instants there are is the cluster's and the timetable's to say; put_scenario()
// adds the parameters by which a plan can leave some out.
scenarios::Scenario without_reducing_parameters(scenarios::Scenario scenario) {
    auto values = scenario.parameters.all();
    for (const std::string_view name :
         {scenarios::kNodes, scenarios::kUnits, scenarios::kFirstUnit}) {
        if (const auto found = values.find(name); found != values.end()) values.erase(found);
    }
    scenario.parameters = scenarios::Parameters{std::move(values)};
    return scenario;
}

std::string name_of_node(std::size_t number) {
    return std::string(1, static_cast<char>('A' + number));
}

// What is not as the scheduler has it by default, in a fixed order.
std::string options_text(const model::SchedulerOptions& options) {
    std::string text =
        options.mode == model::SchedulerMode::EveryNode ? "every node fires" : "clustered";
    if (options.instance_ids == model::InstanceIds::PerIncarnation) text += ", new ids";
    if (options.acquire_within_lock) text += ", acquire within lock";
    return text +
           fmt::format(", batch {}, {} workers, check-in {}ms, db retry {}ms", options.batch,
                       options.worker_threads,
                       std::chrono::ceil<std::chrono::milliseconds>(options.check_in).count(),
                       std::chrono::ceil<std::chrono::milliseconds>(options.db_retry).count());
}

std::vector<std::string> nodes_up_to(std::size_t number) {
    std::vector<std::string> nodes;
    for (std::size_t i = 0; i < number; ++i) nodes.push_back(name_of_node(i));
    return nodes;
}

}  // namespace

std::string text_of(const Cluster& cluster) {
    return fmt::format("{} nodes, {}", cluster.nodes.size(), options_text(cluster.scheduler));
}

std::string text_of(const Timetable& timetable) {
    std::string text = "due at";
    for (const sim::Time instant : timetable.instants) text += " " + sim::to_text(instant);
    return text;
}

std::string text_of(const Workload& workload) {
    std::string text;
    for (const auto& [name, value] : workload.parameters)
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    return text.empty() ? "as usual" : text;
}

WorldSpace::WorldSpace(std::string_view scenario, WorldLimits limits)
    : base_(without_reducing_parameters(scenario_of_fires(scenario))), limits_(limits) {
    if (limits_.most_nodes < kFewestNodes || limits_.most_nodes > 26)
        throw std::invalid_argument("most_nodes: a cluster has from 2 to 26");
    if (limits_.most_items < 1) throw std::invalid_argument("most_items: give at least 1");
}

Cluster WorldSpace::draw_cluster(std::uint64_t seed) const {
    const sim::Random random{seed};
    Cluster cluster{.nodes = nodes_up_to(
                        kFewestNodes + random.below(limits_.most_nodes - kFewestNodes + 1, kNodes)),
                    .scheduler = base_.scheduler};
    model::SchedulerOptions& options = cluster.scheduler;
    options.mode = random.chance(500'000, kMode) ? model::SchedulerMode::EveryNode
                                                 : model::SchedulerMode::Clustered;
    if (random.chance(500'000, kOption, 0))
        options.instance_ids = model::InstanceIds::PerIncarnation;
    // Quartz asks for the lock where a node acquires several triggers at once.
    options.batch = static_cast<std::uint32_t>(1 + random.below(3, kOption, 1));
    options.acquire_within_lock = options.batch > 1 || random.chance(300'000, kOption, 2);
    options.worker_threads = random.chance(300'000, kOption, 3) ? 1 : 10;
    options.check_in = std::vector<sim::Duration>{2s, 7500ms, 15s}[random.below(3, kOption, 4)];
    options.db_retry = std::vector<sim::Duration>{2s, 15s}[random.below(2, kOption, 5)];
    return cluster;
}

std::vector<Cluster> WorldSpace::smaller(const Cluster& cluster) const {
    std::vector<Cluster> smaller;
    const auto add = [&](auto change) {
        Cluster changed = cluster;
        change(changed);
        if (text_of(changed) != text_of(cluster)) smaller.push_back(std::move(changed));
    };
    for (std::size_t nodes = kFewestNodes; nodes < cluster.nodes.size(); ++nodes)
        add([&](Cluster& changed) { changed.nodes = nodes_up_to(nodes); });
    // All options at once, then one by one.
    add([&](Cluster& changed) { changed.scheduler = base_.scheduler; });
    const model::SchedulerOptions& usual = base_.scheduler;
    add([&](Cluster& changed) { changed.scheduler.mode = usual.mode; });
    add([&](Cluster& changed) { changed.scheduler.instance_ids = usual.instance_ids; });
    add([&](Cluster& changed) {
        changed.scheduler.batch = usual.batch;
        changed.scheduler.acquire_within_lock = usual.acquire_within_lock;
    });
    add([&](Cluster& changed) { changed.scheduler.worker_threads = usual.worker_threads; });
    add([&](Cluster& changed) { changed.scheduler.check_in = usual.check_in; });
    add([&](Cluster& changed) { changed.scheduler.db_retry = usual.db_retry; });
    return smaller;
}

// Many handlers do something once a day: two instants are on two days, a little before midnight and
// a little after.
Timetable WorldSpace::draw_timetable(std::uint64_t seed) const {
    const sim::Random random{seed};
    const sim::Time usual{base_.due.front().scheduled};
    if (random.chance(500'000, kInstants))
        return {{usual + std::chrono::seconds{random.below(60, kInstants, 1)}}};
    const sim::Time midnight = std::chrono::ceil<std::chrono::days>(usual);
    return {{midnight - std::chrono::seconds{1 + random.below(30, kInstants, 2)},
             midnight + std::chrono::seconds{random.below(30, kInstants, 3)}}};
}

std::vector<Timetable> WorldSpace::smaller(const Timetable& timetable) const {
    std::vector<Timetable> smaller;
    const Timetable usual{{sim::Time{base_.due.front().scheduled}}};
    if (timetable != usual) smaller.push_back(usual);
    if (timetable.instants.size() == 1) return smaller;
    for (std::size_t i = 0; i < timetable.instants.size(); ++i) {
        smaller.push_back(timetable);
        smaller.back().instants.erase(smaller.back().instants.begin() +
                                      static_cast<std::ptrdiff_t>(i));
    }
    return smaller;
}

Workload WorldSpace::draw_workload(std::uint64_t seed) const {
    const sim::Random random{seed};
    Workload workload;
    std::uint64_t number = 0;
    for (const auto& [name, usual] : scenarios::shrinkable_parameters(base_)) {
        workload.parameters[name] =
            1 + static_cast<std::int64_t>(
                    random.below(static_cast<std::uint64_t>(limits_.most_items), kItems, number++));
    }
    return workload;
}

std::vector<Workload> WorldSpace::smaller(const Workload& workload) const {
    std::vector<Workload> smaller;
    for (const auto& [name, present] : workload.parameters) {
        for (const std::int64_t count : scenarios::smaller_counts(present)) {
            smaller.push_back(workload);
            smaller.back().parameters[name] = count;
        }
    }
    return smaller;
}

std::string WorldSpace::put(const Cluster& cluster, const Timetable& timetable) const {
    scenarios::Scenario scenario = base_;
    scenario.condition = 0;
    scenario.nodes = cluster.nodes;
    scenario.scheduler = cluster.scheduler;
    scenario.due.clear();
    for (const sim::Time instant : timetable.instants) {
        scenario.due.push_back(base_.due.front());
        scenario.due.back().scheduled = jobs::WallTime{instant};
    }
    for (model::ScheduledJob& job : scenario.jobs)
        job.schedule = model::Schedule::at(timetable.instants);
    const sim::Time usual{base_.due.front().scheduled};
    scenario.start = timetable.instants.front() - (usual - base_.start);
    scenario.healed_after =
        base_.healed_after + (timetable.instants.back() - timetable.instants.front());
    scenario.name = fmt::format(
        "{}-{:08x}", base_.name,
        static_cast<std::uint32_t>(sim::hash_of(text_of(cluster) + "; " + text_of(timetable))));
    std::string name = scenario.name;
    if (scenarios::find_scenario(name) == nullptr) scenarios::put_scenario(std::move(scenario));
    return name;
}

}  // namespace fencepost::kit
