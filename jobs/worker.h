// The worker: runs handed-over fires of one job through the gates, and goes on with work that
// others left behind.
//
//   record   the work is known under its business key, whatever happens next
//   lease    nobody else works on the job, as far as can be told; else give way
//   take     the claim is ours and the fencing token has grown; else the work is finished
//   handler  batches, each committed with its checkpoint under the fence
//   finish   the final status, under the fence
//
// What may pass by itself (a lost connection, an unknown outcome, a deadlock) is answered the same
// way: from the lease on again, with a new owner and a higher token, after a bounded back-off. So
// the late half of an earlier attempt meets the fence like any other stale holder. What will not
// pass (jobs/error_class.h) ends the claim as failed: those are a person's queue.
//
// Stop: no work is taken up any more, and what goes on is left to others at the end of its batch.
// The lease and its renewal end with the work, last of all.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jobs/agenda.h"
#include "jobs/backoff.h"
#include "jobs/job_context.h"

namespace fencepost::jobs {

struct WorkerOptions {
    LeaseOptions lease;
    Backoff backoff;
    int attempts = 5;  // by one worker in a row, before it leaves the work to recovery
    // How often recovery looks, and how long work must have stood still before it is taken up.
    Duration recovery_interval = std::chrono::seconds{5};
    Duration recovery_idle = std::chrono::seconds{10};
    // How late a planned act must be before recovery records it, and how far back it looks when the
    // process starts.
    Duration missed_after = std::chrono::seconds{10};
    Duration missed_within = std::chrono::days{1};
    // The jobs that this version of the program knows; the work of others is recorded and left to a
    // version that knows it. Empty: all.
    std::vector<std::string> known_jobs{};
};

class Worker {
public:
    // Without an agenda, recovery knows only what somebody has recorded.
    Worker(Ports ports, WorkerOptions options, Handler handler, Agenda agenda = {});

    // Runs one fire. Suspends until it is done, given up or given away. Throws nothing of its own:
    // the disposition says what happened.
    Disposition handle(const Fire& fire);

    // Starts the background search for work that stands still.
    void start_recovery();
    // One search: records what was missed and takes up what stands still. Throws ConnectionLost.
    void recover_once();
    // No new work is taken up from here on; returns when recovery has ended. Fires that go on are
    // given up at the end of their batch.
    void stop();

private:
    // Where a piece of work comes from: a fire was accepted when it was handed over, recovery takes
    // up nothing once the process is to end.
    enum class From : std::uint8_t { Scheduler, Recovery };
    Disposition run(const Fire& fire, From from);
    Disposition attempt(const Fire& fire, const BusinessKey& key, From from);
    [[nodiscard]] bool knows(const Fire& fire) const;
    Disposition work(const Fire& fire, Claim claim, Lease& lease, sql::Session& session);
    void record_until_known(const Fire& fire, const BusinessKey& key);

    Ports ports_;
    WorkerOptions options_;
    Handler handler_;
    MissedActs missed_;
    Leases leases_;
    std::atomic<bool> stopping_ = false;
    std::unique_ptr<Task> recovery_;
};

}  // namespace fencepost::jobs
