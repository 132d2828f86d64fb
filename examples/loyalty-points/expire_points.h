// The job of a loyalty programme: points that were not spent in time expire, member by member.
//
// This is the code that goes to production: it knows the ports of Fencepost's jobs/, and nothing of
// the simulation.
#pragma once

#include "jobs/job_context.h"

namespace loyalty {

inline constexpr const char* kSchema = R"(
CREATE TABLE member (
    tenant TEXT NOT NULL,
    id BIGINT NOT NULL,
    points BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE TABLE expiry (
    business_key TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    member BIGINT NOT NULL,
    night TEXT NOT NULL,
    points BIGINT NOT NULL
);
)";

// Lets 10 points of every member of the tenant expire, once a night: a batch of members with each
// call, the next one that much later.
fencepost::jobs::Outcome expire_points(fencepost::jobs::JobContext& job, std::int64_t batch,
                                       fencepost::jobs::Duration delay);

}  // namespace loyalty
