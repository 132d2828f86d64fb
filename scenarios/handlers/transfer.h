// The reference handler transfer: sweeps what accounts hold above a floor to a settlement account,
// night by night.
//
// Every transfer has its own key and its own row. Balances are changed by conditional updates that
// compare the fencing token kept in the row and the amount that must be there; no commit makes or
// loses money.
#pragma once

#include <string>
#include <vector>

#include "checkers/expectations.h"
#include "jobs/job_context.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {

// The tables that money moves in: accounts, of which number 0 is the settlement account, and
// transfers.
namespace money {

std::string schema();
std::string seed_rows(const Parameters& parameters);

// One transfer from every account and due act.
checkers::Expectations expectations(const Parameters& parameters, const std::vector<DueWork>& due);

struct Surplus {
    std::int64_t account = 0;
    std::int64_t amount = 0;
};

// What accounts with a number above `last` hold above the floor, in the order of their numbers.
std::vector<Surplus> surpluses_after(jobs::sql::Session& db, std::int64_t last, std::int64_t limit);

// One transfer to the settlement account.
inline constexpr std::string_view kInsertTransfer =
    "INSERT INTO transfer (business_key, account, business_day, amount, fencing_token) "
    "VALUES ($1, $2, $3, $4, $5)";
// 0 rows: there is not so much, or a newer holder has written to the row.
inline constexpr std::string_view kTake =
    "UPDATE balance SET amount = amount - $2, fencing_token = $3 "
    "WHERE account = $1 AND amount >= $2 AND fencing_token <= $3";
inline constexpr std::string_view kGive =
    "UPDATE balance SET amount = amount + $2, fencing_token = $3 "
    "WHERE account = $1 AND fencing_token <= $3";
inline constexpr std::int64_t kSettlement = 0;

}  // namespace money

// The body: commits one batch of transfers a call.
jobs::Outcome transfer(jobs::JobContext& job, const Batches& batches);

HandlerSpec transfer_handler();

}  // namespace fencepost::scenarios
