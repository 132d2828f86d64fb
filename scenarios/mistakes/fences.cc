// Mistakes about whose write counts.
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BusinessKey;
using jobs::Fire;
using jobs::Ports;

HandlerSpec fence_in_memory() {
    return ledger_mistake(
        "fence-in-memory",
        "A token compared in memory is stale by the time the bare update arrives: compare it in "
        "the write.",
        {"fencing"}, {.claims = true, .fence = true},
        [](const Fire& fire, const Ports& ports, const Parameters&) -> std::string {
            const BusinessKey key = BusinessKey::of(fire);
            const std::string day = jobs::utc_day(fire.scheduled_fire_time);
            const auto session = ports.database.connect();
            jobs::claims::record(*session, key, fire);
            const auto claim = jobs::claims::take(*session, key, fire, ports.ids.next());
            if (!claim) return "already done";
            const std::int64_t mine = claim->token.value;
            std::int64_t total = 0;
            const auto accounts = all_accounts(*session, fire);
            for (const auto& account : accounts) {
                insert_line(*session, kInsertOrSkip, key.effect(account.id), fire, account, mine);
                total += account.balance;
            }
            session->execute(
                "INSERT INTO ledger_summary (tenant, business_day, lines, total, fencing_token) "
                "VALUES ($1, $2, 0, 0, 0) ON CONFLICT (tenant, business_day) DO NOTHING",
                fire.tenant, day);
            const auto newest = session->execute(
                "SELECT fencing_token FROM ledger_summary WHERE tenant = $1 AND business_day = $2",
                fire.tenant, day);
            if (newest.integer(0, 0) > mine) return "a newer holder has written";
            session->execute(
                "UPDATE ledger_summary SET lines = $3, total = $4, fencing_token = $5 "
                "WHERE tenant = $1 AND business_day = $2",
                fire.tenant, day, accounts.size(), total, mine);
            jobs::claims::finish(*session, *claim, "succeeded");
            return "succeeded";
        });
}

}  // namespace fencepost::scenarios
