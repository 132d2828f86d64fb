#include "scenarios/handlers/bills.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/business_key.h"

namespace fencepost::scenarios::bills {
namespace {

// What becomes of a bill, by the gateway's rule.
std::string_view final_status(const Bill& bill, const std::vector<Bill>& bills) {
    if (bill.amount > kGatewayLimit) return "declined";
    const bool with_declined = std::ranges::any_of(bills, [&bill](const Bill& other) {
        return other.invoice == bill.invoice && other.amount > kGatewayLimit;
    });
    return with_declined ? "refunded" : "paid";
}

}  // namespace

std::vector<Bill> plain(const Parameters& parameters) {
    std::vector<Bill> bills;
    for (std::int64_t i = 1; i <= parameters.at("invoices"); ++i) {
        bills.push_back({.id = i, .invoice = i, .amount = 100 + 10 * i});
    }
    return bills;
}

std::vector<Bill> all(const Parameters& parameters) {
    std::vector<Bill> bills{{.id = 1, .invoice = 901, .amount = kGatewayLimit + 400},
                            {.id = 2, .invoice = 902, .amount = 150},
                            {.id = 3, .invoice = 902, .amount = kGatewayLimit + 300}};
    const auto before = static_cast<std::int64_t>(bills.size());
    for (Bill bill : plain(parameters)) {
        bill.id += before;
        bills.push_back(bill);
    }
    return bills;
}

std::string schema(const std::vector<Bill>& bills) {
    std::string script = R"(
CREATE TABLE bill (
    id BIGINT PRIMARY KEY,
    tenant TEXT NOT NULL,
    invoice BIGINT NOT NULL,
    amount BIGINT NOT NULL
);
CREATE TABLE payment (
    request_id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    bill BIGINT NOT NULL,
    invoice BIGINT NOT NULL,
    business_day TEXT NOT NULL,
    amount BIGINT NOT NULL,
    status TEXT NOT NULL,
    fencing_token BIGINT NOT NULL
);
CREATE TABLE budget (
    tenant TEXT PRIMARY KEY,
    available BIGINT NOT NULL,
    reserved BIGINT NOT NULL,
    spent BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
INSERT INTO budget (tenant, available, reserved, spent, fencing_token)
VALUES ('acme', 100000, 0, 0, 0);
)";
    for (const Bill& bill : bills) {
        script += fmt::format(
            "INSERT INTO bill (id, tenant, invoice, amount) VALUES ({}, 'acme', {}, {});\n",
            bill.id, bill.invoice, bill.amount);
    }
    return script;
}

std::string reference_of(std::string_view tenant, std::int64_t bill, jobs::WallTime scheduled) {
    return fmt::format("{}/bill-{}@{}", tenant, bill, jobs::utc_day(scheduled));
}

checkers::EffectTable expected_payments(const std::vector<Bill>& bills,
                                        const std::vector<DueWork>& due) {
    checkers::EffectTable table{.table = "payment",
                                .identity = {"tenant", "bill", "business_day", "status"},
                                .expected = {}};
    for (const DueWork& work : due) {
        const std::string day = jobs::utc_day(work.scheduled);
        for (const Bill& bill : bills) {
            const auto state = [&](std::string_view status, std::int64_t answered) {
                return checkers::ExpectedEffect{
                    .unit = work.unit(),
                    .identity = {work.tenant, std::to_string(bill.id), day, std::string(status)},
                    .position = 2 * answered};
            };
            const std::string_view last = final_status(bill, bills);
            // What is refunded is so with the answer to the bill that was declined, the next one.
            table.expected.push_back(state(last, last == "refunded" ? bill.id + 1 : bill.id));
            table.passing.push_back(state("reserved", bill.id));
            if (last == "refunded") table.passing.push_back(state("paid", bill.id));
        }
    }
    return table;
}

checkers::EffectTable expected_charges(const std::vector<Bill>& bills,
                                       const std::vector<DueWork>& due) {
    checkers::EffectTable table{.table = "charge",
                                .identity = {"reference", "amount"},
                                .expected = {},
                                .passing = {},
                                .place = checkers::EffectPlace::Charges};
    for (const DueWork& work : due) {
        for (const Bill& bill : bills) {
            const std::string_view last = final_status(bill, bills);
            const checkers::ExpectedEffect charge{
                .unit = work.unit(),
                .identity = {reference_of(work.tenant, bill.id, work.scheduled),
                             std::to_string(bill.amount)},
                .position = 2 * bill.id};
            if (last == "paid") table.expected.push_back(charge);
            if (last == "refunded") table.passing.push_back(charge);
        }
    }
    return table;
}

std::optional<Bill> next_after(jobs::sql::Session& db, std::string_view tenant,
                               std::string_view day, std::int64_t last) {
    const jobs::sql::Result rows = db.execute(
        "SELECT id, invoice, amount FROM bill WHERE tenant = $1 AND id > $2 AND NOT EXISTS "
        "(SELECT request_id FROM payment WHERE payment.tenant = bill.tenant AND "
        "payment.invoice = bill.invoice AND payment.business_day = $3 AND "
        "payment.status = 'declined') ORDER BY id LIMIT 1",
        tenant, last, day);
    if (rows.rows() == 0) return std::nullopt;
    return Bill{rows.integer(0, 0), rows.integer(0, 1), rows.integer(0, 2)};
}

}  // namespace fencepost::scenarios::bills
