// The judging functions, each in the file of its name; the table of them is in checker.cc.
#pragma once

#include "checkers/judgement.h"
#include "checkers/reading.h"

namespace fencepost::checkers {

Judgement judge_once(const Reading& reading);
Judgement judge_single_claim(const Reading& reading);
Judgement judge_fencing(const Reading& reading);
Judgement judge_conserved(const Reading& reading);
Judgement judge_key_stability(const Reading& reading);
Judgement judge_tenant_isolation(const Reading& reading);
Judgement judge_checkpoint(const Reading& reading);
Judgement judge_takeover(const Reading& reading);
Judgement judge_completed_is_not_redone(const Reading& reading);
Judgement judge_single_holder(const Reading& reading);
Judgement judge_drain(const Reading& reading);
Judgement judge_honest_status(const Reading& reading);
Judgement judge_start_up_convergence(const Reading& reading);
Judgement judge_invariants(const Reading& reading);

}  // namespace fencepost::checkers
