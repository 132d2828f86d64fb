// The verdict on a handler for a test of its own: the searches of `fencepost accept` and
// `fencepost sweep`, at a test's size, with a text for whoever reads the log of a failed test.
//
// With FENCEPOST_REPLAY in the environment, nothing is searched: the failure that the file holds is
// run again, if it is of this handler (and scenario), and is the verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kit/candidate.h"
#include "kit/saving.h"

namespace fencepost::kit {

struct Verdict {
    bool accepted = false;
    // Why not, for people; of an accepted handler one line with what was run.
    std::string text;
    std::vector<SavedFailure> failures;  // at most one a scenario
    std::uint64_t runs = 0;
};

// Random plans and every plan with few faults, in every scenario of the options. Stops at the first
// failure of each scenario, and makes it small. Not accepted is also who breaks its process, and
// who takes part in nothing or leaves a checker without anything to judge by: nothing passes by
// silence. Throws std::invalid_argument when the options name what there is not.
Verdict accept(const Candidate& candidate);

// Which random plans: those of the seeds 1 to a number, or of a range, both ends included.
struct Seeds {
    Seeds(std::uint64_t number) : first(1), last(number) {}
    Seeds(std::uint64_t from, std::uint64_t to) : first(from), last(to) {}
    std::uint64_t first;
    std::uint64_t last;
};

// Random plans alone, in one scenario; states that were never reached are not asked for.
Verdict hold(std::string_view scenario, const Candidate& candidate, Seeds seeds);

}  // namespace fencepost::kit
