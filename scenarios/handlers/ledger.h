// The ledger: the business that the reference handler reconcile and most planted mistakes work on.
//
// One ledger line an account and business day, and one summary row a day that every batch adds to
// under the fence. Lines have a unique key of their own; the variant without it is for those who
// think that looking first is enough.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkers/expectations.h"
#include "jobs/business_key.h"
#include "jobs/ports/sql.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios::ledger {

enum class Keys : std::uint8_t { Unique, None };

// Tables account, ledger and ledger_summary, and `accounts` accounts for each of two tenants, acme
// and globex, under the same numbers.
std::string schema(Keys keys);
std::string seed_rows(const Parameters& parameters);

// Every account of the tenant of each due act gets one line that day.
checkers::EffectTable expected_lines(const Parameters& parameters, const std::vector<DueWork>& due);
checkers::FencedTable fenced_summary();

struct Account {
    std::int64_t id = 0;
    std::int64_t balance = 0;
};

// Accounts with an id above `last`, in order.
std::vector<Account> accounts_after(jobs::sql::Session& db, std::string_view tenant,
                                    std::int64_t last, std::int64_t limit);

// One line of the ledger; the key makes a second one with it impossible where keys are unique.
inline constexpr std::string_view kInsertLine =
    "INSERT INTO ledger (business_key, tenant, account, business_day, amount, fencing_token) "
    "VALUES ($1, $2, $3, $4, $5, $6)";

// The same on the schema of version 2.
inline constexpr std::string_view kInsertLineWithSource =
    "INSERT INTO ledger (business_key, tenant, account, business_day, amount, fencing_token, "
    "source) VALUES ($1, $2, $3, $4, $5, $6, 'reconcile')";

// Adds to the day's summary, unless a newer holder has written to it. 0 rows: refused.
inline constexpr std::string_view kAddToSummary =
    "INSERT INTO ledger_summary (tenant, business_day, lines, total, fencing_token) "
    "VALUES ($1, $2, $3, $4, $5) "
    "ON CONFLICT (tenant, business_day) DO UPDATE SET lines = ledger_summary.lines + "
    "excluded.lines, "
    "total = ledger_summary.total + excluded.total, fencing_token = excluded.fencing_token "
    "WHERE ledger_summary.fencing_token <= excluded.fencing_token";

}  // namespace fencepost::scenarios::ledger
