// Failures that a test found: made small, saved, and told in the words of the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kit/candidate.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/plan_runner.h"
#include "scenarios/search/workers.h"

namespace fencepost::kit {

struct SavedFailure {
    scenarios::Failure failure;
    std::string file;  // empty: it could not be written; the text says why
    std::string text;  // what broke, on what, by which faults, why, and how to see it again
};

// As the options say: the workers of a trial, and processes for single pieces of work.
scenarios::PoolOptions pool_of(const TrialOptions& options);

// The folder in which the trial's failures go.
std::string failures_folder(const TrialOptions& options);

// The command that shows the failure in the file again, of a plan of that scenario and handler.
// Where the program does not bring the scenario itself, it is written beside, once.
std::string replay_command(const std::string& file, const sim::Plan& plan,
                           const TrialOptions& options);

// The least failure of the checker, on the key if that is possible, that the failing plan leads to;
// nothing when it does not fail that way, or takes its process down. The scenario's counting
// parameters and the seed are made smaller as well.
std::optional<scenarios::Failure> least_failure(const sim::Plan& failing,
                                                const std::string& checker, const std::string& key,
                                                const TrialOptions& options);

// Writes the failure under scenarios::failure_file_name() and tells of it; `seen` runs broke the
// invariant so far. Whatever cannot be done is said in the text.
SavedFailure save(scenarios::Failure failure, std::uint64_t seen, const TrialOptions& options);

// A run that gave no history; `run` as in "seed 12". Its plan is saved.
std::string mishap_text(const scenarios::Mishap& mishap, const sim::Plan& plan,
                        const std::string& run, const TrialOptions& options);

// What FENCEPOST_REPLAY names, if it is set: a saved failure or a bare plan of the handler, in the
// scenario, if one is given; another one's is none. Throws sim::PlanError when it cannot be read.
std::optional<scenarios::Failure> asked_for_again(const Candidate& candidate,
                                                  std::string_view scenario);

}  // namespace fencepost::kit
