// Effects in an outside service, which no transaction of ours reaches.
//
//   intend     the intent and what it reserves here are committed, under the fence, before anything
//              is sent; the request id is the business key's, the same on every rerun
//   submit     once; when its outcome is unknown, look-up comes before any repeat, and a repeat
//              goes out under the same request id
//   settle     the answer is recorded under the fence, together with what follows from it here:
//              on yes the reservation becomes final, on no it is undone
//
// An intent without an answer is the mark of an unknown outcome: whoever goes on looks up first. A
// stale holder that submits late asks for what was asked already, and the service does it once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobs/job_context.h"
#include "jobs/ports/gateway.h"
#include "jobs/ports/ports.h"
#include "jobs/worker.h"

namespace fencepost::jobs {

// The schema of the intents and answers, for the installation.
std::string_view outside_schema();

// One charge and what belongs to it. Each batch runs in a fenced transaction of the job.
struct OutsideEffect {
    gateway::Charge charge;  // its request id is made of the job's business key
    Checkpoint intended;     // reached with the intent
    Batch reserve;           // what is set aside here, with the intent
    Checkpoint answered;     // reached with the answer
    Batch accepted;          // what becomes final here
    Batch declined;          // compensation: undoes what was reserved, and what `refunds` paid for
    std::vector<std::string>
        refunds{};  // request ids of charges that cannot stand without this one
};

struct OutsideOptions {
    Backoff backoff;
    int attempts = 5;  // at one answer, before the job's attempt ends
};

class OutsideEffects {
public:
    // The process has a gateway.
    explicit OutsideEffects(Ports ports, OutsideOptions options = {})
        : ports_(std::move(ports)), options_(options) {}

    // Brings the effect to its answer, from wherever an earlier attempt left it. May suspend.
    // The answer and the checkpoint are recorded together: who finds the one and lacks the other
    // is fenced. Throws what JobContext::commit throws, and ConnectionLost when the service does
    // not answer: then the intent stands, and the next attempt looks up. gateway::RequestIdTaken is
    // a mistake in the making of request ids.
    gateway::Answer perform(JobContext& job, const OutsideEffect& effect);

private:
    gateway::Answer answer_to(const gateway::Charge& charge, bool sent_before);
    void refund(const std::string& request_id);

    Ports ports_;
    OutsideOptions options_;
};

}  // namespace fencepost::jobs
