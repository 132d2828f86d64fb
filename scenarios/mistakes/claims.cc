// Mistakes about who may do the work at all.
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BusinessKey;
using jobs::Fire;
using jobs::Ports;

HandlerSpec no_claim() {
    return ledger_mistake(
        "no-claim",
        "Every node that is asked writes: being asked once is not the same as happening once.",
        {"once"}, {.line_keys = ledger::Keys::None},
        [](const Fire& fire, const Ports& ports, const Parameters&) {
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

// Looks whether the line is there, and inserts it if not: the window is between the two.
template <typename Target>
void insert_if_absent(Target& target, const Fire& fire, const ledger::Account& account) {
    const std::string key = BusinessKey::of(fire).effect(account.id);
    if (!target.execute("SELECT id FROM ledger WHERE business_key = $1", key).empty()) return;
    insert_line(target, kInsert, key, fire, account);
}

}  // namespace

HandlerSpec check_then_insert() {
    return ledger_mistake("check-then-insert",
                          "Look, then insert: two nodes both look before either has inserted.",
                          {"once"}, {.line_keys = ledger::Keys::None},
                          [](const Fire& fire, const Ports& ports, const Parameters&) {
                              const auto session = ports.database.connect();
                              for (const auto& account : all_accounts(*session, fire)) {
                                  insert_if_absent(*session, fire, account);
                              }
                              return "wrote";
                          });
}

HandlerSpec check_then_insert_in_transaction() {
    return ledger_mistake("check-then-insert-in-transaction",
                          "A READ COMMITTED transaction around look-then-insert closes no window: "
                          "neither sees the other's row.",
                          {"once"}, {.line_keys = ledger::Keys::None},
                          [](const Fire& fire, const Ports& ports, const Parameters&) {
                              const auto session = ports.database.connect();
                              jobs::sql::Transaction tx{*session};
                              for (const auto& account : all_accounts(*session, fire))
                                  insert_if_absent(tx, fire, account);
                              tx.commit();
                              return "wrote";
                          });
}

HandlerSpec run_id_key() {
    return ledger_mistake(
        "run-id-key",
        "The fire instance id names one execution: the same act recovered elsewhere carries "
        "another id.",
        {"once"}, {}, [](const Fire& fire, const Ports& ports, const Parameters&) {
            const auto session = ports.database.connect();
            for (const auto& account : all_accounts(*session, fire)) {
                const std::string key = fire.fire_instance_id + "/" + std::to_string(account.id);
                insert_line(*session, kInsertOrSkip, key, fire, account);
            }
            return "wrote";
        });
}

HandlerSpec claim_then_work() {
    return ledger_mistake(
        "claim-then-work",
        "A committed claim that nobody may take over loses the work when its holder dies after "
        "claiming.",
        {"once", "takeover"}, {.claims = true},
        [](const Fire& fire, const Ports& ports, const Parameters&) {
            const BusinessKey key = BusinessKey::of(fire);
            const auto session = ports.database.connect();
            if (!insert_claim(*session, fire, "running", ports.ids.next())) {
                return "already done or running";
            }
            for (const auto& account : all_accounts(*session, fire)) {
                insert_line(*session, kInsert, key.effect(account.id), fire, account);
            }
            session->execute("UPDATE job_claim SET status = 'succeeded' WHERE business_key = $1",
                             key.text());
            return "succeeded";
        });
}

}  // namespace fencepost::scenarios
