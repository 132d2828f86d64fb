// The monthly invoice run: one invoice a customer and month, numbered without a gap.
//
// This is the code that goes to production: it knows the ports of Fencepost's jobs/, and nothing of
// the simulation.
#pragma once

#include "jobs/job_context.h"

namespace invoices {

inline constexpr const char* kSchema = R"(
CREATE TABLE customer (
    tenant TEXT NOT NULL,
    id BIGINT NOT NULL,
    due BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE TABLE invoice (
    business_key TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    customer BIGINT NOT NULL,
    month TEXT NOT NULL,
    number BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    UNIQUE (tenant, number)
);
CREATE TABLE numbering (
    tenant TEXT PRIMARY KEY,
    last BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
)";

// Writes the invoices of the month in which the job was due, a customer with each call; the next
// call is that much later.
fencepost::jobs::Outcome write_invoice(fencepost::jobs::JobContext& job,
                                       fencepost::jobs::Duration delay);

}  // namespace invoices
