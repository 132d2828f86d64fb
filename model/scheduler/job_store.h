// What a node's scheduler thread asks of its job store.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/scheduler/scheduled_job.h"

namespace fencepost::model {

// A trigger that this node has acquired, and after fire() the fire that came of it.
struct HeldTrigger {
    std::string group;
    std::string name;
    const ScheduledJob* job = nullptr;
    std::string fire_instance_id;
    sim::Time scheduled{};
    std::optional<sim::Time> next;  // known after fire()
    bool disallow_concurrent = false;
    bool requests_recovery = false;
    bool recovering = false;  // a trigger that recovery made

    // In an editable store: the definition's number, the job's parameters as of its fire, and what
    // recovery tells of the fire that is run again.
    std::int64_t definition = 0;
    std::string parameters;
    std::string recovery_data;
};

struct FireResult {
    std::vector<HeldTrigger> fired;
    std::vector<HeldTrigger> refused;  // the trigger was no longer ours to fire: release it
};

// Calls may suspend. acquire() and fire() throw jobs::AttemptError when the store cannot be asked;
// release() and complete() try until it works, or until close().
class JobStore {
public:
    virtual ~JobStore() = default;

    // Takes up to `count` triggers that are due by then, the earliest first.
    virtual std::vector<HeldTrigger> acquire(sim::Time no_later_than, std::uint32_t count) = 0;
    // Turns held triggers into running jobs.
    virtual FireResult fire(std::vector<HeldTrigger> held) = 0;
    // Gives a held trigger back.
    virtual void release(const HeldTrigger& held) = 0;
    // The job of a fire has ended.
    virtual void complete(const HeldTrigger& fired) = 0;
    // A fire instance id that this store has not given yet.
    virtual std::string new_fire_instance_id() = 0;
    // No more retries: the process is about to end.
    virtual void close() = 0;
};

// Fire instance ids: the scheduler instance's id and a counter that starts with the process, at the
// milliseconds of its wall clock. Two processes with one instance id may make the same.
class FireInstanceIds {
public:
    FireInstanceIds(std::string instance, sim::Time start)
        : instance_(std::move(instance)),
          next_(std::chrono::floor<std::chrono::milliseconds>(start).time_since_epoch().count()) {}

    std::string next() { return instance_ + std::to_string(next_++); }

private:
    std::string instance_;
    std::int64_t next_;
};

}  // namespace fencepost::model
