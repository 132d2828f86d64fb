#include "cli/search_totals.h"

#include "cli/subjects.h"
#include "reports/layout.h"

namespace fencepost::cli {

reports::DrawnReport drawn_report_of(const scenarios::Totals& totals,
                                     const scenarios::Profile& profile) {
    reports::DrawnReport report{
        .profile = profile.name, .families = {}, .sizes = totals.sizes, .parameters = {}};
    for (std::size_t i = 0; i < totals.families.size(); ++i) {
        if (totals.families[i] == 0) continue;
        report.families.emplace_back(name_of(static_cast<sim::FaultFamily>(i)), totals.families[i]);
    }
    for (const scenarios::ParameterTally& tally : totals.parameters)
        report.parameters.push_back({tally.parameter, tally.least, tally.most, tally.runs});
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

}  // namespace fencepost::cli
