// The usual ways to bring a handler of one's own. For fires: through all the gates of
// jobs/worker.h, or as it comes. For messages: through the inbox of jobs/consumer.h. For the start
// of a node: as it comes.
//
// They need no more than a body and a schema, a start-up no schema. Effects are judged in the
// tables that the handler's `effects` or the scenario name, against what an undisturbed run leaves
// there; a start-up, against what one that is alone and undisturbed leaves.
#pragma once

#include <functional>
#include <string>

#include "jobs/consumer.h"
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

// Called with each event once, in the transaction of its inbox entry; the inbox's tables are added.
// Where there is no broker, the events come as requests.
HandlerSpec consumer(std::string name, jobs::MessageHandler body, std::string schema);

// Called at each start of a node, before it does anything else, on an empty database. What it
// throws ends the process, which is started again.
using StartUpBody = std::function<void(const jobs::Ports&)>;
HandlerSpec start_up(std::string name, StartUpBody body);

}  // namespace fencepost::scenarios
