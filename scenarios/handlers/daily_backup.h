// The reference handler daily-backup: one backup record a tenant and planned instant.
//
// What it does is named by the plan: by the latest planned instant that is not later than the
// scheduled time handed over, however late, under whatever fire instance id and in whatever zone's
// notation the fire comes.
#pragma once

#include "jobs/agenda.h"
#include "scenarios/handler.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {

namespace backup {

// Tables document and backup, and `accounts` documents for each of two tenants, acme and globex.
std::string schema();
std::string seed_rows(const Parameters& parameters);
// A backup of each due act, under the text of its instant in UTC.
checkers::EffectTable expected_records(const std::vector<DueWork>& due);

// Key, tenant, planned instant, documents, bytes, token.
inline constexpr std::string_view kInsert =
    "INSERT INTO backup (business_key, tenant, planned, documents, bytes, fencing_token) "
    "VALUES ($1, $2, $3, $4, $5, $6)";

// Documents of the tenant, and their bytes.
struct Content {
    std::int64_t documents = 0;
    std::int64_t bytes = 0;
};
Content content_of(jobs::sql::Session& db, std::string_view tenant);

}  // namespace backup

HandlerSpec daily_backup_handler();

}  // namespace fencepost::scenarios
