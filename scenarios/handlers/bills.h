// Bills: the business that pay and the planted mistakes about the outside service work on.
//
// Invoices consist of bills, each charged at the gateway. What is to be charged is set aside in the
// budget first; a charge that is accepted is spent, one that is declined is given back, and with it
// what was charged before for the same invoice.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/expectations.h"
#include "jobs/ports/gateway.h"
#include "jobs/transaction.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios::bills {

// Bills above this are declined.
inline constexpr std::int64_t kGatewayLimit = 500;

struct Bill {
    std::int64_t id = 0;  // from 1, without gaps: the order in which they are paid
    std::int64_t invoice = 0;
    std::int64_t amount = 0;
};

// Bill 1 is too much for the gateway. Bills 2 and 3 are one invoice, of which the second is. Then
// come `invoices` plain ones.
std::vector<Bill> all(const Parameters& parameters);
// The plain ones alone.
std::vector<Bill> plain(const Parameters& parameters);

// Tables bill, payment and budget, with these bills.
std::string schema(const std::vector<Bill>& bills);

// The charge of a bill on the day of the due act: "acme/bill-4@2026-03-02".
std::string reference_of(std::string_view tenant, std::int64_t bill, jobs::WallTime scheduled);

// Each bill's payment in its final state, and the charges that stand.
checkers::EffectTable expected_payments(const std::vector<Bill>& bills,
                                        const std::vector<DueWork>& due);
checkers::EffectTable expected_charges(const std::vector<Bill>& bills,
                                       const std::vector<DueWork>& due);

// The next bill of the tenant after `last` that is to be paid that day.
std::optional<Bill> next_after(jobs::sql::Session& db, std::string_view tenant,
                               std::string_view day, std::int64_t last);

}  // namespace fencepost::scenarios::bills
