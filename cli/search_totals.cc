#include "cli/search_totals.h"

#include "checkers/checker.h"
#include "cli/subjects.h"
#include "reports/layout.h"

namespace fencepost::cli {

reports::SearchReport report_of(const scenarios::SearchResult& result) {
    const scenarios::Totals& totals = result.totals;
    reports::SearchReport report{.runs = result.done,
                                 .asked = result.planned,
                                 .failed = totals.failed_runs,
                                 .in_vain = totals.runs_without_effect,
                                 .fingerprint = totals.digest.value(),
                                 .interrupted = result.interrupted()};
    for (const scenarios::CheckerTally& tally : totals.checkers) {
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

reports::CertificateReport report_of(const scenarios::Certificate& certificate,
                                     const scenarios::ExhaustOptions& options) {
    reports::CertificateReport report{
        .complete = certificate.complete(),
        .scenario = certificate.scenario,
        .handler = certificate.handler,
        .parameters =
            parameters_text({certificate.scenario, certificate.handler, certificate.parameters}),
        .seed = certificate.seed,
        .faults = certificate.faults,
        .points = certificate.points,
        .further_points = certificate.further_points,
        .planned = certificate.planned,
        .run = certificate.run,
        .skipped = certificate.skipped,
        .cut_short = certificate.cut_short,
        .inert = certificate.inert,
        .without_effect = certificate.without_effect,
        .violating = certificate.violating,
        .version = certificate.version,
        .seconds = certificate.seconds};
    std::vector<std::string> kinds;
    for (const sim::FaultKind kind : options.kinds) kinds.emplace_back(sim::info_of(kind).name);
    report.kinds = reports::joined(kinds);
    for (const auto& [why, plans] : certificate.equal)
        report.equal.emplace_back(std::string(scenarios::reason_of(why)), plans);
    for (const scenarios::KindCount& count : certificate.kinds) {
        report.by_kind.push_back({.kind = std::string(sim::info_of(count.kind).name),
                                  .planned = count.planned,
                                  .took_effect = count.took_effect});
    }
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

}  // namespace fencepost::cli
