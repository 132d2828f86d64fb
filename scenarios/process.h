// What a node's process is made of. Ports come first and go last: the others refer to them.
#pragma once

#include <memory>
#include <optional>

#include "jobs/ports/ports.h"
#include "model/scheduler/scheduler_node.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

struct Process {
    explicit Process(const jobs::Ports& all) : ports(all) {}

    jobs::Ports ports;
    std::unique_ptr<Program> program;
    std::optional<model::SchedulerNode> scheduler;
};

}  // namespace fencepost::scenarios
