// Which records a finding rests on.
#pragma once

#include <vector>

#include "checkers/judgement.h"

namespace fencepost::checkers {

// The records that the finding's message names, as Reading::who_and_when writes them, and the one
// that shows the violation: each once, in their order in the history. Ids are smaller than `size`,
// the number of records of the history.
std::vector<sim::RecordId> evidence_of(const Finding& finding, std::size_t size);

}  // namespace fencepost::checkers
