// A node's program that runs a handler through the worker of jobs/, with all its gates.
#pragma once

#include <string>
#include <utility>

#include "jobs/worker.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

// Claims that are recorded and not finished.
inline constexpr std::string_view kOpenClaims =
    "SELECT 'claim ' || business_key || ' is ' || status FROM job_claim "
    "WHERE status IN ('pending', 'running') ORDER BY business_key";

// "lease_ttl_ms" and "recovery_idle_ms", the rest as the worker has it.
inline jobs::WorkerOptions worker_options(const Parameters& parameters) {
    jobs::WorkerOptions options;
    options.lease.ttl = std::chrono::milliseconds{parameters.at("lease_ttl_ms")};
    options.recovery_idle = std::chrono::milliseconds{parameters.at("recovery_idle_ms")};
    return options;
}

class WorkerProgram : public Program {
public:
    WorkerProgram(const jobs::Ports& ports, jobs::WorkerOptions options, jobs::Handler handler)
        : worker_(ports, options, std::move(handler)) {}

    void start() override { worker_.start_recovery(); }
    std::string handle(const jobs::Fire& fire) override {
        return std::string(name_of(worker_.handle(fire)));
    }
    void stop() override { worker_.stop_recovery(); }

private:
    jobs::Worker worker_;
};

}  // namespace fencepost::scenarios
