// Which mistake proves a kind of fault: its run without faults breaks nothing that it is meant to
// break, and the run with one fault of that kind does.
#pragma once

#include <optional>
#include <string>

#include "scenarios/search/sweep.h"
#include "sim/fault.h"

namespace fencepost::scenarios {

struct KindProof {
    sim::FaultKind kind{};
    std::string mistake;
    std::string scenario;
    std::string checker;
    sim::Plan plan;  // with the one fault
};

struct SearchForProof {
    std::optional<KindProof> proof;
    bool interrupted = false;  // there may be a proof
};

// The first such mistake, in the order of all_handlers(), in the first scenario; nothing when there
// is none.
SearchForProof proof_of(sim::FaultKind kind, const SearchOptions& search);

}  // namespace fencepost::scenarios
