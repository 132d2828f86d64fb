// The lease: a key in Redis with a time to live that limits how many run at once. Mostly: it ends
// under a holder that is paused or cut off, so it never decides how often an effect happens.
//
// The value is "version:owner"; the version grows with every acquisition. One script each acquires,
// renews and releases; renewal and release compare the whole value, so that nobody touches
// another's lease. Validity is counted on the monotonic clock from before the request was sent.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "jobs/ports/ports.h"

namespace fencepost::jobs {

struct LeaseOptions {
    Duration ttl = std::chrono::seconds{30};
    // How often a held lease is renewed; a third of the time to live leaves room for two failures.
    [[nodiscard]] Duration renewal() const { return ttl / 3; }
};

namespace lease_scripts {
extern const redis::Script kAcquire;  // KEYS lease, counter; ARGV owner, ttl in ms -> value or nil
extern const redis::Script kRenew;    // KEYS lease; ARGV value, ttl in ms -> 1 or 0
extern const redis::Script kRelease;  // KEYS lease; ARGV value -> 1 or 0
}  // namespace lease_scripts

// A lease that was obtained. It renews itself in the background until it is released, lost or
// destroyed; destroying it releases it as far as that can be done without waiting for an error.
class Lease {
public:
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    [[nodiscard]] const std::string& value() const;
    // False once the time to live may have run out or somebody else's value was seen. While true,
    // nobody else can have obtained the lease, unless Redis lost it.
    [[nodiscard]] bool held() const;
    // Throws LeaseLost unless held().
    void ensure_held() const;
    // Stops the renewal and deletes the key if it is still ours. May suspend; errors are swallowed,
    // since the time to live covers them.
    void release();

private:
    friend class Leases;
    struct State;
    explicit Lease(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
    std::unique_ptr<Task> renewal_;
};

// Obtains leases for one node.
class Leases {
public:
    Leases(Ports ports, LeaseOptions options) : ports_(std::move(ports)), options_(options) {}

    // The lease of `scope`, or null when somebody else holds it: then give way. Throws
    // ConnectionLost when Redis does not answer: without a lease nothing may run. May suspend.
    [[nodiscard]] std::unique_ptr<Lease> try_acquire(const std::string& scope);

    // "lease:acme/daily-reconcile" and the counter of its versions.
    static std::string key_of(const std::string& scope) { return "lease:" + scope; }
    static std::string counter_of(const std::string& scope) { return "lease-version:" + scope; }

private:
    Ports ports_;
    LeaseOptions options_;
};

}  // namespace fencepost::jobs
