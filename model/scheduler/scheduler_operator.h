// What an operator does to the schedule while the cluster runs: pause, resume, delete, replace
// (org.quartz.Scheduler: pauseTrigger, resumeJob, deleteJob, scheduleJob with replace, …).
//
// Each call is one transaction under TRIGGER_ACCESS on the tables that the nodes work on, from
// whichever node or client has these ports. It may suspend, and throws jobs::AttemptError when the
// store cannot be asked or does not answer; nothing is tried again.
//
// As in Quartz an edit does not reach a trigger that a node holds: that node goes by what it has in
// memory, and if it gets to fire, writes its old schedule back.
#pragma once

#include <optional>
#include <string>

#include "jobs/ports/ports.h"
#include "model/scheduler/cluster.h"
#include "model/scheduler/session_pool.h"

namespace fencepost::model {

struct TriggerKey {
    std::string group;
    std::string name;
};

struct JobKey {
    std::string group;
    std::string name;
};

class SchedulerOperator {
public:
    // `through` is the node whose scheduler is asked, if it is one's: it looks at the store again
    // at once. `cluster` outlives the operator.
    SchedulerOperator(const jobs::Ports& ports, SchedulerCluster& cluster,
                      SchedulerNode* through = nullptr);

    // What is held is not fired any more; what runs, runs on.
    void pause(const TriggerKey& trigger);
    void pause(const JobKey& job);  // all its triggers
    // An instant missed meanwhile by more than the threshold is a misfire.
    void resume(const TriggerKey& trigger);
    void resume(const JobKey& job);
    // Out of the state ERROR.
    void reset_from_error(const TriggerKey& trigger);

    // False when there is no such job. A run of it that is under way goes on.
    bool remove(const JobKey& job);

    // For an editable store: schedule, zone, parameters and flags of this job and trigger are
    // these from now on, all at once; a job or trigger that was not there is added. Its first
    // instant is the next one from the second in which it is stored, which may be one that was
    // fired already (Quartz truncates the start to the second). Throws std::invalid_argument when
    // it is never due.
    void replace(ScheduledJob revised);

private:
    template <typename Body>
    auto in_lock(Body body);
    void resume_one(PooledConnection& connection, const TriggerKey& trigger);
    bool is_blocked(PooledConnection& connection, const JobKey& job);
    std::vector<TriggerKey> triggers_of(PooledConnection& connection, const JobKey& job);
    void tell(sim::Time when);

    jobs::Clock* clock_;
    SessionPool sessions_;
    SchedulerCluster* cluster_;
    SchedulerNode* through_;
};

}  // namespace fencepost::model
