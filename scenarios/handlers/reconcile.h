// The reference handler reconcile: one ledger line an account and business day, in batches.
#pragma once

#include "jobs/job_context.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

// The body: commits one batch of at most `batch` accounts a call.
jobs::Outcome reconcile(jobs::JobContext& job, std::int64_t batch);

// Batches of 100 unless the scenario says otherwise.
HandlerSpec reconcile_handler();

}  // namespace fencepost::scenarios
