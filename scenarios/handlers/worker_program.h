// A node's program that runs a handler through the worker of jobs/, with all its gates.
#pragma once

#include <string>
#include <utility>

#include "jobs/instant_text.h"
#include "jobs/worker.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

// The claims of jobs/claim.h, as checkers read them.
checkers::ClaimTable worker_claims();

// A query for claims that are recorded and not finished.
std::string unfinished_claims();
// The same, and for due acts that nobody has recorded.
std::string open_claims(const std::vector<DueWork>& due);

// What falls due in the run, as recovery asks for it.
jobs::Agenda agenda_of(const std::vector<DueWork>& due);

// How many items a batch has, and how long after it the next one begins.
struct Batches {
    std::int64_t size = 100;
    jobs::Duration delay{};
};

// "batch" and "batch_delay_ms".
inline Batches batches_of(const Parameters& parameters) {
    return {.size = parameters.at("batch"),
            .delay = std::chrono::milliseconds{parameters.value_or("batch_delay_ms", 0)}};
}

// "lease_ttl_ms" and "recovery_idle_ms", perhaps "recovery_interval_ms", the rest as the worker has
// it.
inline jobs::WorkerOptions worker_options(const Parameters& parameters) {
    jobs::WorkerOptions options;
    options.lease.ttl = std::chrono::milliseconds{parameters.value_or("lease_ttl_ms", 10'000)};
    options.recovery_idle =
        std::chrono::milliseconds{parameters.value_or("recovery_idle_ms", 10'000)};
    options.recovery_interval = std::chrono::milliseconds{parameters.value_or(
        "recovery_interval_ms",
        std::chrono::milliseconds{
            std::chrono::duration_cast<std::chrono::milliseconds>(options.recovery_interval)}
            .count())};
    return options;
}

class WorkerProgram : public Program {
public:
    WorkerProgram(const ProgramSetting& setting, jobs::Handler handler)
        : WorkerProgram(setting, setting.ports, std::move(handler)) {}
    // On ports that stand between the job and those of the setting.
    WorkerProgram(const ProgramSetting& setting, const jobs::Ports& ports, jobs::Handler handler)
        : WorkerProgram(setting, ports, std::move(handler), worker_options(setting.parameters)) {}
    WorkerProgram(const ProgramSetting& setting, const jobs::Ports& ports, jobs::Handler handler,
                  const jobs::WorkerOptions& options)
        : worker_(ports, options, std::move(handler), agenda_of(setting.due)) {}

    void start() override { worker_.start_recovery(); }
    std::string handle(const jobs::Fire& fire) override {
        return std::string(name_of(worker_.handle(jobs::as_written(fire))));
    }
    void stop() override { worker_.stop(); }

private:
    jobs::Worker worker_;
};

// One that does the last act that was planned by the time that a fire names: a scheduler whose
// policy hands over the moment at which it handles a misfire names no planned one.
class PlannedProgram : public WorkerProgram {
public:
    PlannedProgram(const ProgramSetting& setting, jobs::Handler handler)
        : WorkerProgram(setting, std::move(handler)), agenda_(agenda_of(setting.due)) {}

    std::string handle(const jobs::Fire& fire) override {
        const auto act = jobs::planned_act(agenda_, jobs::as_written(fire), kWithin);
        return act ? WorkerProgram::handle(*act) : "nothing was planned by then";
    }

private:
    // Further back than any plan's longest gap.
    static constexpr std::chrono::days kWithin{2};

    jobs::Agenda agenda_;
};

}  // namespace fencepost::scenarios
