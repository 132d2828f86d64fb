// Looks at what a scenario states in SQL while a run goes on: in the state before it, after every
// commit, and at its end. What is found goes into the history; the run is not changed by it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/world.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {

// Of one run. World and scenario outlive it.
class InvariantWatch {
public:
    InvariantWatch(model::World& world, const Scenario& scenario);
    ~InvariantWatch();
    InvariantWatch(const InvariantWatch&) = delete;
    InvariantWatch& operator=(const InvariantWatch&) = delete;

    // Once the world has been reset.
    void begin();
    // In the audit: what is stated of the end is looked at, and how often all were is recorded.
    void end();

private:
    struct Watched {
        const SqlInvariant* invariant;
        bool always;
        std::optional<std::string> broken{};  // the row that was found when it was looked at last
        std::uint32_t times = 0;
        std::uint32_t unanswered = 0;
    };

    void look_at_all(sim::RecordId change, sim::TaskId task);
    void look(Watched& watched, sim::RecordId change, sim::TaskId task);

    model::World& world_;
    std::vector<Watched> watched_;
    sim::RecordId last_change_ = sim::kNoRecord;
    sim::TaskId last_task_ = sim::kNoTask;
};

}  // namespace fencepost::scenarios
