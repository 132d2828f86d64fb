#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/verdicts.h"

namespace fencepost::reports {
namespace {

Ink ink_of(checkers::Verdict verdict) {
    switch (verdict) {
        case checkers::Verdict::Pass:
            return Ink::Good;
        case checkers::Verdict::Fail:
            return Ink::Bad;
        case checkers::Verdict::Unknown:
            return Ink::Doubt;
        case checkers::Verdict::NotApplicable:
            return Ink::Dim;
    }
    return Ink::Plain;
}

Ink ink_of(CellVerdict verdict) {
    switch (verdict) {
        case CellVerdict::Pass:
            return Ink::Good;
        case CellVerdict::Fail:
            return Ink::Bad;
        case CellVerdict::Unknown:
            return Ink::Doubt;
        case CellVerdict::NotApplicable:
            return Ink::Dim;
    }
    return Ink::Plain;
}

std::string listed(const std::vector<std::string>& words) {
    return words.empty() ? "none" : joined(words);
}

void add_faults(std::string& out, const sim::Plan& plan, const std::vector<FaultFate>& fates) {
    if (plan.faults.empty()) add_field(out, "faults", "none");
    for (std::size_t i = 0; i < plan.faults.size(); ++i) {
        std::string text = fmt::format("{}. {}", i + 1, sim::describe(plan.faults[i]));
        if (i < fates.size()) text += fmt::format(": {}", name_of(fates[i]));
        add_field(out, i == 0 ? "faults" : "", text);
    }
}

// Those that are not as usual.
void add_parameters(std::string& out, const sim::Plan& plan) {
    std::vector<std::string> values;
    for (const auto& [name, value] : plan.parameters)
        values.push_back(fmt::format("{}={}", name, value));
    if (!values.empty()) add_field(out, "parameters", joined(values));
}

// A command must be copied as it stands: it is never wrapped.
void add_command(std::string& out, std::string_view label, std::string_view command) {
    if (!command.empty()) out += fmt::format("  {:<15}{}\n", label, command);
}

std::string took_effect(const std::vector<FaultCounts>& faults) {
    std::vector<std::string> words;
    for (const FaultCounts& fault : faults) {
        words.push_back(fmt::format("{} {} of {}", fault.kind, grouped(fault.took_effect),
                                    grouped(fault.planned)));
    }
    return listed(words);
}

void add_in_vain(std::string& out, std::uint64_t runs) {
    if (runs == 0) return;
    add_field(
        out, "in vain",
        counted(runs, "run whose faults changed nothing", "runs whose faults changed nothing"));
}

void add_probes(std::string& out, const std::vector<ProbeCounts>& probes, TextStyle style) {
    std::vector<std::string> reached;
    std::vector<std::string> missed;
    for (const ProbeCounts& probe : probes) {
        if (probe.reached > 0) {
            reached.push_back(fmt::format("{} ({})", probe.probe, grouped(probe.reached)));
        } else {
            missed.push_back(probe.probe);
        }
    }
    if (!reached.empty()) add_field(out, "reached", joined(reached));
    if (missed.empty()) return;
    std::string lines;
    add_field(lines, "never reached", joined(missed));
    out += inked(lines.substr(0, lines.size() - 1), Ink::Doubt, style) + "\n";
}

std::string counts_text(const VerdictCounts& counts) {
    std::vector<std::string> words;
    if (counts.fail > 0) words.push_back(grouped(counts.fail) + " failed");
    if (counts.pass > 0) words.push_back(grouped(counts.pass) + " passed");
    if (counts.unknown > 0) words.push_back(grouped(counts.unknown) + " unknown");
    if (counts.not_applicable > 0)
        words.push_back(grouped(counts.not_applicable) + " not applicable");
    return listed(words);
}

std::string verdicts_table(const std::vector<VerdictCounts>& verdicts, TextStyle style) {
    Table table{{{}, {}, {.heading = {}, .most = 60}}};
    for (const VerdictCounts& counts : verdicts) {
        const CellVerdict verdict = verdict_of(counts);
        std::string detail = counts_text(counts);
        if (counts.unknown + counts.not_applicable > 0 && !counts.reason.empty())
            detail += ": " + counts.reason;
        table.add_row(
            {{std::string(name_of(verdict)), ink_of(verdict)}, {counts.checker}, {detail}});
    }
    return table.text(style, 2);
}

void add_failures(std::string& out, const SearchReport& report, TextStyle style) {
    for (const FailureReport& failure : report.failures) {
        out += "\n" + failure_text(failure, style);
    }
    for (const BrokenRun& run : report.broken_runs) out += "\n" + broken_run_text(run, style);
}

void add_gaps(std::string& out, const std::vector<std::string>& gaps, TextStyle style) {
    for (const std::string& gap : gaps)
        out += inked("inconclusive: " + gap, Ink::Doubt, style) + "\n";
}

std::string conclusion(const Ending& ending, TextStyle style) {
    if (ending.harness_failed) return inked("the harness itself failed", Ink::Bad, style) + "\n";
    if (ending.broken) return inked("an invariant broke", Ink::Bad, style) + "\n";
    if (ending.handler_died) return inked("the handler broke its process", Ink::Bad, style) + "\n";
    if (ending.inconclusive) return inked("inconclusive", Ink::Doubt, style) + "\n";
    return inked("all invariants held", Ink::Good, style) + "\n";
}

void add_search_facts(std::string& out, const SearchReport& report, TextStyle style) {
    add_field(out, "took effect", took_effect(report.faults));
    add_in_vain(out, report.in_vain);
    add_probes(out, report.probes, style);
    std::vector<std::string> unknown;
    for (const VerdictCounts& counts : report.verdicts) {
        if (counts.unknown > 0)
            unknown.push_back(fmt::format("{} ({})", counts.checker, grouped(counts.unknown)));
    }
    if (!unknown.empty()) add_field(out, "unknown", joined(unknown));
}

void add_drawn(std::string& out, const SearchReport& report) {
    if (!report.drawn) return;
    const DrawnReport& drawn = *report.drawn;
    std::vector<std::string> parts;
    for (const auto& [family, runs] : drawn.families)
        parts.push_back(fmt::format("{} ({})", family, grouped(runs)));
    std::vector<std::string> sizes;
    for (std::size_t i = 0; i < drawn.sizes.size(); ++i)
        sizes.push_back(fmt::format("{} ({})", i, grouped(drawn.sizes[i])));
    std::string text = fmt::format("profile {}; families of faults: {}; faults a plan: {}",
                                   drawn.profile, joined(parts), joined(sizes));
    for (const DrawnReport::Values& values : drawn.parameters) {
        text += fmt::format("; {}: {} to {} ({})", values.parameter, values.least, values.most,
                            grouped(values.runs));
    }
    add_field(out, "drawn", text);
}

void add_guided(std::string& out, const SearchReport& report) {
    if (!report.guided) return;
    std::vector<std::string> features;
    for (const auto& [kind, count] : report.guided->features)
        features.push_back(grouped(count) + " " + kind);
    add_field(out, "learned",
              fmt::format("{} plans kept, which covered {}; {} made by changing these",
                          grouped(report.guided->kept), joined(features),
                          counted(report.guided->changed, "run", "runs")));
    if (report.first_failed)
        add_field(out, "first failing", fmt::format("run {}", *report.first_failed));
}

std::string certificate_line(const CertificateReport& certificate) {
    const auto faults = static_cast<std::uint64_t>(certificate.faults);
    return fmt::format("{}: {} planned, {} run, {} skipped, {} violating",
                       certificate.complete
                           ? "every plan with at most " + counted(faults, "fault", "faults")
                           : "none",
                       grouped(certificate.planned), grouped(certificate.run),
                       grouped(certificate.skipped), grouped(certificate.violating));
}

void add_evidence(std::string& out, int condition, const Evidence& evidence, TextStyle style) {
    const SearchReport sum = both(evidence);
    out += fmt::format(
        "\n{}\n", inked(fmt::format("condition {}: {}, {}", condition, sum.scenario, sum.handler),
                        Ink::Strong, style));
    add_field(out, "runs",
              fmt::format("{}; {}; {} with a broken invariant", evidence.random.what,
                          evidence.one_fault.what, grouped(sum.failed)));
    if (evidence.one_fault.certificate)
        add_field(out, "certificate", certificate_line(*evidence.one_fault.certificate));
    add_search_facts(out, sum, style);
    add_failures(out, sum, style);
}

}  // namespace

std::string fingerprint_text(std::uint64_t fingerprint) {
    return fmt::format("{:016x}", fingerprint);
}

std::string fingerprint_line(std::uint64_t seed, std::uint64_t fingerprint) {
    return fmt::format("{} {}\n", seed, fingerprint_text(fingerprint));
}

std::string difference_text(std::uint64_t record, std::string_view first, std::string_view second) {
    const auto shown = [](std::string_view text) {
        return text.empty() ? std::string("nothing more") : on_one_line(text);
    };
    return fmt::format(
        "not deterministic: two runs of the same plan differ from event {} on: \"{}\" in the one, "
        "\"{}\" in the other",
        record, shown(first), shown(second));
}

std::string failure_text(const FailureReport& failure, TextStyle style) {
    std::string out = inked("FAIL " + failure.checker, Ink::Bad, style);
    if (!failure.scenario.empty())
        out += fmt::format("  {}, handler {}", failure.scenario, failure.handler);
    out += "\n";
    add_field(out, "broken", failure.invariant);
    if (!failure.also.empty()) add_field(out, "also fails", joined(failure.also));
    if (!failure.key.empty()) add_field(out, "key", failure.key);
    add_field(out, "what", failure.message);
    add_faults(out, failure.plan, {});
    add_parameters(out, failure.plan);
    if (!failure.minimal) add_field(out, "", "(shrinking was cut short: fewer may be enough)");
    if (!failure.first_seen.empty()) {
        add_field(out, "seen in",
                  counted(failure.seen, "run", "runs") + ", first with " + failure.first_seen);
    }
    add_command(out, "replay", failure.replay);
    return out;
}

std::string broken_run_text(const BrokenRun& run, TextStyle style) {
    std::string out = run.handlers_doing ? "BROKEN handler: " : "BROKEN harness: ";
    out = inked(out + run.run, Ink::Bad, style) + "\n";
    add_field(out, "what", run.what);
    add_command(out, "replay", run.replay);
    return out;
}

std::string run_text(const RunReport& report, TextStyle style) {
    std::string out = inked(fmt::format("{}, handler {}, seed {}", report.plan.scenario,
                                        report.plan.handler, report.plan.seed),
                            Ink::Strong, style) +
                      "\n";
    add_faults(out, report.plan, report.fates);
    if (!report.probes_reached.empty()) add_field(out, "reached", joined(report.probes_reached));
    if (!report.probes_missed.empty()) add_field(out, "not reached", joined(report.probes_missed));
    add_field(
        out, "run",
        fmt::format("{} in {} of virtual time, {}, fingerprint {}",
                    counted(report.records, "event", "events"), sim::to_text(report.virtual_time),
                    report.end, fingerprint_text(report.fingerprint)));
    if (report.verified) add_field(out, "verified", "a second run gave the same history");
    out += "\n";
    Table table{{{}, {}, {.heading = {}, .most = 64}}};
    for (const checkers::Judgement& judgement : report.judgements) {
        const bool fails = judgement.verdict == checkers::Verdict::Fail;
        const std::string reason = fails && !judgement.findings.empty()
                                       ? judgement.findings.front().message
                                       : judgement.reason;
        std::string_view verdict = name_of(judgement.verdict);
        if (fails) verdict = "FAIL";
        if (judgement.verdict == checkers::Verdict::NotApplicable) verdict = "n/a";
        table.add_row(
            {{std::string(verdict), ink_of(judgement.verdict)}, {judgement.checker}, {reason}});
        for (std::size_t i = 1; fails && i < judgement.findings.size(); ++i)
            table.add_row({{}, {}, {judgement.findings[i].message}});
    }
    out += table.text(style, 2);
    out += "\n" + conclusion(ending_of(report), style);
    if (!report.replay.empty()) out += "again: " + report.replay + "\n";
    return out;
}

std::string search_text(const SearchReport& report, TextStyle style) {
    std::string out =
        inked(fmt::format("{}, handler {}: {}", report.scenario, report.handler, report.what),
              Ink::Strong, style) +
        "\n";
    add_field(out, "runs",
              fmt::format("{}, {} with a broken invariant{}", grouped(report.runs),
                          grouped(report.failed),
                          report.verified ? "; each run twice with the same history" : ""));
    add_drawn(out, report);
    add_field(out, "took effect", took_effect(report.faults));
    add_in_vain(out, report.in_vain);
    add_guided(out, report);
    add_probes(out, report.probes, style);
    if (report.fingerprint != 0)
        add_field(out, "fingerprint", fingerprint_text(report.fingerprint) + " over all runs");
    out += "\n" + verdicts_table(report.verdicts, style);
    add_failures(out, report, style);
    if (report.certificate) out += "\n" + certificate_text(*report.certificate, style);
    out += "\n";
    add_gaps(out, gaps_of(report), style);
    return out + conclusion(ending_of(report), style);
}

std::string accept_text(const AcceptReport& report, TextStyle style) {
    const std::string whose =
        report.handler.empty() ? "reference handlers" : "handler " + report.handler;
    std::string out = inked("two-node acceptance, " + whose, Ink::Strong, style) + "\n\n";
    out += saved_text(report.saved, style);
    Table table{{{.heading = {"", "#"}, .right = true},
                 {.heading = {"", "condition"}, .most = 44},
                 {.heading = {"effect", "once"}},
                 {.heading = {"", "takeover"}},
                 {.heading = {"goes on,", "not redone"}},
                 {.heading = {"", "start-up"}},
                 {.heading = {"", "status"}}}};
    for (const ConditionReport& condition : report.conditions) {
        std::vector<Table::Cell> row{{std::to_string(condition.condition)}, {condition.title}};
        for (const VerdictColumn& column : verdict_columns()) {
            const CellVerdict verdict = cell_of(column, condition);
            row.push_back({std::string(name_of(verdict)), ink_of(verdict)});
        }
        table.add_row(std::move(row));
    }
    out += table.text(style, 1);
    std::vector<std::string> gaps;
    bool judged = false;
    for (const ConditionReport& condition : report.conditions) {
        for (const Evidence& evidence : condition.evidence) {
            judged = true;
            add_evidence(out, condition.condition, evidence, style);
            for (const std::string& gap : gaps_of(evidence)) {
                gaps.push_back(fmt::format("{}, {}: {}", evidence.random.scenario,
                                           evidence.random.handler, gap));
            }
        }
        if (!condition.evidence.empty()) continue;
        out += fmt::format("\ncondition {}: not applicable\n", condition.condition);
        for (const std::string& obstacle : condition.obstacles) add_field(out, "because", obstacle);
    }
    if (!judged) gaps.emplace_back("no condition was judged");
    if (report.interrupted) gaps.emplace_back("interrupted: this is what was known by then");
    out += "\n";
    add_gaps(out, gaps, style);
    return out + conclusion(ending_of(report), style);
}

namespace {

// What the run's fingerprint says of the code; nothing of a plan that was saved without one.
std::string history_of(const ReplayReport& report) {
    if (report.expected_checker.empty()) return {};
    if (report.same_history) {
        return report.outcome == ReplayOutcome::Same
                   ? "as saved, event by event"
                   : "as saved, event by event: what judges it has changed";
    }
    return "not as saved: the code has changed since, or the handler is not deterministic";
}

}  // namespace

std::string replay_text(const ReplayReport& report, TextStyle style) {
    const Ink ink = report.outcome == ReplayOutcome::Gone ? Ink::Good : Ink::Bad;
    std::string out = inked(std::string(name_of(report.outcome)), ink, style);
    if (report.outcome == ReplayOutcome::OtherInvariant)
        out += fmt::format(": {} held, but see below", report.expected_checker);
    else if (!report.expected_checker.empty())
        out += fmt::format(" ({})", report.expected_checker);
    out += "\n";
    const auto add_known = [&](std::string_view label, const std::string& text) {
        if (!text.empty()) add_field(out, label, text);
    };
    add_known("history", history_of(report));
    add_known("moved", report.moved);
    if (report.outcome == ReplayOutcome::OtherWay && !report.same_key)
        add_field(out, "key", "another than saved: " + report.expected_key);
    add_known("saved with", report.saved_version);
    if (!report.saved_version.empty() && report.saved_version != report.version)
        add_known("this is", report.version);
    add_known("found by", report.found_by);
    return out + "\n" + run_text(report.run, style);
}

std::string list_text(const std::vector<ListItem>& items, TextStyle style) {
    std::string out;
    std::size_t widest = 0;
    for (const ListItem& item : items) widest = std::max(widest, width_of(item.name));
    const bool grouped_items = std::ranges::any_of(
        items, [&](const ListItem& item) { return item.group != items.front().group; });
    const std::string* group = nullptr;
    for (const ListItem& item : items) {
        if (grouped_items && (group == nullptr || *group != item.group)) {
            out += (group == nullptr ? "" : "\n") + inked(item.group, Ink::Strong, style) + "\n";
            group = &item.group;
        }
        add_field(out, item.name, item.text, widest + 2);
    }
    return out;
}

}  // namespace fencepost::reports
