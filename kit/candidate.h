// What a test of somebody's own tries: a handler, and how hard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/handler.h"

namespace fencepost::kit {

struct TrialOptions {
    // Random plans of each scenario: those of the seeds 1 to so many; as many as `fencepost accept`
    // draws.
    std::uint64_t seeds = 1'000;
    // And every plan with at most so many faults, 1 to 3; 0: none of these.
    int faults = 1;
    // These scenarios alone; empty: those of the acceptance checklist in which the handler can take
    // part.
    std::vector<std::string> scenarios{};
    // States that no run need reach (`fencepost list probes`); that another one is never reached
    // fails the trial, since it shows that something was never tried.
    std::vector<std::string> need_not_reach{};

    // Runs go to worker processes, so that a handler which crashes, hangs or takes all memory is a
    // finding like any other. In one process: for debuggers. A process with threads is not forked.
    bool in_process = false;
    int jobs = 0;  // worker processes; 0: one a processor

    // Where failure files go; empty: the environment's FENCEPOST_FAILURES, else
    // "fencepost-failures" in the current folder.
    std::string failures_folder{};
    // The plug-in that holds the handler, as `fencepost --handlers` takes it, for the command that
    // shows a failure again; empty: the environment's FENCEPOST_HANDLERS.
    std::string handlers_library{};
    // The command of this test, which shows a failure again without a plug-in when the
    // environment's FENCEPOST_REPLAY names the file. Filled in by <fencepost/gtest.h>.
    std::string test_command{};
};

class Candidate {
public:
    // A handler that is known already: a reference handler, a planted mistake, or one that was put.
    // Throws std::invalid_argument when there is none of that name.
    Candidate(std::string name, TrialOptions options = {});
    Candidate(const char* name, TrialOptions options = {});
    // Makes the handler known, as scenarios::put_handler() does, and throws what that throws.
    Candidate(scenarios::HandlerSpec handler, TrialOptions options = {});

    // Valid until another handler is made known.
    [[nodiscard]] const scenarios::HandlerSpec& handler() const;
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const TrialOptions& options() const { return options_; }
    [[nodiscard]] TrialOptions& options() { return options_; }

private:
    std::string name_;
    TrialOptions options_;
};

}  // namespace fencepost::kit
