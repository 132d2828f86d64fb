// What a claim shows of its progress, as part of honest status: only success shows 100 %, a total
// is shown only if it is known, and right, and never more is done than is there.
#pragma once

#include <string>

#include "checkers/landed.h"
#include "checkers/reading.h"

namespace fencepost::checkers {

// What is wrong with the progress that a change shows, as a sentence; empty when nothing is, or
// when the claims show none. `landed`: after the commit that the change belongs to.
std::string fault_of_progress(const Reading& reading, const Landed& landed,
                              const ClaimChange& change);

}  // namespace fencepost::checkers
