// The table of planted mistakes.
#include <fmt/format.h>

#include <algorithm>

#include "reports/text.h"
#include "reports/verdicts.h"

namespace fencepost::reports {
namespace {

// The operation is enough here: the whole address stands in the plan.
std::string short_text(sim::Fault fault) {
    if (const auto address = sim::parse_address(fault.at)) {
        fault.at = fmt::format("{}/{}", address->operation, address->ordinal);
    }
    return sim::describe(fault);
}

std::string faults_of(const MistakeReport& mistake) {
    if (!mistake.found) return mistake.trouble;
    std::vector<std::string> faults;
    for (const sim::Fault& fault : mistake.least.faults) faults.push_back(short_text(fault));
    std::string text = faults.empty() ? "no fault" : joined(faults, "; ");
    if (!mistake.minimal) text += " (fewer may be enough)";
    return text;
}

const std::optional<MistakeCatch>& first_catch(const MistakeReport& mistake) {
    if (mistake.by_seeds) return mistake.by_seeds;
    return mistake.by_one_fault ? mistake.by_one_fault : mistake.by_two_faults;
}

std::string condition_of(const MistakeReport& mistake) {
    const std::optional<MistakeCatch>& caught = first_catch(mistake);
    return caught ? std::to_string(caught->condition) : "";
}

std::string plans_of(const MistakeReport& mistake) {
    const std::optional<MistakeCatch>& caught = mistake.by_one_fault;
    if (!caught && mistake.by_two_faults) {
        return fmt::format("none; {} with two", grouped(mistake.by_two_faults->first));
    }
    if (!caught) return "none";
    return fmt::format("{} of {}", grouped(caught->count), grouped(caught->runs));
}

// Of the mistakes that seeds found: half of them took at most so many.
std::uint64_t median_seeds(const std::vector<MistakeReport>& mistakes) {
    std::vector<std::uint64_t> seeds;
    for (const MistakeReport& mistake : mistakes) {
        if (mistake.by_seeds) seeds.push_back(mistake.by_seeds->first);
    }
    if (seeds.empty()) return 0;
    std::ranges::sort(seeds);
    return seeds[(seeds.size() - 1) / 2];
}

}  // namespace

std::string mistakes_text(const MistakesReport& report, TextStyle style) {
    Table table{{{.heading = {"", "mistake"}, .most = 22},
                 {.heading = {"condi-", "tion"}, .right = true},
                 {.heading = {"found", "by seed"}, .right = true},
                 {.heading = {"one-fault", "plans"}, .most = 14, .right = true},
                 {.heading = {"", "breaks"}, .most = 14},
                 {.heading = {"", "least plan"}, .most = 30}}};
    std::uint64_t found = 0;
    for (const MistakeReport& mistake : report.mistakes) {
        found += mistake.found ? 1 : 0;
        const std::optional<MistakeCatch>& caught = first_catch(mistake);
        table.add_row({{mistake.name},
                       {condition_of(mistake)},
                       {mistake.by_seeds ? grouped(mistake.by_seeds->first) : "no",
                        mistake.by_seeds ? Ink::Plain : Ink::Bad},
                       {plans_of(mistake)},
                       {caught ? caught->checker : joined(mistake.breaks),
                        mistake.found ? Ink::Good : Ink::Bad},
                       {faults_of(mistake)}});
    }
    std::string out = table.text(style, 1) + "\n";
    out += fmt::format("{} of {} found; half of them by seed {} or sooner\n", found,
                       counted(report.mistakes.size(), "mistake", "mistakes"),
                       grouped(median_seeds(report.mistakes)));
    if (!report.checkers_unproven.empty()) {
        add_field(out, "no mistake needs the checkers", joined(report.checkers_unproven), 32);
    }
    if (!report.fault_proofs.empty()) {
        std::vector<std::string> proofs;
        for (const FaultProof& proof : report.fault_proofs) {
            proofs.push_back(fmt::format("{} ({})", proof.fault, proof.mistake));
        }
        add_field(out, "shown by one such fault alone", joined(proofs), 32);
    }
    if (!report.faults_unproven.empty()) {
        add_field(out, "no mistake needs the faults", joined(report.faults_unproven), 32);
    }
    for (const MistakeReport& mistake : report.mistakes) {
        if (mistake.found || mistake.unfinished) continue;
        out += inked(fmt::format("not found: {} (should break {})", mistake.name,
                                 joined(mistake.breaks, " or ")),
                     Ink::Bad, style) +
               "\n";
    }
    if (report.interrupted) out += inked("interrupted", Ink::Doubt, style) + "\n";
    return out;
}

}  // namespace fencepost::reports
