// The jobs of a cluster with their triggers, and what an operator made of them during a run.
//
// A definition never changes: an edit adds another. The shared database says by number which one
// holds (SchedulerOptions::editable), so that nodes learn of it as they would in production, by
// reading; what a number stands for is the same for all of them.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "model/scheduler/scheduled_job.h"
#include "sim/require.h"

namespace fencepost::model {

class Definitions {
public:
    explicit Definitions(std::vector<ScheduledJob> jobs) : jobs_(std::move(jobs)) {}

    // Those that a run begins with, numbered from 0; edits are numbered after them.
    [[nodiscard]] const std::vector<ScheduledJob>& jobs() const { return jobs_; }
    // Forgets the edits of the last run. They stay in memory until others take their place: tasks
    // of that run may still refer to them while they end.
    void reset() { edits_ = 0; }

    std::int64_t add(ScheduledJob edited) {
        if (edits_ < kept_.size()) {
            kept_[edits_] = std::move(edited);
        } else {
            kept_.push_back(std::move(edited));
        }
        return static_cast<std::int64_t>(jobs_.size() + edits_++);
    }

    [[nodiscard]] const ScheduledJob& at(std::int64_t number) const {
        const auto index = static_cast<std::size_t>(number);
        if (index < jobs_.size()) return jobs_[index];
        sim::require(index - jobs_.size() < edits_, "a definition's number is of this run");
        return kept_[index - jobs_.size()];
    }

private:
    std::vector<ScheduledJob> jobs_;
    std::deque<ScheduledJob> kept_;  // of this run and, beyond `edits_`, of earlier ones
    std::size_t edits_ = 0;
};

}  // namespace fencepost::model
