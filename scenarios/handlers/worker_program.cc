#include "scenarios/handlers/worker_program.h"

#include <fmt/format.h>

namespace fencepost::scenarios {

checkers::ClaimTable worker_claims() {
    return {.table = "job_claim",
            .key = "business_key",
            .status = "status",
            .owner = "owner",
            .token = "fencing_token",
            .checkpoint = "checkpoint",
            .finished = {"succeeded", "failed", "cancelled"},
            .error = "last_error"};
}

std::string unfinished_claims() {
    return "SELECT 'claim ' || business_key || ' is ' || status FROM job_claim "
           "WHERE status IN ('pending', 'running')";
}

std::string open_claims(const std::vector<DueWork>& due) {
    std::string query = unfinished_claims();
    for (const DueWork& work : due) {
        query += fmt::format(
            " UNION ALL SELECT 'nobody has recorded {0}' WHERE NOT EXISTS "
            "(SELECT business_key FROM job_claim WHERE business_key = '{0}')",
            work.unit());
    }
    return query;
}

jobs::Agenda agenda_of(const std::vector<DueWork>& due) {
    return [&due](jobs::WallTime since, jobs::WallTime until) {
        std::vector<jobs::Fire> fires;
        for (const DueWork& work : due) {
            if (work.scheduled <= since || work.scheduled > until) continue;
            fires.push_back({.tenant = work.tenant,
                             .job = work.job,
                             .fire_instance_id = {},
                             .scheduled_fire_time = work.scheduled,
                             .recovering = true});
        }
        return fires;
    };
}

}  // namespace fencepost::scenarios
