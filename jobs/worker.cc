#include "jobs/worker.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "jobs/error_class.h"

namespace fencepost::jobs {

Worker::Worker(Ports ports, WorkerOptions options, Handler handler, Agenda agenda)
    : ports_(ports),
      options_(options),
      handler_(std::move(handler)),
      missed_(ports.clock, std::move(agenda), options.missed_after, options.missed_within),
      leases_(ports, options.lease) {}

Disposition Worker::handle(const Fire& fire) {
    return run(fire, From::Scheduler);
}

bool Worker::knows(const Fire& fire) const {
    return options_.known_jobs.empty() ||
           std::ranges::find(options_.known_jobs, fire.job) != options_.known_jobs.end();
}

Disposition Worker::run(const Fire& fire, From from) {
    const BusinessKey key = BusinessKey::of(fire);
    record_until_known(fire, key);
    if (!knows(fire)) return Disposition::NotKnown;
    for (int number = 1; number <= options_.attempts; ++number) {
        if (number > 1) ports_.clock.sleep_for(options_.backoff.before_attempt(number));
        try {
            return attempt(fire, key, from);
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

Disposition Worker::attempt(const Fire& fire, const BusinessKey& key, From from) {
    const auto lease = leases_.try_acquire(fire.tenant + "/" + fire.job);
    if (lease == nullptr) return Disposition::GaveWay;
    const auto session = ports_.database.connect();
    if (stopping_ && from == From::Recovery) return Disposition::Unfinished;
    const std::optional<Claim> claim = claims::take(*session, key, fire, lease->value());
    if (!claim) return Disposition::AlreadyDone;
    return work(fire, *claim, *lease, *session);
}

Disposition Worker::work(const Fire& fire, Claim claim, Lease& lease, sql::Session& session) {
    JobContext job{fire, std::move(claim), lease, session};
    for (;;) {
        try {
            const Outcome outcome = handler_(job);
            job.ensure_going();
            switch (outcome.kind()) {
                case Outcome::Kind::More:
                    if (stopping_) return Disposition::Unfinished;
                    ports_.clock.sleep_for(outcome.delay());
                    continue;
                case Outcome::Kind::Succeeded:
                    claims::finish(session, job.claim(), "succeeded");
                    return Disposition::Succeeded;
                case Outcome::Kind::Failed:
                    claims::finish(session, job.claim(), "failed", outcome.reason());
                    return Disposition::Failed;
            }
        } catch (const Fenced&) {
            throw;
        } catch (const std::exception& error) {
            if (class_of(error) == ErrorClass::Transient) throw;
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
        missed_.for_each(*session, [&](const Fire& fire) {
            claims::record(*session, BusinessKey::of(fire), fire);
        });
        waiting =
            claims::unfinished(*session, options_.recovery_idle, options_.known_jobs, kAtOnce);
    }
    for (const Fire& fire : waiting) {
        if (stopping_) return;
        run(fire, From::Recovery);
    }
}

void Worker::stop() {
    stopping_ = true;
    if (recovery_ == nullptr) return;
    recovery_->request_stop();
    recovery_->join();
    recovery_ = nullptr;
}

}  // namespace fencepost::jobs
