// Mistakes about where the next holder goes on.
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::BusinessKey;
using jobs::Checkpoint;
using jobs::Fire;
using jobs::JobContext;
using jobs::Outcome;
using jobs::Ports;

namespace {

// The accounts of the next batch, by the checkpoint.
std::vector<ledger::Account> next_batch(JobContext& job, const Batches& batches) {
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
    return ledger::accounts_after(job.db(), job.fire().tenant, last, batches.size);
}

void insert_lines(jobs::sql::Transaction& tx, const JobContext& job,
                  const std::vector<ledger::Account>& accounts) {
    for (const auto& account : accounts) {
        insert_line(tx, kInsert, job.effect_key(account.id), job.fire(), account,
                    job.token().value);
    }
}

}  // namespace

HandlerSpec checkpoint_before_effect() {
    return job_mistake("checkpoint-before-effect",
                       "A position that is saved before its batch is lost with it: the next holder "
                       "skips what was never done.",
                       {"once", "checkpoint"}, {.checkpoint = true},
                       [](JobContext& job, const ProgramSetting& setting) {
                           const Batches batches = batches_of(setting.parameters);
                           const auto accounts = next_batch(job, batches);
                           if (accounts.empty()) return Outcome::succeeded();
                           job.commit(Checkpoint::at(accounts.back().id),
                                      [](jobs::sql::Transaction&) {});
                           jobs::sql::Transaction tx{job.unguarded()};
                           insert_lines(tx, job, accounts);
                           tx.commit();
                           return Outcome::more(batches.delay);
                       });
}

HandlerSpec checkpoint_apart() {
    return job_mistake(
        "checkpoint-apart",
        "A batch and its position in two transactions: after a crash in between the batch is "
        "written again, unless each line has a key.",
        {"once"}, {.line_keys = ledger::Keys::None, .checkpoint = true},
        [](JobContext& job, const ProgramSetting& setting) {
            const Batches batches = batches_of(setting.parameters);
            const auto accounts = next_batch(job, batches);
            if (accounts.empty()) return Outcome::succeeded();
            jobs::sql::Transaction tx{job.unguarded()};
            insert_lines(tx, job, accounts);
            tx.commit();
            job.commit(Checkpoint::at(accounts.back().id), [](jobs::sql::Transaction&) {});
            return Outcome::more(batches.delay);
        });
}

HandlerSpec checkpoint_ahead() {
    return job_mistake(
        "checkpoint-ahead",
        "A position at the end of the page that was read covers lines that are not committed: "
        "what a crash leaves of the page is lost.",
        {"once"}, {.checkpoint = true}, [](JobContext& job, const ProgramSetting& setting) {
            const Batches batches = batches_of(setting.parameters);
            const auto page = next_batch(job, batches);
            if (page.empty()) return Outcome::succeeded();
            for (const auto& account : page) {
                job.commit(Checkpoint::at(page.back().id),
                           [&](jobs::sql::Transaction& tx) { insert_lines(tx, job, {account}); });
            }
            return Outcome::more(batches.delay);
        });
}

HandlerSpec recovery_from_zero() {
    return job_mistake(
        "recovery-from-zero",
        "A run that begins at the first batch whatever is committed writes all of it again, "
        "unless each line has a key.",
        {"once"}, {.line_keys = ledger::Keys::None, .checkpoint = true},
        [](JobContext& job, const ProgramSetting& setting) {
            const Batches batches = batches_of(setting.parameters);
            for (std::int64_t last = 0;;) {
                const auto accounts =
                    ledger::accounts_after(job.db(), job.fire().tenant, last, batches.size);
                if (accounts.empty()) return Outcome::succeeded();
                last = accounts.back().id;
                job.commit(Checkpoint::at(last),
                           [&](jobs::sql::Transaction& tx) { insert_lines(tx, job, accounts); });
                setting.ports.clock.sleep_for(batches.delay);
            }
        });
}

HandlerSpec recovery_redoes_finished() {
    return ledger_mistake(
        "recovery-redoes-finished",
        "Recovery that trusts a status which was not yet written does finished work again.",
        {"completed-is-not-redone"}, {.claims = true},
        [](const Fire& fire, const Ports& ports, const Parameters&) -> std::string {
            const BusinessKey key = BusinessKey::of(fire);
            const auto session = ports.database.connect();
            jobs::claims::record(*session, key, fire);
            const auto status = session->execute(
                "SELECT status FROM job_claim WHERE business_key = $1", key.text());
            if (status.text(0, 0) == "succeeded") return "already done";
            const std::string upsert =
                kInsert +
                " ON CONFLICT (business_key) DO UPDATE SET amount = excluded.amount, "
                "fencing_token = ledger.fencing_token + 1";
            jobs::sql::Transaction tx{*session};
            for (const auto& account : all_accounts(*session, fire)) {
                insert_line(tx, upsert, key.effect(account.id), fire, account);
            }
            tx.commit();
            session->execute("UPDATE job_claim SET status = 'succeeded' WHERE business_key = $1",
                             key.text());
            return "succeeded";
        });
}

}  // namespace fencepost::scenarios
