#include "jobs/worker.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace fencepost::jobs {

Duration Backoff::before_attempt(int attempt) const {
    Duration wait = first;
    for (int i = 2; i < attempt && wait < last; ++i) wait *= 2;
    return std::min(wait, last);
}

Worker::Worker(Ports ports, WorkerOptions options, Handler handler, Agenda agenda)
    : ports_(ports),
      options_(options),
      handler_(std::move(handler)),
      agenda_(std::move(agenda)),
      recorded_until_(ports_.clock.wall_now() - options.missed_within),
      leases_(ports, options.lease) {}

Disposition Worker::handle(const Fire& fire) {
    const BusinessKey key = BusinessKey::of(fire);
    record_until_known(fire, key);
    for (int number = 1; number <= options_.attempts; ++number) {
        if (number > 1) ports_.clock.sleep_for(options_.backoff.before_attempt(number));
        try {
            return attempt(fire, key);
        } catch (const Fenced&) {
            return Disposition::Fenced;
        } catch (const AttemptError&) {
            // Whether its effect is known or not: the next attempt takes the claim again and finds
            // out what is committed.
        }
    }
    return Disposition::Unfinished;
}

// Until the work is known nobody else can take it up, so there is no giving up here.
void Worker::record_until_known(const Fire& fire, const BusinessKey& key) {
    for (int number = 1;; ++number) {
        try {
            const auto session = ports_.database.connect();
            claims::record(*session, key, fire);
            return;
        } catch (const AttemptError&) {
            ports_.clock.sleep_for(options_.backoff.before_attempt(number + 1));
        }
    }
}

Disposition Worker::attempt(const Fire& fire, const BusinessKey& key) {
    const auto lease = leases_.try_acquire(fire.tenant + "/" + fire.job);
    if (lease == nullptr) return Disposition::GaveWay;
    const auto session = ports_.database.connect();
    const std::optional<Claim> claim = claims::take(*session, key, fire, lease->value());
    if (!claim) return Disposition::AlreadyDone;
    return work(fire, *claim, *lease, *session);
}

Disposition Worker::work(const Fire& fire, Claim claim, Lease& lease, sql::Session& session) {
    JobContext job{fire, std::move(claim), lease, session};
    for (;;) {
        try {
            const Outcome outcome = handler_(job);
            switch (outcome.kind()) {
                case Outcome::Kind::More:
                    ports_.clock.sleep_for(outcome.delay());
                    continue;
                case Outcome::Kind::Succeeded:
                    claims::finish(session, job.claim(), "succeeded");
                    return Disposition::Succeeded;
                case Outcome::Kind::Failed:
                    claims::finish(session, job.claim(), "failed", outcome.reason());
                    return Disposition::Failed;
            }
        } catch (const AttemptError&) {
            throw;
        } catch (const std::exception& error) {
            // The handler's own error: no repeat will mend it.
            claims::finish(session, job.claim(), "failed", error.what());
            return Disposition::Failed;
        }
    }
}

void Worker::start_recovery() {
    recovery_ = ports_.tasks.spawn("recovery", [this](StopSignal& stop) {
        while (!stop.wait_for(options_.recovery_interval)) {
            try {
                recover_once();
            } catch (const AttemptError&) {
                // The next round looks again.
            }
        }
    });
}

void Worker::recover_once() {
    constexpr std::int64_t kAtOnce = 10;
    std::vector<Fire> waiting;
    {
        const auto session = ports_.database.connect();
        record_missed(*session);
        waiting = claims::unfinished(*session, options_.recovery_idle, kAtOnce);
    }
    for (const Fire& fire : waiting) handle(fire);
}

// Looks by this node's clock first, which costs nothing; what is too late is decided by the
// database's, so that a node whose clock is ahead does no day's work before its time.
void Worker::record_missed(sql::Session& session) {
    if (!agenda_) return;
    const WallTime now = ports_.clock.wall_now();
    if (agenda_(recorded_until_, now - options_.missed_after).empty()) return;
    const WallTime until = claims::database_now(session) - options_.missed_after;
    for (const Fire& fire : agenda_(recorded_until_, until)) {
        claims::record(session, BusinessKey::of(fire), fire);
    }
    recorded_until_ = std::max(recorded_until_, until);
}

void Worker::stop_recovery() {
    if (recovery_ == nullptr) return;
    recovery_->request_stop();
    recovery_->join();
    recovery_ = nullptr;
}

}  // namespace fencepost::jobs
