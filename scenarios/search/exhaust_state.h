// How far an exhaustive search is: a file from which it can go on after it was killed.
//
// The file is written whole, after some batches of plans, and says for which search it is and how
// many items of which branching are done; what they came to stands beside it. Nothing is lost but
// the work since it was last written, which is done again, and nothing is counted twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/search/exhaust.h"
#include "scenarios/search/exhaust_batch.h"

namespace fencepost::scenarios {

struct ExhaustState {
    std::uint64_t branching = 0;  // of so many all is done
    std::uint64_t items = 0;      // of the next, so many items are
    ExhaustBatch sum;
    double seconds = 0;  // of real time
};

class ExhaustStateFile {
public:
    // `plans` is a hash of the plans with one fault. Of no path it keeps nothing.
    ExhaustStateFile(const Subject& subject, const ExhaustOptions& options, std::uint64_t plans);

    // nullopt when there is no file. Throws sim::PlanError when it is of something else or broken.
    [[nodiscard]] std::optional<ExhaustState> read() const;
    void write(const ExhaustState& state) const;

private:
    std::string path_;
    std::string whose_;  // the search, as JSON
};

}  // namespace fencepost::scenarios
