// Mistakes about what is committed, and when.
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BusinessKey;
using jobs::Fire;
using jobs::Ports;

namespace {

void write_lines(jobs::sql::Session& session, const Fire& fire, const jobs::Lease& lease) {
    jobs::sql::Transaction tx{session};
    for (const auto& account : all_accounts(session, fire)) {
        insert_line(tx, kInsert, BusinessKey::of(fire).effect(account.id), fire, account);
    }
    lease.ensure_held();
    tx.commit();
}

}  // namespace

HandlerSpec effect_before_claim() {
    return ledger_mistake(
        "effect-before-claim",
        "A claim that is made after its effect comes too late for who dies in between: the next "
        "one finds nothing and writes again.",
        {"once"},
        {.line_keys = ledger::Keys::None, .claims = true, .lease = true, .recovery = true},
        [](const Fire& fire, const Ports& ports, const Parameters& parameters) {
            jobs::Leases leases{ports, worker_options(parameters).lease};
            const auto lease = wait_for_lease(leases, ports, fire);
            const auto session = ports.database.connect();
            const auto claim =
                session->execute("SELECT status FROM job_claim WHERE business_key = $1",
                                 BusinessKey::of(fire).text());
            if (!claim.empty()) return "already done";
            write_lines(*session, fire, *lease);
            insert_claim(*session, fire, "succeeded", ports.ids.next());
            return "wrote";
        });
}

HandlerSpec commit_retried() {
    return ledger_mistake(
        "commit-retried",
        "A COMMIT whose answer is lost may be committed: without a key in the rows, running the "
        "body again doubles it.",
        {"once"}, {.line_keys = ledger::Keys::None, .lease = true, .recovery = true},
        [](const Fire& fire, const Ports& ports, const Parameters& parameters) {
            jobs::Leases leases{ports, worker_options(parameters).lease};
            const auto lease = wait_for_lease(leases, ports, fire);
            if (has_lines(*ports.database.connect(), fire)) return "already done";
            for (;;) {
                try {
                    write_lines(*ports.database.connect(), fire, *lease);
                    return "wrote";
                } catch (const jobs::ConnectionLost&) {
                    ports.clock.sleep_for(std::chrono::seconds{1});
                }
            }
        });
}

}  // namespace fencepost::scenarios
