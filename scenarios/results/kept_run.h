// What is kept of one run of a sweep: enough to count it again, and to ask which runs failed, what
// they reached and which faults took effect. Its plan is not kept: the seed gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/judgement.h"
#include "scenarios/runner.h"
#include "scenarios/scenario.h"
#include "scenarios/search/plan_runner.h"
#include "scenarios/search/totals.h"
#include "sim/fault.h"
#include "sim/kernel.h"

namespace fencepost::scenarios {

struct KeptFault {
    sim::FaultKind kind{};
    FaultFate fate{};

    bool operator==(const KeptFault&) const = default;
};

// The first finding of a checker that failed.
struct KeptFailure {
    std::string checker;
    std::string key;
    std::string message;
    sim::RecordId record = sim::kNoRecord;

    bool operator==(const KeptFailure&) const = default;
};

struct KeptRun {
    std::uint64_t seed = 0;
    std::uint64_t fingerprint = 0;
    sim::RunEnd end{};
    std::uint64_t steps = 0;
    std::uint64_t records = 0;
    sim::Duration virtual_time{};
    std::vector<checkers::Verdict> verdicts;  // one a checker, in the order of the scenario
    std::uint64_t probes = 0;                 // bits, in the order of the scenario
    std::vector<KeptFault> faults;            // in the order of the plan
    std::vector<KeptFailure> failures;        // in the order of the checkers
    std::optional<Difference> difference;     // to another run of the same plan

    bool operator==(const KeptRun&) const = default;
};

KeptRun kept_run(const Scenario& scenario, const sim::Plan& plan, const RunResult& result);

// Counts the run as Totals::add counts its result.
void add(Totals& totals, const Scenario& scenario, const KeptRun& run);

// Runs on their way from a worker to its parent.
std::string to_bytes(const std::vector<KeptRun>& runs);
std::vector<KeptRun> runs_from_bytes(std::string_view bytes);

}  // namespace fencepost::scenarios
