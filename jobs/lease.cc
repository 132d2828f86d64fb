#include "jobs/lease.h"

#include <utility>

namespace fencepost::jobs {

namespace lease_scripts {

// A second acquisition by the same owner finds its own value: the first answer was lost, and the
// lease is ours. Its time to live began with the first request, so it is not extended here.
const redis::Script kAcquire{"lease-acquire", R"(
local held = redis.call('GET', KEYS[1])
if held then
    if string.sub(held, -string.len(ARGV[1]) - 1) == ':' .. ARGV[1] then return held end
    return false
end
local value = redis.call('INCR', KEYS[2]) .. ':' .. ARGV[1]
redis.call('SET', KEYS[1], value, 'PX', ARGV[2])
return value
)"};

const redis::Script kRenew{"lease-renew", R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
)"};

const redis::Script kRelease{"lease-release", R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
)"};

}  // namespace lease_scripts

namespace {

std::string milliseconds(Duration duration) {
    return std::to_string(std::chrono::floor<std::chrono::milliseconds>(duration).count());
}

}  // namespace

// Shared with the renewal, which may outlive the Lease by the time it takes to stop.
struct Lease::State {
    Clock& clock;
    redis::Client& redis;
    LeaseOptions options;
    std::string key;
    std::string value;
    MonotonicTime valid_until;
    bool lost = false;

    [[nodiscard]] bool held() const { return !lost && clock.monotonic_now() < valid_until; }

    void renew_once() {
        const MonotonicTime sent = clock.monotonic_now();
        const redis::Reply reply =
            redis.eval(lease_scripts::kRenew, {key}, {value, milliseconds(options.ttl)});
        if (reply == redis::Reply::number(1)) {
            valid_until = sent + options.ttl;
        } else if (!reply.is_error()) {
            lost = true;
        }
    }

    // A failed renewal proves nothing about the lease: it is tried again until the time is really
    // over.
    void renew_until_stopped(StopSignal& stop) {
        while (!stop.wait_for(options.renewal()) && held()) {
            try {
                renew_once();
            } catch (const ConnectionLost&) {
            }
        }
    }
};

Lease::Lease(std::shared_ptr<State> state) : state_(std::move(state)) {}

Lease::~Lease() {
    try {
        release();
    } catch (...) {
        // A destructor cannot report, and the time to live ends what could not be deleted.
    }
}

const std::string& Lease::value() const {
    return state_->value;
}

bool Lease::held() const {
    return state_->held();
}

void Lease::ensure_held() const {
    if (!held()) throw LeaseLost("the lease " + state_->key + " is not held any more");
}

void Lease::release() {
    if (renewal_ == nullptr) return;
    renewal_->request_stop();
    renewal_ = nullptr;
    if (std::exchange(state_->lost, true)) return;
    try {
        state_->redis.eval(lease_scripts::kRelease, {state_->key}, {state_->value});
    } catch (const ConnectionLost&) {
        // The time to live ends it.
    }
}

std::unique_ptr<Lease> Leases::try_acquire(const std::string& scope) {
    const std::string owner = ports_.ids.next();
    const MonotonicTime sent = ports_.clock.monotonic_now();
    const redis::Reply reply =
        ports_.redis.eval(lease_scripts::kAcquire, {key_of(scope), counter_of(scope)},
                          {owner, milliseconds(options_.ttl)});
    if (reply.is_error()) throw redis::ServerError(reply.text);
    if (reply.is_nil()) return nullptr;
    auto state = std::make_shared<Lease::State>(Lease::State{
        ports_.clock, ports_.redis, options_, key_of(scope), reply.text, sent + options_.ttl});
    std::unique_ptr<Lease> lease{new Lease(state)};
    lease->renewal_ = ports_.tasks.spawn(
        "lease-renewal", [state](StopSignal& stop) { state->renew_until_stopped(stop); });
    return lease;
}

}  // namespace fencepost::jobs
