// Mistakes about how many run at once.
#include <array>

#include "scenarios/handlers/reconcile.h"
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BusinessKey;
using jobs::Fire;
using jobs::Ports;

namespace {

jobs::LeaseOptions lease_options(const Parameters& parameters) {
    return {.ttl = std::chrono::milliseconds{parameters.at("lease_ttl_ms")}};
}

std::string scope_of(const Fire& fire) {
    return fire.tenant + "/" + fire.job;
}

}  // namespace

HandlerSpec lock_only() {
    return ledger_mistake(
        "lock-only",
        "A lease is not a claim: it ends under a paused holder, and both holders write.", {"once"},
        {.line_keys = ledger::Keys::None, .lease = true},
        [](const Fire& fire, const Ports& ports, const Parameters& parameters) {
            jobs::Leases leases{ports, lease_options(parameters)};
            const auto lock = leases.try_acquire(scope_of(fire));
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

// Releases leases the short way; everything else goes to the real client.
class DeletingRedis : public jobs::redis::Client {
public:
    explicit DeletingRedis(jobs::redis::Client& real) : real_(real) {}

    jobs::redis::Reply command(std::span<const std::string> arguments) override {
        return real_.command(arguments);
    }
    jobs::redis::Reply eval(const jobs::redis::Script& script, std::span<const std::string> keys,
                            std::span<const std::string> arguments) override {
        if (script.name != jobs::lease_scripts::kRelease.name)
            return real_.eval(script, keys, arguments);
        const std::array del{std::string("DEL"), keys.front()};
        return real_.command(del);
    }

private:
    jobs::redis::Client& real_;
};

// A holder that was paused past its lease still believes in it: it looks at no clock before
// release.
class DeletingProgram : public Program {
public:
    explicit DeletingProgram(const ProgramSetting& setting)
        : redis_(setting.ports.redis),
          program_(setting, with_redis(setting.ports, redis_),
                   [batches = batches_of(setting.parameters)](jobs::JobContext& job) {
                       return reconcile(job, batches);
                   }) {}

    void start() override { program_.start(); }
    std::string handle(const Fire& fire) override { return program_.handle(fire); }
    void stop() override { program_.stop(); }

private:
    static Ports with_redis(const Ports& ports, jobs::redis::Client& redis) {
        return {ports.node, ports.clock, ports.database, redis, ports.tasks, ports.ids};
    }

    DeletingRedis redis_;
    WorkerProgram program_;
};

}  // namespace

HandlerSpec release_without_owner() {
    HandlerSpec spec = reconcile_handler();
    spec.name = "release-without-owner";
    spec.lesson =
        "A release that does not compare the owner deletes the lease of whoever holds it by then.";
    spec.breaks = {"single-holder"};
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<DeletingProgram>(setting);
    };
    return spec;
}

}  // namespace fencepost::scenarios
