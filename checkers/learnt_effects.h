// Effects that nobody has listed in advance: those that an undisturbed run leaves.
//
// A run without faults, of the same handler and scenario, is the oracle for all others: what it
// leaves in an effect table that is learnt (EffectTable::learnt) must be there once after any run,
// and nothing else. It says what must happen and not how often: a row that the undisturbed run
// itself leaves twice is expected once.
#pragma once

#include <string>
#include <vector>

#include "checkers/expectations.h"
#include "sim/history.h"

namespace fencepost::checkers {

// Fills in what is expected of the effect tables that are learnt: identities, the unit to which
// each belongs (that of the claim in the same commit, of the fire that wrote it, or the one that
// its key names) and its position (that of the checkpoint in the same commit; where that one was
// committed before, the effect may follow it). Where an effect has no such checkpoint, checkpoints
// are judged no more. `units` are those that fall due, in their
// order. Where the run says nothing (it did not come to rest, left no effect at all, or one of work
// that failed or that nobody can name), the tables say why, and no run can pass.
void learn_effects(const sim::History& undisturbed, const std::vector<std::string>& units,
                   Expectations& expectations);

}  // namespace fencepost::checkers
