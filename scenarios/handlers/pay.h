// The reference handler pay: charges the bills of the day at the outside service, each once.
#pragma once

#include "jobs/job_context.h"
#include "jobs/outside_effect.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

// The body: brings one bill to its answer a call. The checkpoint is twice the number of the bill
// that was answered, and one less while its outcome is not known.
jobs::Outcome pay(jobs::JobContext& job, jobs::OutsideEffects& outside);

HandlerSpec pay_handler();

}  // namespace fencepost::scenarios
