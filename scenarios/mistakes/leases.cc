// Mistakes about how many run at once.
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

HandlerSpec release_without_owner() {
    return ledger_mistake(
        "release-without-owner",
        "A release that does not compare the owner deletes the lease of whoever holds it by then.",
        {"single-holder"}, {.claims = true, .lease = true},
        [](const Fire& fire, const Ports& ports, const Parameters& parameters) -> std::string {
            const BusinessKey key = BusinessKey::of(fire);
            const std::string lease = jobs::Leases::key_of(scope_of(fire));
            const auto session = ports.database.connect();
            jobs::claims::record(*session, key, fire);
            const auto held = ports.redis.command({"SET", lease, ports.ids.next(), "NX", "PX",
                                                   std::to_string(parameters.at("lease_ttl_ms"))});
            if (held.is_nil()) return "locked by another";
            std::string said = "already done";
            if (const auto claim = jobs::claims::take(*session, key, fire, ports.ids.next())) {
                jobs::sql::Transaction tx{*session};
                jobs::claims::advance(tx, *claim, jobs::Checkpoint::at(1'000'000), {});
                for (const auto& account : all_accounts(*session, fire)) {
                    insert_line(tx, kInsert, key.effect(account.id), fire, account,
                                claim->token.value);
                }
                tx.commit();
                jobs::claims::finish(*session, *claim, "succeeded");
                said = "succeeded";
            }
            ports.redis.command({"DEL", lease});
            return said;
        });
}

}  // namespace fencepost::scenarios
