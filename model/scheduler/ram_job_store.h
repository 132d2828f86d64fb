// A job store in a node's own memory (Quartz's RAMJobStore): every node that has one fires every
// due instant. Nothing of it outlives the process: a new one starts with the next instant to come.
#pragma once

#include <vector>

#include "jobs/ports/clock.h"
#include "model/scheduler/job_store.h"

namespace fencepost::model {

class RamJobStore final : public JobStore {
public:
    // `options` and `jobs` outlive the store.
    RamJobStore(jobs::Clock& clock, std::string node, const SchedulerOptions& options,
                std::span<const ScheduledJob> jobs);

    std::vector<HeldTrigger> acquire(sim::Time no_later_than, std::uint32_t count) override;
    FireResult fire(std::vector<HeldTrigger> held) override;
    void release(const HeldTrigger& held) override;
    void complete(const HeldTrigger& fired) override;
    std::string new_fire_instance_id() override { return ids_.next(); }
    void close() override {}

    // Triggers that are due by then and neither over nor running, in words.
    [[nodiscard]] std::vector<std::string> due_by(sim::Time until) const;

private:
    enum class State : std::uint8_t { Waiting, Acquired, Blocked, Over };
    struct Trigger {
        const ScheduledJob* job;
        Schedule schedule;
        std::optional<sim::Time> next;
        State state = State::Waiting;
    };

    void apply_misfire(Trigger& trigger);
    Trigger* first_due(sim::Time by, std::span<const HeldTrigger> held);
    Trigger& trigger_of(const HeldTrigger& held);

    jobs::Clock* clock_;
    const SchedulerOptions* options_;
    FireInstanceIds ids_;
    std::vector<Trigger> triggers_;
};

}  // namespace fencepost::model
