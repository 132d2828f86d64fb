// What the planted mistakes on the ledger have in common, so that each file shows only its mistake.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jobs/claim.h"
#include "jobs/lease.h"
#include "jobs/transaction.h"
#include "scenarios/handlers/ledger.h"
#include "scenarios/handlers/plain_program.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {

// Which gates a mistake has, so that the checkers that judge them apply.
struct Gates {
    ledger::Keys line_keys = ledger::Keys::Unique;
    bool claims = false;      // it uses the claim table
    bool fence = false;       // it keeps a token in the summary
    bool lease = false;       // it takes the lease of the job
    bool checkpoint = false;  // it keeps a checkpoint in its claim
    bool recovery = false;    // acts that were not finished are begun again
};

// Name, lesson and what breaks; the program is the mistake itself. It is made where this is called.
HandlerSpec ledger_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                           const Gates& gates, PlainProgram::Body body,
                           std::source_location source = std::source_location::current());

// The same for a mistake in the body of a job that the worker runs with all its gates.
using JobBody = std::function<jobs::Outcome(jobs::JobContext&, const ProgramSetting&)>;
HandlerSpec job_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                        Gates gates, JobBody body,
                        std::source_location source = std::source_location::current());

// The job's lease, asked for until it is free; gives up with LeaseLost after a minute.
std::unique_ptr<jobs::Lease> wait_for_lease(jobs::Leases& leases, const jobs::Ports& ports,
                                            const jobs::Fire& fire);

// Whether there are lines of the fire's tenant and day.
bool has_lines(jobs::sql::Session& db, const jobs::Fire& fire);

// Makes the claim of the act in that status, unless there is one; whether it did.
bool insert_claim(jobs::sql::Session& db, const jobs::Fire& fire, const std::string& status,
                  const std::string& owner);

// Every account of the fire's tenant.
std::vector<ledger::Account> all_accounts(jobs::sql::Session& db, const jobs::Fire& fire);

// One line, on the session or in the transaction, under the given key. `suffix` may add ON
// CONFLICT.
template <typename Target>
void insert_line(Target& target, const std::string& statement, const std::string& key,
                 const jobs::Fire& fire, const ledger::Account& account, std::int64_t token = 0) {
    target.execute(statement, key, fire.tenant, account.id, jobs::utc_day(fire.scheduled_fire_time),
                   account.balance, token);
}

inline const std::string kInsert{ledger::kInsertLine};
inline const std::string kInsertOrSkip = kInsert + " ON CONFLICT (business_key) DO NOTHING";
inline const std::string kInsertOrUpdate =
    kInsert + " ON CONFLICT (business_key) DO UPDATE SET amount = excluded.amount";

}  // namespace fencepost::scenarios
