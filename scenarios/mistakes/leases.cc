// Mistakes about how many run at once.
#include "scenarios/handlers/reconcile.h"
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BusinessKey;
using jobs::Fire;
using jobs::JobContext;
using jobs::Ports;

namespace {

// How long the work on one line takes, where it must not be over at once.
constexpr std::chrono::seconds kStep{1};

}  // namespace

HandlerSpec lock_only() {
    return ledger_mistake(
        "lock-only",
        "A lease is not a claim: it ends under a paused holder, and both holders write.", {"once"},
        {.line_keys = ledger::Keys::None, .lease = true},
        [](const Fire& fire, const Ports& ports, const Parameters& parameters) {
            jobs::Leases leases{ports, worker_options(parameters).lease};
            const auto lock = leases.try_acquire(fire.tenant + "/" + fire.job);
            if (lock == nullptr) return "locked by another";
            const auto session = ports.database.connect();
            jobs::sql::Transaction tx{*session};
            for (const auto& account : all_accounts(*session, fire)) {
                insert_line(tx, kInsert, BusinessKey::of(fire).effect(account.id), fire, account);
            }
            tx.commit();
            return "wrote";
        });
}

namespace {

// Does one script of the lease in another way; everything else goes to the real client.
class OtherwiseRedis : public jobs::redis::Client {
public:
    using Instead = jobs::redis::Reply (*)(jobs::redis::Client& real,
                                           std::span<const std::string> keys,
                                           std::span<const std::string> arguments);

    OtherwiseRedis(jobs::redis::Client& real, std::string_view script, Instead instead)
        : real_(real), script_(script), instead_(instead) {}

    jobs::redis::Reply command(std::span<const std::string> arguments) override {
        return real_.command(arguments);
    }
    jobs::redis::Reply eval(const jobs::redis::Script& script, std::span<const std::string> keys,
                            std::span<const std::string> arguments) override {
        if (script.name == script_) return instead_(real_, keys, arguments);
        return real_.eval(script, keys, arguments);
    }

private:
    jobs::redis::Client& real_;
    std::string_view script_;
    Instead instead_;
};

// Reconciles under a lease of which one script is done otherwise.
class OtherwiseProgram : public Program {
public:
    OtherwiseProgram(const ProgramSetting& setting, std::string_view script,
                     OtherwiseRedis::Instead instead)
        : redis_(setting.ports.redis, script, instead),
          program_(setting, with_redis(setting.ports, redis_),
                   [batches = batches_of(setting.parameters)](JobContext& job) {
                       return reconcile(job, batches);
                   }) {}

    void start() override { program_.start(); }
    std::string handle(const Fire& fire) override { return program_.handle(fire); }
    void stop() override { program_.stop(); }

private:
    static Ports with_redis(const Ports& ports, jobs::redis::Client& redis) {
        return {ports.node, ports.clock, ports.database, redis, ports.tasks, ports.ids};
    }

    OtherwiseRedis redis_;
    WorkerProgram program_;
};

// The reference handler but for its lease.
HandlerSpec lease_mistake(std::string name, std::string lesson,
                          std::source_location source = std::source_location::current()) {
    HandlerSpec spec = reconcile_handler();
    spec.source = source;
    spec.name = std::move(name);
    spec.lesson = std::move(lesson);
    spec.breaks = {"single-holder"};
    return spec;
}

HandlerSpec script_mistake(std::string name, std::string lesson, std::string_view script,
                           OtherwiseRedis::Instead instead,
                           std::source_location source = std::source_location::current()) {
    HandlerSpec spec = lease_mistake(std::move(name), std::move(lesson), source);
    spec.program = [script, instead](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<OtherwiseProgram>(setting, script, instead);
    };
    return spec;
}

}  // namespace

HandlerSpec release_without_owner() {
    return script_mistake(
        "release-without-owner",
        "A release that does not compare the owner deletes the lease of whoever holds it by then.",
        jobs::lease_scripts::kRelease.name,
        [](jobs::redis::Client& real, std::span<const std::string> keys,
           std::span<const std::string>) {
            return real.command({"DEL", keys.front()});
        });
}

HandlerSpec renew_without_owner() {
    return script_mistake(
        "renew-without-owner",
        "A renewal that does not compare the owner prolongs the lease of whoever holds it by then.",
        jobs::lease_scripts::kRenew.name,
        [](jobs::redis::Client& real, std::span<const std::string> keys,
           std::span<const std::string> arguments) {
            return real.command({"PEXPIRE", keys.front(), arguments.back()});
        });
}

HandlerSpec late_error_handler_unlocks() {
    HandlerSpec spec = lease_mistake(
        "late-error-handler-unlocks",
        "An error handler that unlocks comes late like everybody else: it takes the lease from the "
        "holder after it.");
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        const auto body = [setting](JobContext& job) {
            try {
                return reconcile(job, batches_of(setting.parameters));
            } catch (const jobs::AttemptError&) {
                const Fire& fire = job.fire();
                const std::string key = jobs::Leases::key_of(fire.tenant + "/" + fire.job);
                setting.ports.redis.command({"DEL", key});
                throw;
            }
        };
        return std::make_unique<WorkerProgram>(setting, body);
    };
    return spec;
}

HandlerSpec lock_error_means_no_lock() {
    return ledger_mistake(
        "lock-error-means-no-lock",
        "An error of the lock server is not a missing lock server: who goes on without a lease is "
        "not alone.",
        {"once"}, {.line_keys = ledger::Keys::None, .lease = true, .recovery = true},
        [](const Fire& fire, const Ports& ports, const Parameters& parameters) {
            jobs::Leases leases{ports, worker_options(parameters).lease};
            std::unique_ptr<jobs::Lease> lock;
            try {
                lock = wait_for_lease(leases, ports, fire);
            } catch (const jobs::ConnectionLost&) {
                // "There is no Redis here: locking is off."
            }
            const auto session = ports.database.connect();
            if (has_lines(*session, fire)) return "already done";
            jobs::sql::Transaction tx{*session};
            for (const auto& account : all_accounts(*session, fire)) {
                insert_line(tx, kInsert, BusinessKey::of(fire).effect(account.id), fire, account);
            }
            if (lock != nullptr) lock->ensure_held();
            tx.commit();
            return "wrote";
        });
}

HandlerSpec validity_from_the_answer() {
    return ledger_mistake(
        "validity-from-the-answer",
        "A lease lasts from before it was asked for: who counts from the answer believes in it "
        "after the next holder has it.",
        {"single-holder"}, {.lease = true, .recovery = true},
        [](const Fire& fire, const Ports& ports, const Parameters& parameters) {
            const jobs::Duration ttl = worker_options(parameters).lease.ttl;
            const std::string owner = ports.ids.next();
            const std::string scope = fire.tenant + "/" + fire.job;
            const std::string key = jobs::Leases::key_of(scope);
            jobs::redis::Reply lease;
            while (lease.is_nil()) {
                lease = ports.redis.eval(jobs::lease_scripts::kAcquire,
                                         {key, jobs::Leases::counter_of(scope)},
                                         {owner, std::to_string(parameters.at("lease_ttl_ms"))});
                if (lease.is_nil()) ports.clock.sleep_for(kStep);
            }
            const jobs::MonotonicTime valid_until = ports.clock.monotonic_now() + ttl;
            const auto session = ports.database.connect();
            for (const auto& account : all_accounts(*session, fire)) {
                if (ports.clock.monotonic_now() >= valid_until) {
                    throw jobs::LeaseLost("the lease is over");
                }
                insert_line(*session, kInsertOrUpdate, BusinessKey::of(fire).effect(account.id),
                            fire, account);
                ports.clock.sleep_for(kStep);
            }
            ports.redis.eval(jobs::lease_scripts::kRelease, {key}, {lease.text});
            return "wrote";
        });
}

}  // namespace fencepost::scenarios
