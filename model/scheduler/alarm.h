// Lets one task wait for a time or for another task of its process, whichever comes first.
#pragma once

#include "sim/kernel.h"

namespace fencepost::model {

class Alarm {
public:
    // Suspends the running task for `duration` on its node's monotonic clock, or until ring().
    void wait_for(sim::Kernel& kernel, sim::Duration duration, const sim::WaitReason& reason) {
        if (duration <= sim::Duration::zero() || kernel.dead_call()) return;
        sim::Task& self = kernel.self();
        const auto& clock = self.incarnation->node().clock;
        kernel.wake_at(kernel.now() + clock.true_duration(duration), self, self.suspension);
        wait(kernel, reason);
    }

    // Suspends the running task until ring().
    void wait(sim::Kernel& kernel, const sim::WaitReason& reason) {
        if (kernel.dead_call()) return;
        sleeper_ = &kernel.self();
        suspension_ = sleeper_->suspension;
        kernel.wait(reason);
        sleeper_ = nullptr;
    }

    // Wakes who waits; void when nobody does.
    void ring(sim::Kernel& kernel) {
        if (sleeper_ != nullptr) kernel.wake(*sleeper_, suspension_);
    }

private:
    sim::Task* sleeper_ = nullptr;
    std::uint64_t suspension_ = 0;
};

}  // namespace fencepost::model
