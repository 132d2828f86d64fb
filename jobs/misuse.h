// A job's own code asked for what would undo its guarantees. It will be the same next time, so no
// retry mends it: the claim ends as failed, with the sentence, and a person must look.
#pragma once

#include <stdexcept>

namespace fencepost::jobs {

class Misuse : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

}  // namespace fencepost::jobs
