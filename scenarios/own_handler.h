// The two usual ways to bring a handler of one's own: through all the gates of jobs/worker.h, or as
// it comes.
//
// Both need no more than a body and a schema. Effects are judged in the tables that the handler's
// `effects` or the scenario name, against what an undisturbed run leaves there.
#pragma once

#include <functional>
#include <string>

#include "jobs/job_context.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

// Runs under claim, lease, fence and checkpoint. `schema` are the statements of the business
// tables and their first rows, in PostgreSQL's dialect; the claims' table is added. It is
// taken to work for one tenant, once a day: say so in its abilities where it works for several, or
// at several instants. "lease_ttl_ms" and "recovery_idle_ms" of the scenario's
// parameters set the worker, and "batch_delay_ms" how far its batches lie apart at least.
HandlerSpec gated(std::string name, jobs::Handler body, std::string schema);

// Called once with each fire, with nothing around it: what an attempt throws ends it as failed. The
// text that it returns says what became of the fire, for the trace.
using FireBody = std::function<std::string(const jobs::Fire&, const jobs::Ports&)>;
HandlerSpec ungated(std::string name, FireBody body, std::string schema);

}  // namespace fencepost::scenarios
