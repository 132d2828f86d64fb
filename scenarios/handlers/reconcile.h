// The reference handler reconcile: one ledger line an account and business day, in batches.
#pragma once

#include "jobs/job_context.h"
#include "scenarios/handler.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {

struct ReconcileStyle {
    bool with_source = false;  // version 2: keeps where a line came from
};

// The body: commits one batch of accounts a call.
jobs::Outcome reconcile(jobs::JobContext& job, const Batches& batches,
                        const ReconcileStyle& style = {});

// Batches of 100 unless the scenario says otherwise.
HandlerSpec reconcile_handler();

}  // namespace fencepost::scenarios
