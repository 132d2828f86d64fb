#include "kit/reporting.h"

#include <algorithm>
#include <utility>

#include "checkers/checker.h"

namespace fencepost::kit {

reports::SearchReport report_of(const scenarios::SearchResult& result) {
    const scenarios::Totals& totals = result.totals;
    reports::SearchReport report{.runs = result.done,
                                 .asked = result.planned,
                                 .failed = totals.failed_runs,
                                 .in_vain = totals.runs_without_effect,
                                 .fingerprint = totals.digest.value(),
                                 .interrupted = result.interrupted()};
    for (const scenarios::CheckerTally& tally : totals.checkers) {
        if (tally.failed > 0) {
            report.first_failed =
                std::min(report.first_failed.value_or(tally.first_failed), tally.first_failed);
        }
        report.verdicts.push_back({.checker = tally.checker,
                                   .pass = tally.passed,
                                   .fail = tally.failed,
                                   .unknown = tally.unknown,
                                   .not_applicable = tally.not_applicable});
    }
    for (const sim::FaultKindInfo& info : sim::fault_kinds()) {
        const scenarios::FaultTally& tally = totals.of(info.kind);
        if (tally.planned == 0) continue;
        report.faults.push_back({.kind = std::string(info.name),
                                 .planned = tally.planned,
                                 .took_effect = tally.took_effect});
    }
    for (const scenarios::ProbeTally& tally : totals.probes)
        report.probes.push_back({.probe = tally.probe, .reached = tally.runs});
    return report;
}

reports::FailureReport report_of(const scenarios::Failure& failure) {
    reports::FailureReport report{.scenario = failure.plan.scenario,
                                  .handler = failure.plan.handler,
                                  .checker = failure.invariant,
                                  .key = failure.key,
                                  .message = failure.message,
                                  .plan = failure.plan,
                                  .fingerprint = failure.fingerprint,
                                  .minimal = failure.found_by.minimal};
    if (const checkers::Checker* checker = checkers::find_checker(failure.invariant))
        report.invariant = checker->invariant;
    return report;
}

reports::BrokenRun broken_run_of(const scenarios::Mishap& mishap, std::string run,
                                 std::string replay) {
    return {.run = std::move(run),
            .what = mishap.text + (mishap.again ? "" : " (once; not when tried again)"),
            .replay = std::move(replay),
            .handlers_doing = mishap.in_task && mishap.kind != scenarios::MishapKind::HarnessError};
}

}  // namespace fencepost::kit
