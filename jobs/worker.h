// The worker: runs handed-over fires of one job through the gates, and goes on with work that
// others left behind.
//
//   record   the work is known under its business key, whatever happens next
//   lease    nobody else works on the job, as far as can be told; else give way
//   take     the claim is ours and the fencing token has grown; else the work is finished
//   handler  batches, each committed with its checkpoint under the fence
//   finish   the final status, under the fence
//
// Whatever ends an attempt (a lost connection, an unknown outcome, a deadlock) is answered the same
// way: from the lease on again, with a new owner and a higher token. So the late half of an earlier
// attempt meets the fence like any other stale holder.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "jobs/job_context.h"

namespace fencepost::jobs {

// Doubling waits between attempts.
struct Backoff {
    Duration first = std::chrono::milliseconds{200};
    Duration last = std::chrono::seconds{5};
    [[nodiscard]] Duration before_attempt(int attempt) const;  // attempts count from 1
};

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
};

// The acts that were planned to fall due after `since` and up to `until`, told by who planned them:
// a scheduler can lose a fire before any job hears of it (a node that fires while another has it
// for dead, and then dies). Nothing from before the job was installed is on it.
using Agenda = std::function<std::vector<Fire>(WallTime since, WallTime until)>;

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
    // No new work is taken up from here on.
    void stop_recovery();

private:
    Disposition attempt(const Fire& fire, const BusinessKey& key);
    Disposition work(const Fire& fire, Claim claim, Lease& lease, sql::Session& session);
    void record_until_known(const Fire& fire, const BusinessKey& key);
    void record_missed(sql::Session& session);

    Ports ports_;
    WorkerOptions options_;
    Handler handler_;
    Agenda agenda_;
    WallTime recorded_until_;  // everything planned up to then is recorded
    Leases leases_;
    std::unique_ptr<Task> recovery_;
};

}  // namespace fencepost::jobs
