// A world in which nodes do nothing but schedule: jobs log when they run, and sleep.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include "model/events.h"
#include "model/scheduler/jdbc_schema.h"
#include "model/scheduler/scheduler_node.h"
#include "model/scheduler/scheduler_operator.h"
#include "model/world.h"
#include "sim/plan.h"

namespace fencepost::model {

using namespace std::chrono_literals;

inline const sim::Time kStart = *sim::parse_time("2026-03-02T18:00:00Z");

struct JobRun {
    std::string node;
    jobs::Fire fire;
    sim::Time started{};
    std::optional<sim::Time> ended;  // absent: the process ended first

    [[nodiscard]] bool overlaps(const JobRun& other) const {
        return started < other.ended.value_or(sim::Time::max()) &&
               other.started < ended.value_or(sim::Time::max());
    }
};

class SchedulerRun : public testing::Test {
protected:
    // Tasks refer to the world's servers and to the cluster.
    ~SchedulerRun() override { kernel().end_run(); }

    // Without any: at the start.
    static ScheduledJob due_at(std::vector<sim::Duration> after_start) {
        if (after_start.empty()) after_start.push_back(0s);
        std::vector<sim::Time> instants;
        for (const sim::Duration each : after_start) instants.push_back(kStart + each);
        return {.tenant = "acme",
                .job = "reconcile",
                .schedule = Schedule::at(std::move(instants)),
                .trigger = {}};
    }

    // Boots the nodes; each run of a job takes `job_time`.
    void boot(std::vector<ScheduledJob> jobs, SchedulerOptions options = {},
              const std::vector<std::string>& nodes = {"A", "B"}) {
        set_up(std::move(jobs), options);
        for (const std::string& name : nodes) boot_node(name);
    }

    void set_up(std::vector<ScheduledJob> jobs, SchedulerOptions options = {}) {
        const std::string script = scheduler_schema(options) + scheduler_rows(jobs, options);
        const DatabaseImage image = DatabaseImage::build(script);
        cluster_.emplace(options, std::move(jobs));
        world_.reset(seed_, kStart, image, world_options_);
    }

    sim::Node& boot_node(const std::string& name) {
        sim::Node& node = kernel().add_node(
            name, [this](sim::Incarnation& incarnation) { run_node(incarnation); });
        kernel().boot(node);
        return node;
    }

    void run_until(sim::Duration after_start) { kernel().run(kStart + after_start, 1'000'000); }
    void at(sim::Duration after_start, std::function<void()> action) {
        kernel().schedule(kStart + after_start, std::move(action));
    }
    // Runs until a job runs on a node, and returns that node.
    sim::Node& run_until_a_job_runs(sim::Duration at_most = 300s) {
        const std::size_t before = runs_.size();
        sim::Duration now = kernel().now() - kStart;
        while (runs_.size() == before && now < at_most) run_until(now += 10ms);
        sim::require(runs_.size() > before, "a job should have started by now");
        return *kernel().find_node(runs_.back().node);
    }

    // An operator's calls, made from a machine of its own then.
    void operate(sim::Duration after_start, std::function<void(SchedulerOperator&)> calls) {
        sim::Node& client = kernel().add_node(
            "operator-" + std::to_string(++operators_),
            [this, calls = std::move(calls)](sim::Incarnation& incarnation) {
                SchedulerOperator scheduler{world_.ports_of(incarnation), *cluster_};
                calls(scheduler);
            });
        at(after_start, [this, &client] { kernel().boot(client); });
    }
    // One more fault, at a call. Boot first.
    sim::Fault& fault_at(std::string point, sim::Phase phase, sim::FaultKind kind) {
        plan_.faults.push_back({});
        sim::Fault& fault = plan_.faults.back();
        fault.at = std::move(point);
        fault.phase = phase;
        fault.kind = kind;
        return fault;
    }
    void arm() { kernel().arm(plan_, world_); }
    void stop_at(std::string point, sim::Phase phase, sim::Duration lasting) {
        fault_at(std::move(point), phase, sim::FaultKind::Pause).lasting = lasting;
        arm();
    }
    [[nodiscard]] bool fault_struck() { return kernel().fault_struck(0); }

    sim::Kernel& kernel() { return world_.kernel(); }
    sim::Node& node(std::string_view name) { return *kernel().find_node(name); }
    sim::Node& other_than(const sim::Node& one) { return node(one.name() == "A" ? "B" : "A"); }

    std::vector<std::string> open_work() {
        return cluster_->open_work(kernel().now(), committed());
    }
    bool idle() { return cluster_->idle(kernel().now(), committed()); }
    SchedulerCluster::CommittedQuery committed() {
        return [this](std::string_view sql) { return world_.database().read_committed(sql); };
    }
    std::string trigger_state() {
        const auto rows = world_.database().read_committed(
            "SELECT trigger_state FROM qrtz_triggers WHERE trigger_group = 'acme'");
        return rows.empty() ? "none" : rows.text(0, 0);
    }

    // One value of the committed tables, as text; "none" when there is no row.
    std::string stored(std::string_view query) {
        const auto rows = world_.database().read_committed(query);
        if (rows.empty()) return "none";
        if (rows.is_null(0, 0)) return "null";
        const auto* number = std::get_if<std::int64_t>(&rows.at(0, 0));
        return number != nullptr ? std::to_string(*number) : rows.text(0, 0);
    }
    // The runs of a job, and when they were scheduled.
    std::vector<JobRun> runs_of(std::string_view job) {
        std::vector<JobRun> found;
        for (const JobRun& run : runs_) {
            if (run.fire.job == job) found.push_back(run);
        }
        return found;
    }
    std::vector<sim::Duration> scheduled() {
        std::vector<sim::Duration> times;
        for (const JobRun& run : runs_) times.push_back(run.fire.scheduled_fire_time - kStart);
        return times;
    }
    // Instants of a job that were fired more than once.
    int duplicates() {
        std::map<std::pair<std::string, sim::Time>, int> fires;
        for (const JobRun& run : runs_) ++fires[{run.fire.job, run.fire.scheduled_fire_time}];
        return static_cast<int>(
            std::ranges::count_if(fires, [](const auto& each) { return each.second > 1; }));
    }

    template <sim::EventType E>
    int count() {
        int records = 0;
        for (sim::RecordId id = 0; id < kernel().history().size(); ++id) {
            if (kernel().history().kind_of(id) == E::kKind) ++records;
        }
        return records;
    }
    // Each statement by its operation.
    std::map<std::string, int> statements() {
        std::map<std::string, int> counts;
        for (sim::RecordId id = 0; id < kernel().history().size(); ++id) {
            const auto call = kernel().history()[id].as<sim::CallStarted>();
            if (call) ++counts[std::string(call->operation)];
        }
        return counts;
    }

    std::uint64_t seed_ = 1;
    WorldOptions world_options_;
    sim::Duration job_time_ = 100ms;
    std::function<void(const jobs::Fire&)> listener_;  // instead of sleeping for the job's time
    std::vector<JobRun> runs_;
    std::optional<SchedulerCluster> cluster_;
    World world_;
    sim::Plan plan_;

private:
    int operators_ = 0;

    void run_node(sim::Incarnation& incarnation) {
        static const sim::WaitText kForEver{"nothing"};
        SchedulerNode scheduler{kernel(), incarnation, world_.ports_of(incarnation), *cluster_,
                                [this](const jobs::Fire& fire) { return run_job(fire); }};
        incarnation.on_stop([&scheduler] { scheduler.shutdown(); });
        scheduler.start();
        for (;;) kernel().wait(kForEver);
    }

    std::string run_job(const jobs::Fire& fire) {
        const std::size_t index = runs_.size();
        runs_.push_back({kernel().self().incarnation->node().name(), fire, kernel().now(), {}});
        if (listener_) {
            listener_(fire);
        } else {
            kernel().sleep(job_time_);
        }
        runs_[index].ended = kernel().now();
        return "done";
    }
};

}  // namespace fencepost::model
