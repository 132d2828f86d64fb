#include "cli/converting.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/layout.h"

namespace fencepost::cli {
namespace {

reports::FaultFate fate_of(scenarios::FaultFate fate) {
    switch (fate) {
        case scenarios::FaultFate::Inert:
            return reports::FaultFate::NeverStruck;
        case scenarios::FaultFate::Struck:
            return reports::FaultFate::StruckInVain;
        case scenarios::FaultFate::TookEffect:
            return reports::FaultFate::TookEffect;
    }
    return reports::FaultFate::NeverStruck;
}

}  // namespace

reports::RunReport report_of(const sim::Plan& plan, const scenarios::RunResult& result) {
    reports::RunReport report{.plan = plan,
                              .fingerprint = result.fingerprint,
                              .end = std::string(name_of(result.end)),
                              .steps = result.steps,
                              .records = result.records,
                              .virtual_time = result.virtual_time,
                              .judgements = result.judgements,
                              .probes_reached = result.probes};
    for (const scenarios::FaultFate fate : result.faults) report.fates.push_back(fate_of(fate));
    for (const std::string& probe : scenarios::find_scenario(plan.scenario)->probes) {
        if (std::ranges::find(result.probes, probe) == result.probes.end())
            report.probes_missed.push_back(probe);
    }
    return report;
}

std::vector<std::pair<sim::RecordId, std::string>> remarks_of(const scenarios::RunResult& result) {
    std::vector<std::pair<sim::RecordId, std::string>> remarks;
    for (const checkers::Judgement& judgement : result.judgements) {
        for (const checkers::Finding& finding : judgement.findings) {
            if (finding.record == sim::kNoRecord) continue;
            remarks.emplace_back(finding.record,
                                 fmt::format("{}: {}", judgement.checker, finding.message));
        }
    }
    return remarks;
}

reports::ReplayOutcome outcome_of(scenarios::ReplayVerdict verdict) {
    switch (verdict) {
        case scenarios::ReplayVerdict::SameFailure:
            return reports::ReplayOutcome::Same;
        case scenarios::ReplayVerdict::SameInvariantOtherWay:
            return reports::ReplayOutcome::OtherWay;
        case scenarios::ReplayVerdict::OtherInvariant:
            return reports::ReplayOutcome::OtherInvariant;
        case scenarios::ReplayVerdict::NoFailure:
            return reports::ReplayOutcome::Gone;
    }
    return reports::ReplayOutcome::Gone;
}

std::string found_by_text(const scenarios::FoundBy& found) {
    if (found.how.empty()) return {};
    std::string text = found.how;
    if (found.seed) text += fmt::format(", seed {}", *found.seed);
    if (found.minimal) {
        text += ", shrunk from " + reports::counted(found.original_faults, "fault", "faults");
    }
    return text;
}

}  // namespace fencepost::cli
