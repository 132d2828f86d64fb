// The certificate of an exhaustive search, as text.
#include <fmt/format.h>

#include "reports/text.h"

namespace fencepost::reports {
namespace {

std::string duration_text(double seconds) {
    if (seconds < 90) return fmt::format("{:.1f} s", seconds);
    if (seconds < 5400) return fmt::format("{:.1f} min", seconds / 60);
    return fmt::format("{:.1f} h", seconds / 3600);
}

std::string heading_of(const CertificateReport& certificate) {
    const std::string what =
        certificate.faults == 1
            ? "every plan with at most 1 fault"
            : fmt::format("every plan with at most {} faults", certificate.faults);
    if (certificate.complete) return "CERTIFICATE: " + what;
    return "NO CERTIFICATE for " + what;
}

std::string missing_text(const CertificateReport& certificate) {
    if (certificate.cut_short) {
        return fmt::format("it was cut short: {}{} not run",
                           certificate.faults > 1 ? "at least " : "",
                           counted(certificate.skipped, "plan was", "plans were"));
    }
    if (certificate.skipped > 0)
        return counted(certificate.skipped, "plan gave no run", "plans gave no run");
    return counted(certificate.inert, "plan had a fault that never struck",
                   "plans had a fault that never struck");
}

std::string plans_text(const CertificateReport& certificate) {
    std::uint64_t equal = 0;
    for (const auto& [reason, plans] : certificate.equal) equal += plans;
    std::string text = fmt::format("{} planned: {} run, {} skipped", grouped(certificate.planned),
                                   grouped(certificate.run), grouped(certificate.skipped));
    if (equal > 0) text += fmt::format(", {} not run because they equal others", grouped(equal));
    return text;
}

std::string points_text(const CertificateReport& certificate) {
    std::string text = grouped(certificate.points) + " without faults";
    if (certificate.faults > 1)
        text += fmt::format(", {} more after a fault", grouped(certificate.further_points));
    return text;
}

}  // namespace

std::string certificate_text(const CertificateReport& certificate, TextStyle style) {
    const Ink ink = !certificate.complete       ? Ink::Doubt
                    : certificate.violating > 0 ? Ink::Bad
                                                : Ink::Good;
    std::string out = inked(heading_of(certificate), ink, style) + "\n";
    if (!certificate.complete) add_field(out, "because", missing_text(certificate));
    add_field(out, "of",
              fmt::format("{}, handler {}, seed {}, {}", certificate.scenario, certificate.handler,
                          certificate.seed,
                          certificate.parameters.empty() ? "parameters as usual"
                                                         : "parameters " + certificate.parameters));
    add_field(out, "kinds",
              certificate.kinds.empty() ? "all of the scenario's" : certificate.kinds + " alone");
    add_field(out, "fault points", points_text(certificate));
    add_field(out, "plans", plans_text(certificate));
    for (const auto& [reason, plans] : certificate.equal)
        add_field(out, "  equal", fmt::format("{}: {}", grouped(plans), reason));
    add_field(out, "never struck", grouped(certificate.inert));
    add_field(out, "in vain",
              counted(certificate.without_effect, "run whose faults changed nothing",
                      "runs whose faults changed nothing"));
    add_field(out, "violating", grouped(certificate.violating));
    std::vector<std::string> kinds;
    for (const auto& kind : certificate.by_kind)
        kinds.push_back(fmt::format("{} {}", kind.kind, grouped(kind.planned)));
    add_field(out, "faults", kinds.empty() ? "none" : joined(kinds));
    std::string made = "fencepost " + certificate.version;
    if (certificate.seconds > 0) made += " in " + duration_text(certificate.seconds);
    add_field(out, "made by", made);
    return out;
}

}  // namespace fencepost::reports
