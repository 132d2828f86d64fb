// One node's scheduler: the threads of Quartz 2.3.2 as tasks of its process.
//
// "scheduler" acquires due triggers and starts their jobs, "check-in" tells the cluster that the
// node lives and recovers what dead ones held, "misfires" reschedules what is too late. Each run of
// a job is a foreground task, named "<job>@<scheduled instant>". All of it is ordinary blocking
// code on the ports: a slow or failing database and a paused or killed process strike it by
// themselves.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobs/fire.h"
#include "jobs/ports/ports.h"
#include "model/scheduler/alarm.h"
#include "model/scheduler/cluster.h"
#include "model/scheduler/jdbc_job_store.h"
#include "model/scheduler/job_store.h"
#include "model/scheduler/ram_job_store.h"
#include "sim/kernel.h"

namespace fencepost::model {

// Belongs to its process's "main" task, which must not end before the process.
class SchedulerNode {
public:
    // The job; what it returns is recorded as its outcome, for people. So is a std::exception that
    // leaves it; the schedule goes on.
    using FireListener = std::function<std::string(const jobs::Fire&)>;

    // `cluster` outlives the run's tasks.
    SchedulerNode(sim::Kernel& kernel, sim::Incarnation& incarnation, const jobs::Ports& ports,
                  SchedulerCluster& cluster, FireListener listener);
    ~SchedulerNode();
    SchedulerNode(const SchedulerNode&) = delete;
    SchedulerNode& operator=(const SchedulerNode&) = delete;

    // Starts the tasks. In a cluster the first check-in comes before any fire.
    void start();
    // The first step of a graceful stop: no new fires. As in Quartz, a trigger that is held but not
    // yet due is not given back: peers free it when they find this node gone.
    void stop_firing();
    // Stops firing and waits for the running jobs; check-ins go on until they have ended.
    void shutdown();

    // A trigger of the store may be due then, or at any time: an operator's call on this node. Only
    // this node is told; its peers find out when they next look.
    void schedule_changed(sim::Time when);

    // --- for the world's side
    [[nodiscard]] sim::Kernel& kernel() const { return *kernel_; }
    [[nodiscard]] sim::Node& node() const { return incarnation_->node(); }
    [[nodiscard]] bool alive() const { return incarnation_->alive(); }
    [[nodiscard]] bool takes_fires() const { return alive() && firing_; }
    // Runs the job of another node's fire too, under a fire instance id of its own.
    void run_as_well(const HeldTrigger& fired);
    // Whether this node has fires in its own memory that are due by then and not done, and which.
    [[nodiscard]] bool idle(sim::Time until) const;
    [[nodiscard]] std::vector<std::string> open_work(sim::Time until) const;

private:
    // What the scheduler task is told while it waits: that a trigger may be due at that time.
    using ScheduleChange = std::optional<sim::Time>;
    static constexpr sim::Time kAnyTime{};

    void scheduler();
    void idle_wait();
    // False when the triggers were given back because the schedule changed.
    bool wait_until_due();
    bool changed_in_time(sim::Time due);
    void fire_held();
    void check_ins();
    void check_in(std::uint32_t& failures);
    void misfires(sim::Duration first_look);
    void start_misfires_if_near();

    void start_job(HeldTrigger fired, sim::Duration late, bool in_store);
    void run_job(const HeldTrigger& fired);

    sim::Kernel* kernel_;
    sim::Incarnation* incarnation_;
    jobs::Ports ports_;
    SchedulerCluster* cluster_;
    FireListener listener_;
    std::optional<JdbcJobStore> jdbc_;
    std::optional<RamJobStore> ram_;
    JobStore* store_;

    bool firing_ = false;
    bool closed_ = false;
    bool misfires_started_ = false;
    sim::Time running_since_{};  // since the first check-in
    std::uint64_t idle_waits_ = 0;
    ScheduleChange change_;
    Alarm scheduler_alarm_;
    Alarm check_in_alarm_;
    Alarm misfire_alarm_;
    std::vector<HeldTrigger> held_;    // acquired and not yet fired
    std::vector<sim::Task*> running_;  // jobs
};

}  // namespace fencepost::model
